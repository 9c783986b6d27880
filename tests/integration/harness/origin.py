# SPDX-License-Identifier: MIT
"""Origins that a test scripts: each connection runs a handler in a thread of its own, which sees
the raw request and writes raw bytes, and may wait for events, close or reset at any point."""

import hashlib
import json
import socket
import ssl
import threading

from .message import BadMessage, ConnectionEnded, Stream, read_request_body, read_request_head
from .raw import reset_on_close

TIMEOUT_SECONDS = 20.0


def response(body=b"", status=200, reason="OK", fields=(), version="HTTP/1.1"):
    """A response with Content-Length, as bytes."""
    body = body if isinstance(body, bytes) else body.encode()
    lines = "".join(f"{name}: {value}\r\n" for name, value in fields)
    return f"{version} {status} {reason}\r\n{lines}Content-Length: {len(body)}\r\n\r\n".encode() + body


def chunk(data):
    data = data if isinstance(data, bytes) else data.encode()
    return b"%x\r\n%s\r\n" % (len(data), data)


def chunked_response(pieces, trailers=(), fields=(), status=200, reason="OK"):
    """A chunked response with trailers, as bytes."""
    lines = "".join(f"{name}: {value}\r\n" for name, value in fields)
    head = f"HTTP/1.1 {status} {reason}\r\n{lines}Transfer-Encoding: chunked\r\n\r\n".encode()
    end = "".join(f"{name}: {value}\r\n" for name, value in trailers)
    return head + b"".join(map(chunk, pieces)) + f"0\r\n{end}\r\n".encode()


class OriginConnection:
    """What a handler works with."""

    def __init__(self, origin, sock, number):
        self.origin = origin
        self.sock = sock
        self.number = number
        self.stream = Stream(sock)
        self.ended = threading.Event()  # The handler has returned and the socket is closed.

    def read_head(self):
        """The head of the next request, without its body; None at the end of the connection."""
        request = read_request_head(self.stream)
        if request is not None:
            request.connection, request.link = self.number, self
            self.origin.heads.append(request)
        return request

    def read_body(self, request, on_data=None):
        read_request_body(self.stream, request, on_data)
        self.origin.requests.append(request)
        return request

    def read_request(self):
        """The next complete request; None at the end of the connection."""
        request = self.read_head()
        return None if request is None else self.read_body(request)

    def requests_until_end(self):
        while (request := self.read_request()) is not None:
            yield request

    def send(self, data):
        self.sock.sendall(data if isinstance(data, (bytes, bytearray, memoryview)) else data.encode())

    def read_to_end(self):
        """All bytes until the proxy ends the connection, and how it ended."""
        return self.stream.read_to_end()

    def wait(self, event):
        assert event.wait(TIMEOUT_SECONDS), "the test did not set the event"

    def half_close(self):
        self.sock.shutdown(socket.SHUT_WR)

    def close(self):
        self.sock.close()

    def reset(self):
        reset_on_close(self.sock)
        self.sock.close()


def replying(answer):
    """A handler that answers every request with the bytes of answer(request)."""
    def handle(connection):
        for request in connection.requests_until_end():
            connection.send(answer(request))
    return handle


def echo(request):
    """The request body comes back, with its type."""
    kind = request.fields.get("Content-Type", "application/octet-stream")
    return response(request.body, fields=[("Content-Type", kind)])


def describe(request):
    """What the origin saw, as JSON."""
    seen = {
        "method": request.method, "target": request.target, "version": request.version,
        "fields": request.fields.lines, "trailers": request.trailers.lines,
        "connection": request.connection, "bytes": len(request.body),
        "sha256": hashlib.sha256(request.body).hexdigest(),
    }
    return response(json.dumps(seen), fields=[("Content-Type", "application/json")])


