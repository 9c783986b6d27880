# SPDX-License-Identifier: MIT
"""One exchange seen from one end, the same for HTTP/1 and HTTP/2, so that a test can be written
once and run for every pair of versions.

HTTP/2 is python3-h2, which checks what it receives; HTTP/1 is harness/message.py, which does so,
too. A thread may read a talk while another one writes it.
"""

import queue
import re
import threading

import h2.config
import h2.connection
import h2.errors
import h2.events
import h2.exceptions
import h2.settings

from . import message
from .message import ConnectionEnded, Fields, Stream
from .wire import TIMEOUT_SECONDS, Wire, connect

CONNECTION_ENDED = object()
CONNECTION_WINDOW = 16 * 1024 * 1024


class TalkReset(Exception):
    """The peer ended the stream (HTTP/2) or the connection in the middle of it (HTTP/1)."""

    def __init__(self, code):
        super().__init__(f"ended early: {code}")
        self.code = code


class Talk:
    """Common to both versions and both ends. Set once known: `lines` (of the peer's head),
    `status` or `method` and `path`, `interim` (status and lines), `trailers`."""

    def __init__(self):
        self.interim = []
        self.trailers = Fields()
        self.status = self.method = self.path = None
        self.fields = Fields()

    def read_all(self):
        pieces = []
        while piece := self.read():
            pieces.append(piece)
        return b"".join(pieces)

    def read_exactly(self, size):
        got = b""
        while len(got) < size:
            piece = self.read()
            assert piece, f"ended after {len(got)} of {size} bytes"
            got += piece
        return got

    def finish(self):
        """Client: head and body of the response."""
        self.wait_head()
        return self.read_all()


# ---- HTTP/1


class Http1Talk(Talk):
    def __init__(self, wire, stream):
        super().__init__()
        self.wire, self.stream = wire, stream
        self.chunked_out = False
        self.left = None  # Of the peer's body; None: chunked.
        self.ended = False

    def _send(self, data):
        try:
            self.wire.sendall(data)
        except OSError:
            raise TalkReset("closed") from None

    def _start_reading(self, bodiless, until_close=False):
        self.until_close = False
        if bodiless:
            self.left = 0
        elif message._check_framing(self.fields, "HTTP/1.1"):
            self.left = None
        else:
            self.left = message._declared_length(self.fields)
            self.until_close = self.left is None and until_close
            self.left = self.left or 0

    def read(self):
        try:
            return self._read()
        except ConnectionEnded as ended:
            raise TalkReset(ended.how) from None

    def _read(self):
        if self.ended:
            return b""
        if self.until_close:
            try:
                return self.stream.read_some()
            except ConnectionEnded as ended:
                if ended.how != "fin":
                    raise
                self.ended = True
                return b""
        if self.left is None:
            size = int(self.stream.read_line(), 16)
            if size == 0:
                self.trailers = message._read_fields(self.stream, bytearray())
                self.ended = True
                return b""
            piece = self.stream.read_exact(size)
            assert self.stream.read_exact(2) == b"\r\n"
            return piece
        if self.left == 0:
            self.ended = True
            return b""
        if not self.stream.buffer:
            self.stream.fill()
        piece = self.stream.read_exact(min(self.left, len(self.stream.buffer)))
        self.left -= len(piece)
        return piece

    def send(self, data):
        if data:
            self._send(b"%x\r\n%s\r\n" % (len(data), data) if self.chunked_out else data)

    def end(self, trailers=()):
        if self.chunked_out:
            lines = "".join(f"{name}: {value}\r\n" for name, value in trailers)
            self._send(f"0\r\n{lines}\r\n".encode())

    def reset(self, _code=None):
        self.wire.close()


class Http1Client:
    """One connection with one exchange at a time."""

    version = "HTTP/1.1"

    def __init__(self, port, tls=None):
        self.wire = connect(port, tls)
        self.stream = Stream(self.wire)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.wire.close()

    def open(self, method, path, fields=(), *, body=False, authority="localhost"):
        """Sends the head. With `body`, chunked follows unless a Content-Length is among the fields."""
        talk = Http1ClientTalk(self.wire, self.stream)
        talk.method = method
        lines = [("Host", authority), *fields]
        if Fields(fields).get("te"):
            lines.append(("Connection", "TE"))
        if body and "content-length" not in Fields(fields):
            talk.chunked_out = True
            lines.append(("Transfer-Encoding", "chunked"))
        head = "".join(f"{name}: {value}\r\n" for name, value in lines)
        talk._send(f"{method} {path} HTTP/1.1\r\n{head}\r\n".encode())
        return talk


