# SPDX-License-Identifier: MIT
"""HTTP/2 frames by hand: a peer on either leg that may say anything, right or wrong.

What it receives is read strictly, with the python3-hpack decoder, so that nothing of the proxy's
own code decides whether the proxy's output is right.
"""

import struct
from dataclasses import dataclass, field

from hpack import Decoder, Encoder

from .message import ConnectionEnded, Fields
from .origin import OriginConnection
from .raw import RawClient

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PUSH_PROMISE, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = range(10)
PRIORITY_UPDATE = 16
NAMES = ("DATA", "HEADERS", "PRIORITY", "RST_STREAM", "SETTINGS", "PUSH_PROMISE", "PING", "GOAWAY",
         "WINDOW_UPDATE", "CONTINUATION")
END_STREAM = ACK = 0x1
END_HEADERS = 0x4
PADDED = 0x8
PRIORITY_FLAG = 0x20

(NO_ERROR, PROTOCOL_ERROR, INTERNAL_ERROR, FLOW_CONTROL_ERROR, SETTINGS_TIMEOUT, STREAM_CLOSED,
 FRAME_SIZE_ERROR, REFUSED_STREAM, CANCEL, COMPRESSION_ERROR, CONNECT_ERROR, ENHANCE_YOUR_CALM,
 INADEQUATE_SECURITY, HTTP_1_1_REQUIRED) = range(14)

(HEADER_TABLE_SIZE, ENABLE_PUSH, MAX_CONCURRENT_STREAMS, INITIAL_WINDOW_SIZE, MAX_FRAME_SIZE,
 MAX_HEADER_LIST_SIZE) = range(1, 7)
ENABLE_CONNECT_PROTOCOL = 8

REQUEST = ((":method", "GET"), (":scheme", "http"), (":path", "/"), (":authority", "localhost"))