class ScriptedOrigin:
    """Listens on a free port of 127.0.0.1 (or host). `handler` may be replaced at any time; a
    connection keeps the one it was accepted with. Records all that arrives.

    connections  every accepted connection
    heads        every request whose head was read in full
    requests     every request that was read in full, body and trailers included
    """

    def __init__(self, handler=None, *, tls=None, host="127.0.0.1", send_buffer=None, receive_buffer=None):
        self.handler = handler or replying(lambda request: response(b"ok"))
        self.tls = tls
        self.send_buffer = send_buffer
        self.tls_errors = []
        self.errors = []
        self.accepted = 0
        self.lock = threading.Lock()
        self.forget()
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self.listener = socket.socket(family, socket.SOCK_STREAM)
        self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if receive_buffer:
            self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.listener.bind((host, 0))
        self.listener.listen(512)
        self.host = host
        self.port = self.listener.getsockname()[1]
        self.stopping = False
        self.threads = []
        self.open = set()
        self.acceptor = threading.Thread(target=self._accept, daemon=True)
        self.acceptor.start()

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        self.stop()
        if kind is None:
            self.check()

    def forget(self):
        """Clears the records, for the next test that shares this origin. The numbers of
        connections go on, as the proxy may keep some of them."""
        self.connections = []
        self.heads = []
        self.requests = []

    def check(self):
        """Raises what a handler failed with, e.g. an assertion or a BadMessage."""
        if self.errors:
            raise self.errors.pop(0)

    def _accept(self):
        while True:
            try:
                sock, _ = self.listener.accept()
            except OSError:
                return
            if self.stopping:
                sock.close()
                return
            thread = threading.Thread(target=self._serve, args=(sock,), daemon=True)
            self.threads.append(thread)
            thread.start()

    def _serve(self, sock):
        self.open.add(sock)
        connection = None
        try:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if self.send_buffer:
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, self.send_buffer)
            sock.settimeout(TIMEOUT_SECONDS * 2)
            if self.tls is not None:
                self.open.discard(sock)
                sock = self.tls.wrap_socket(sock, server_side=True, suppress_ragged_eofs=False)
                self.open.add(sock)
            handler = self.handler
            with self.lock:
                connection = OriginConnection(self, sock, self.accepted)
                self.accepted += 1
                self.connections.append(connection)
            handler(connection)
        except ssl.SSLError as error:
            self.tls_errors.append(error)
        except (ConnectionEnded, OSError):
            pass  # The proxy went away: a test that minds looks at the records.
        except (AssertionError, BadMessage) as error:
            if not self.stopping:
                self.errors.append(error)
        except Exception as error:  # A mistake in the handler must not pass as a closed connection.
            self.errors.append(error)
        finally:
            sock.close()
            self.open.discard(sock)
            if connection is not None:
                connection.ended.set()

    def stop_listening(self):
        """Refuses new connections; those that exist go on."""
        self.stopping = True
        # Wakes accept(), which close() alone would not.
        self.listener.shutdown(socket.SHUT_RDWR)
        self.acceptor.join(TIMEOUT_SECONDS)
        self.listener.close()
        self.stopping = False

    def stop(self):
        if self.acceptor.is_alive():
            self.stop_listening()
        self.stopping = True
        for sock in list(self.open):
            try:
                # Wakes the handler's thread, which then closes the socket.
                sock.shutdown(socket.SHUT_RDWR)
            except (OSError, ValueError):
                pass
        for thread in self.threads:
            thread.join(5)


def server_context(pair, *, client_ca=None, alpn=("http/1.1",), version=None):
    """TLS for an origin. With client_ca, a client certificate is demanded."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pair.certificate, pair.key)
    if client_ca is not None:
        context.load_verify_locations(client_ca)
        context.verify_mode = ssl.CERT_REQUIRED
    if alpn:
        context.set_alpn_protocols(list(alpn))
    if version is not None:
        context.minimum_version = context.maximum_version = version
    return context


class BlackHole:
    """A port where connection attempts neither succeed nor fail: its accept queue is full."""

    def __init__(self):
        self.listener = socket.socket()
        self.listener.bind(("127.0.0.1", 0))
        self.listener.listen(0)
        self.port = self.listener.getsockname()[1]
        self.fillers = []

    def __enter__(self):
        for _ in range(16):
            filler = socket.socket()
            filler.settimeout(0.15)
            self.fillers.append(filler)
            try:
                filler.connect(("127.0.0.1", self.port))
            except (TimeoutError, socket.timeout):
                return self
        raise AssertionError("the accept queue does not fill up")

    def __exit__(self, *_):
        for sock in [*self.fillers, self.listener]:
            sock.close()