class Http1ClientTalk(Http1Talk):
    def wait_head(self):
        try:
            return self._wait_head()
        except ConnectionEnded as ended:
            raise TalkReset(ended.how) from None

    def wait_interim(self):
        """One interim response."""
        head = message.read_response_head(self.stream)
        assert 100 <= head.status < 200, head
        self.interim.append((head.status, head.fields))
        return head.status

    def _wait_head(self):
        while True:
            head = message.read_response_head(self.stream)
            if 100 <= head.status < 200 and head.status != 101:
                self.interim.append((head.status, head.fields))
                continue
            self.status, self.fields = head.status, head.fields
            bodiless = self.method == "HEAD" or head.status in (204, 304)
            self._start_reading(bodiless, until_close=True)
            return self.status


class Http1ServerTalk(Http1Talk):
    def __init__(self, wire, stream, request):
        super().__init__(wire, stream)
        self.method, self.path, self.fields = request.method, request.target, request.fields
        self.authority = request.fields.get("host")
        self.version = "HTTP/1.1"
        self._start_reading(bodiless=False)

    def send_interim(self, status, fields=()):
        lines = "".join(f"{name}: {value}\r\n" for name, value in fields)
        self._send(f"HTTP/1.1 {status} Interim\r\n{lines}\r\n".encode())

    def respond(self, status=200, fields=(), body=None):
        """The head; with `body` (bytes) the whole response, else send() and end() follow."""
        lines = list(fields)
        sized = body is not None or "content-length" in Fields(fields)
        bodiless = self.method == "HEAD" or status in (204, 304)
        if body is not None and status not in (204, 304):
            lines.append(("Content-Length", str(len(body))))
        elif not sized and not bodiless:
            self.chunked_out = True
            lines.append(("Transfer-Encoding", "chunked"))
        head = "".join(f"{name}: {value}\r\n" for name, value in lines)
        payload = body if body and not bodiless else b""
        self._send(f"HTTP/1.1 {status} Status\r\n{head}\r\n".encode() + payload)


def serve_http1(wire, app):
    stream = Stream(wire)
    wire.timeout = 60  # The proxy keeps idle connections; the test closes them.
    while (request := message.read_request_head(stream)) is not None:
        talk = Http1ServerTalk(wire, stream, request)
        try:
            app(talk)
            talk.read_all()  # What the application left of the request.
        except (TalkReset, OSError):
            return


# ---- HTTP/2


class Http2Talk(Talk):
    def __init__(self, peer, stream_id):
        super().__init__()
        self.peer, self.stream_id = peer, stream_id
        self.events = queue.Queue()
        self.head_seen = threading.Event()
        self.code = None  # Of the reset; "closed": the connection ended.
        self.ended = False
        self.held_bytes = 0
        self.authority = None
        self.version = "HTTP/2"

    def read(self):
        """The next piece of the body; b"" at its end. Opens the windows for what it returns."""
        while not self.ended:
            try:
                event = self.events.get(timeout=TIMEOUT_SECONDS)
            except queue.Empty:
                raise AssertionError(f"stream {self.stream_id}: nothing came in time") from None
            if isinstance(event, h2.events.DataReceived):
                self.peer.acknowledge(event)
                if event.data:
                    return event.data
            elif isinstance(event, h2.events.TrailersReceived):
                self.trailers = Fields(event.headers)
            elif isinstance(event, h2.events.StreamEnded):
                self.ended = True
            elif isinstance(event, h2.events.StreamReset):
                self.code = event.error_code
                raise TalkReset(self.code)
            elif event is CONNECTION_ENDED:
                self.code = "closed"
                raise TalkReset("closed")
            else:
                raise AssertionError(f"unexpected {event}")
        return b""

    def send(self, data):
        view = memoryview(data)
        while view:
            view = view[self.peer.send_some(self, view):]

    def end(self, trailers=()):
        if trailers:
            self.peer.call("send_headers", self.stream_id, list(trailers), end_stream=True)
        else:
            self.peer.call("end_stream", self.stream_id)

    def reset(self, code=h2.errors.ErrorCodes.CANCEL):
        self.peer.call("reset_stream", self.stream_id, code)

    # Server

    def send_interim(self, status, fields=()):
        self.peer.call("send_headers", self.stream_id, [(":status", str(status)), *_lower(fields)])

    def respond(self, status=200, fields=(), body=None):
        lines = [(":status", str(status)), *_lower(fields)]
        bodiless = self.method == "HEAD" or status in (204, 304)
        if body is not None and status not in (204, 304):
            lines.append(("content-length", str(len(body))))
        ended = bodiless or body == b""
        self.peer.call("send_headers", self.stream_id, lines, end_stream=ended)
        if body and not ended:
            self.send(body)
            self.end()

    # Client

    def wait_interim(self):
        event = self.events.get(timeout=TIMEOUT_SECONDS)
        assert isinstance(event, h2.events.InformationalResponseReceived), event
        self.interim.append((int(Fields(event.headers).get(":status")), Fields(event.headers)))
        return self.interim[-1][0]

    def wait_head(self):
        while True:
            try:
                event = self.events.get(timeout=TIMEOUT_SECONDS)
            except queue.Empty:
                raise AssertionError(f"stream {self.stream_id}: no head in time") from None
            if isinstance(event, h2.events.InformationalResponseReceived):
                self.interim.append((int(Fields(event.headers).get(":status")), Fields(event.headers)))
            elif isinstance(event, h2.events.ResponseReceived):
                self.fields = Fields(event.headers)
                self.status = int(self.fields.only(":status"))
                return self.status
            elif isinstance(event, h2.events.StreamReset):
                raise TalkReset(event.error_code)
            elif event is CONNECTION_ENDED:
                raise TalkReset("closed")
            else:
                raise AssertionError(f"unexpected {event}")