def frame(kind, flags=0, stream=0, payload=b"", length=None):
    size = len(payload) if length is None else length
    return struct.pack(">I", size)[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def settings(*pairs, ack=False):
    return frame(SETTINGS, ACK if ack else 0, 0, b"".join(struct.pack(">HI", *pair) for pair in pairs))


def window_update(stream, increment):
    return frame(WINDOW_UPDATE, 0, stream, struct.pack(">I", increment))


def rst_stream(stream, code=CANCEL):
    return frame(RST_STREAM, 0, stream, struct.pack(">I", code))


def goaway(last, code=NO_ERROR, debug=b""):
    return frame(GOAWAY, 0, 0, struct.pack(">II", last, code) + debug)


def data(stream, payload=b"", end=False):
    return frame(DATA, END_STREAM if end else 0, stream, payload)


def literal(name, value):
    """A field line that needs no table and no Huffman code, so that any bytes can be said."""
    name, value = (text if isinstance(text, bytes) else text.encode("latin-1") for text in (name, value))
    return b"\x00" + _string(name) + _string(value)


def _string(text):
    if len(text) < 127:
        return bytes([len(text)]) + text
    left, out = len(text) - 127, bytearray([127])
    while left >= 128:
        out.append(left % 128 | 128)
        left //= 128
    out.append(left)
    return bytes(out) + text


def block_of(lines):
    return b"".join(literal(name, value) for name, value in lines)


def request_lines(method="GET", path="/", authority="localhost", extra=(), scheme="http"):
    return [(":method", method), (":scheme", scheme), (":path", path), (":authority", authority), *extra]


def headers(stream, block, *, end_stream=True, end_headers=True, flags=0):
    if not isinstance(block, (bytes, bytearray)):
        block = block_of(block)
    flags |= (END_STREAM if end_stream else 0) | (END_HEADERS if end_headers else 0)
    return frame(HEADERS, flags, stream, bytes(block))


def get(stream, path="/", extra=(), **options):
    return headers(stream, request_lines(path=path, extra=extra), **options)


def post(stream, path="/", extra=(), **options):
    return headers(stream, request_lines("POST", path, extra=extra), **{"end_stream": False} | options)


@dataclass
class Frame:
    kind: int
    flags: int
    stream: int
    payload: bytes
    lines: list = field(default_factory=list)  # Of a field block, decoded.

    @property
    def code(self):
        """The error code of RST_STREAM or GOAWAY."""
        return int.from_bytes(self.payload[:4] if self.kind == RST_STREAM else self.payload[4:8], "big")

    @property
    def last_stream(self):
        return int.from_bytes(self.payload[:4], "big") & 0x7FFFFFFF

    @property
    def ends_stream(self):
        return self.kind in (DATA, HEADERS) and bool(self.flags & END_STREAM)

    @property
    def status(self):
        return int(Fields(self.lines).only(":status"))

    def __repr__(self):
        name = NAMES[self.kind] if self.kind < len(NAMES) else f"type {self.kind}"
        said = self.lines or (f"code {self.code}" if self.kind in (RST_STREAM, GOAWAY) else self.payload[:40])
        return f"<{name} {self.flags:#x} stream {self.stream} {len(self.payload)} bytes: {said}>"


class FrameReader:
    """Frames of the proxy, one by one. Field blocks are put together and decoded."""

    def __init__(self, stream):
        self.stream = stream
        self.decoder = Decoder(max_header_list_size=1 << 20)
        self.seen = []

    def read(self):
        """The next frame. Raises ConnectionEnded."""
        made = self._read_one()
        if made.kind == HEADERS and not made.flags & END_HEADERS:
            while True:
                more = self._read_one()
                assert more.kind == CONTINUATION and more.stream == made.stream, more
                made.payload += more.payload
                if more.flags & END_HEADERS:
                    break
        if made.kind == HEADERS:
            assert not made.flags & (PADDED | PRIORITY_FLAG), "the oracle expects neither of the proxy"
            made.lines = self.decoder.decode(made.payload)
            assert all(name == name.lower() for name, _ in made.lines), made.lines
        self.seen.append(made)
        return made

    def _read_one(self):
        head = self.stream.read_exact(9)
        length = int.from_bytes(head[:3], "big")
        assert length <= 16384, f"frame over SETTINGS_MAX_FRAME_SIZE: {length}"
        stream = int.from_bytes(head[5:9], "big")
        assert stream < 1 << 31, "the reserved bit is set"
        return Frame(head[3], head[4], stream, self.stream.read_exact(length))


class FramePeer:
    """What both roles share. `answers`: settings and pings are acknowledged while reading."""

    def __init__(self, connection):
        self.connection = connection
        self.reader = FrameReader(connection.stream)
        self.encoder = Encoder()
        self.answers = True

    def send(self, *parts):
        self.connection.send(b"".join(parts))

    def try_send(self, *parts):
        """False if the proxy does not listen any more."""
        try:
            self.send(*parts)
            return True
        except OSError:
            return False

    def read(self):
        got = self.reader.read()
        if self.answers and got.kind == SETTINGS and not got.flags & ACK:
            self.try_send(settings(ack=True))
        return got

    def read_until(self, wanted):
        """Reads frames up to one for which wanted(frame) holds, and returns it."""
        while True:
            got = self.read()
            if wanted(got):
                return got
            assert got.kind != GOAWAY or got.code == NO_ERROR, f"unexpected {got}"

    def wait_kind(self, kind, stream=None):
        return self.read_until(lambda got: got.kind == kind and stream in (None, got.stream))

    def wait_head(self, stream):
        return self.wait_kind(HEADERS, stream)

    def wait_message(self, stream):
        """(head, body, trailers) of the rest of a stream, interim responses left out."""
        head, body, trailers = None, bytearray(), Fields()
        while True:
            got = self.read_until(lambda got: got.stream == stream)
            assert got.kind != RST_STREAM, f"unexpected {got}"
            if got.kind == HEADERS and head is None:
                if got.lines[0][0] == ":status" and got.status < 200:
                    continue
                head = got
            elif got.kind == HEADERS:
                trailers = Fields(got.lines)
            elif got.kind == DATA:
                body += got.payload
            if got.ends_stream:
                if body:
                    self.try_send(window_update(0, len(body)))
                return head, bytes(body), trailers

    def ping(self, payload=b"are-you?"):
        """A round trip: whatever was sent before has been dealt with."""
        self.send(frame(PING, 0, 0, payload))
        return self.read_until(lambda got: got.kind == PING and got.flags & ACK and got.payload == payload)

    def fate(self, stream=None):
        """How the proxy took what was sent: ("goaway", code), ("reset", code), ("closed", how), or
        ("response", status) of the stream."""
        closed = ("goaway", None)
        try:
            while True:
                got = self.read()
                if got.kind == GOAWAY:
                    closed = ("goaway", got.code)
                    if got.code == NO_ERROR:
                        continue
                    return closed
                if stream is not None and got.stream == stream:
                    if got.kind == RST_STREAM:
                        return ("reset", got.code)
                    if got.ends_stream:
                        return ("response", next(
                            seen.status for seen in self.reader.seen
                            if seen.kind == HEADERS and seen.stream == stream and seen.status >= 200))
        except ConnectionEnded as ended:
            return closed if closed[1] is not None else ("closed", ended.how)

    def read_to_end(self):
        """The rest, up to the end of the connection: (frames, how)."""
        begin = len(self.reader.seen)
        try:
            while True:
                self.read()
        except ConnectionEnded as ended:
            return self.reader.seen[begin:], ended.how


class FrameClient(FramePeer):
    """A client on the proxy's client leg. Use as a context manager."""

    def __init__(self, port, *pairs, handshake=True, **options):
        super().__init__(RawClient(port, **options))
        if handshake:
            self.send(PREFACE, settings(*pairs))
            self.read_until(lambda got: got.kind == SETTINGS and got.flags & ACK)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.connection.close()

    def get(self, stream, path="/", extra=()):
        self.send(get(stream, path, extra))
        return self.wait_message(stream)


class FrameOrigin(FramePeer):
    """The origin's end of a connection, in a handler of ScriptedOrigin."""

    def __init__(self, connection: OriginConnection, *pairs, handshake=True):
        super().__init__(connection)
        self.connection.http2 = self
        assert connection.stream.read_exact(len(PREFACE)) == PREFACE
        if handshake:
            self.send(settings(*pairs))

    def next_request(self):
        """The head of the next request; its stream and lines."""
        return self.read_until(lambda got: got.kind == HEADERS)

    def respond(self, stream, status=200, body=b"", extra=(), end=True):
        lines = [(":status", str(status)), *extra]
        if not body:
            return self.send(headers(stream, lines, end_stream=end))
        return self.send(headers(stream, lines, end_stream=False), data(stream, body, end))

    def serve(self):
        """Answers every request with 200 until the connection ends."""
        try:
            while True:
                got = self.read()
                if got.ends_stream:
                    self.respond(got.stream, body=b"ok")
        except ConnectionEnded:
            pass


def frame_origin(handle, *pairs, handshake=True):
    """A handler of ScriptedOrigin from a function of FrameOrigin."""
    def run(connection):
        handle(FrameOrigin(connection, *pairs, handshake=handshake))
    return run