def _lower(fields):
    return [(name.lower(), value) for name, value in fields]


class Http2Peer:
    """One connection of python3-h2 with a thread that reads it."""

    def __init__(self, wire, client_side, settings=None, on_talk=None):
        self.wire = wire
        self.on_talk = on_talk
        self.talks = {}
        self.error = None  # What h2 thinks the proxy did wrong.
        self.goaway = None
        self.pings = 0
        self.closed = threading.Event()
        self.changed = threading.Condition()
        self.h2 = h2.connection.H2Connection(h2.config.H2Configuration(
            client_side=client_side, header_encoding="utf-8"))
        if settings:
            # Before the handshake, so that it is what our first SETTINGS say.
            self.h2.local_settings = h2.settings.Settings(client=client_side, initial_values={
                h2.settings.SettingCodes.MAX_HEADER_LIST_SIZE: 65536} | settings)
        with self.changed:
            self.h2.initiate_connection()
            # So that streams which nobody reads do not stop the others: the windows of streams count.
            self.h2.increment_flow_control_window(CONNECTION_WINDOW)
            self._flush()
        self.settings_seen = threading.Event()

    def _flush(self):
        if data := self.h2.data_to_send():
            self.wire.sendall(data)

    def call(self, name, *arguments, **keys):
        with self.changed:
            try:
                result = getattr(self.h2, name)(*arguments, **keys)
                self._flush()
                return result
            except (h2.exceptions.StreamClosedError, h2.exceptions.NoSuchStreamError):
                raise TalkReset("gone") from None
            except h2.exceptions.ProtocolError as error:
                if self.closed.is_set() or self.h2.state_machine.state.name == "CLOSED":
                    raise TalkReset("closed") from None
                raise TalkReset(str(error)) from None
            except OSError:
                raise TalkReset("closed") from None

    def send_some(self, talk, view):
        """Sends what the windows and the frame size allow; waits if that is nothing."""
        with self.changed:
            while True:
                try:
                    window = self.h2.local_flow_control_window(talk.stream_id)
                except h2.exceptions.ProtocolError:
                    raise TalkReset(talk.code or "gone") from None
                if self.closed.is_set() or talk.code is not None:
                    raise TalkReset("closed" if talk.code is None else talk.code)
                size = min(window, self.h2.max_outbound_frame_size, len(view))
                if size > 0:
                    break
                assert self.changed.wait(TIMEOUT_SECONDS), f"stream {talk.stream_id}: no window in time"
        self.call("send_data", talk.stream_id, bytes(view[:size]))
        return size

    def acknowledge(self, event):
        try:
            self.call("acknowledge_received_data", event.flow_controlled_length, event.stream_id)
        except TalkReset:
            pass

    def run(self):
        try:
            while data := self.wire.recv(65536):
                with self.changed:
                    # Whatever crosses our own GOAWAY is no fault of the proxy's.
                    if self.h2.state_machine.state.name == "CLOSED":
                        continue
                    events = self.h2.receive_data(data)
                    for event in events:
                        self._on(event)
                    self._flush()
                    self.changed.notify_all()
        except h2.exceptions.ProtocolError as error:
            self.error = error
            try:
                self._flush()
            except OSError:
                pass
        except (OSError, TimeoutError):
            pass
        finally:
            with self.changed:
                self.closed.set()
                for talk in self.talks.values():
                    talk.events.put(CONNECTION_ENDED)
                self.changed.notify_all()

    def _on(self, event):
        stream_id = getattr(event, "stream_id", None)
        if isinstance(event, h2.events.RequestReceived):
            self._on_request(event)
        elif isinstance(event, h2.events.ConnectionTerminated):
            self.goaway = event
        elif isinstance(event, h2.events.RemoteSettingsChanged):
            self.settings_seen.set()
        elif isinstance(event, h2.events.PingAckReceived):
            self.pings += 1
        elif isinstance(event, h2.events.WindowUpdated | h2.events.PriorityUpdated):
            pass
        elif stream_id in self.talks:
            if isinstance(event, h2.events.DataReceived):
                self.talks[stream_id].held_bytes += len(event.data)
            if isinstance(event, h2.events.StreamReset):
                self.talks[stream_id].code = event.error_code
            self.talks[stream_id].events.put(event)

    def _on_request(self, event):
        talk = Http2Talk(self, event.stream_id)
        talk.fields = Fields([line for line in event.headers if not line[0].startswith(":")])
        talk.pseudo = {name: value for name, value in event.headers if name.startswith(":")}
        talk.method, talk.path = talk.pseudo[":method"], talk.pseudo.get(":path")
        talk.authority = talk.pseudo.get(":authority")
        self.talks[event.stream_id] = talk
        if self.on_talk:
            self.on_talk(talk)

    def close(self):
        self.wire.close()


class Http2Client:
    """One connection with many exchanges."""

    version = "HTTP/2"

    def __init__(self, port, tls=None, settings=None):
        self.peer = Http2Peer(connect(port, tls), True, settings)
        self.thread = threading.Thread(target=self.peer.run, daemon=True)
        self.thread.start()
        assert self.peer.settings_seen.wait(TIMEOUT_SECONDS)

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        self.close()
        if kind is None and self.peer.error:
            raise AssertionError(f"python3-h2 refuses what the proxy sent: {self.peer.error!r}")

    def close(self):
        self.peer.close()
        self.thread.join(TIMEOUT_SECONDS)

    def open(self, method, path, fields=(), *, body=False, authority="localhost", protocol=None, scheme="http"):
        peer = self.peer
        lines = [(":method", method), (":scheme", scheme), (":path", path), (":authority", authority)]
        if protocol:
            lines.append((":protocol", protocol))
        with peer.changed:
            stream_id = peer.h2.get_next_available_stream_id()
            talk = peer.talks[stream_id] = Http2Talk(peer, stream_id)
            talk.method = method
            peer.call("send_headers", stream_id, [*lines, *_lower(fields)], end_stream=not body)
        return talk


def serve_http2(wire, app, settings=None, on_peer=None):
    """Serves one connection, each exchange in a thread of its own, until its end."""
    failures = []

    def run(talk):
        try:
            app(talk)
        except (TalkReset, OSError):
            pass
        except BaseException as error:
            failures.append(error)

    threads = []

    def start(talk):
        thread = threading.Thread(target=run, args=(talk,), daemon=True)
        threads.append(thread)
        thread.start()

    peer = Http2Peer(wire, False, settings, start)
    if on_peer:
        on_peer(peer)
    peer.run()
    for thread in threads:
        thread.join(TIMEOUT_SECONDS)
    if failures:
        raise failures[0]
    if peer.error:
        raise AssertionError(f"python3-h2 refuses what the proxy sent: {peer.error!r}")


def talk_origin(app, version="http1", settings=None, on_peer=None):
    """A handler of ScriptedOrigin from a function of the server's Talk. version: "http1", "http2",
    or "alpn" for what the TLS handshake says."""
    def handle(connection):
        chosen = version
        if version == "alpn":
            chosen = "http2" if connection.sock.selected_alpn_protocol() == "h2" else "http1"
        wire = Wire(connection.sock)
        if chosen == "http2":
            serve_http2(wire, app, settings, on_peer)
        else:
            serve_http1(wire, app)
    return handle


def number_of(path):
    return int(re.search(r"\d+", path)[0])
