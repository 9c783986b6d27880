# SPDX-License-Identifier: MIT
"""A strict HTTP/1 reader over a socket, for both sides of the proxy.

It is an oracle, so it shares no code with the proxy and refuses everything ambiguous: whatever the
proxy sends, in any test, has to pass here.
"""

import re
import socket
import ssl
from dataclasses import dataclass, field

TOKEN = re.compile(rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
STATUS_LINE = re.compile(rb"(HTTP/1\.[01]) ([1-9][0-9]{2}) ([\t\x20-\x7e\x80-\xff]*)")
REQUEST_LINE = re.compile(rb"([!#$%&'*+\-.^_`|~0-9A-Za-z]+) ([\x21-\x7e\x80-\xff]+) (HTTP/1\.[01])")
FIELD_VALUE = re.compile(rb"[\t\x20-\x7e\x80-\xff]*")


class BadMessage(AssertionError):
    """The peer sent something that is not HTTP/1, or that two readers could take differently."""


class ConnectionEnded(Exception):
    """The connection ended; `how` is "fin" (orderly), "reset" or "truncated" (TLS without
    close_notify); `partial` is what was read of the unfinished element."""

    def __init__(self, how, partial=b""):
        super().__init__(f"connection ended ({how}) after {bytes(partial[-200:])!r}")
        self.how = how
        self.partial = bytes(partial)


class IncompleteMessage(ConnectionEnded):
    """The connection ended within a message; `message` is what is known of it."""

    def __init__(self, how, partial=b"", message=None):
        super().__init__(how, partial)
        self.message = message


class Fields:
    """Field lines in their order, found by name in any case."""

    def __init__(self, lines=()):
        self.lines = list(lines)

    def all(self, name):
        return [value for key, value in self.lines if key.lower() == name.lower()]

    def get(self, name, default=None):
        values = self.all(name)
        return values[0] if values else default

    def only(self, name):
        values = self.all(name)
        assert len(values) == 1, f"{name}: expected one line, got {values} in {self.lines}"
        return values[0]

    def tokens(self, name):
        """The elements of a comma-separated list, in lower case, over all lines."""
        joined = ",".join(self.all(name))
        return [element.strip().lower() for element in joined.split(",") if element.strip()]

    def __contains__(self, name):
        return bool(self.all(name))

    def __repr__(self):
        return repr(self.lines)


@dataclass
class Request:
    method: str
    target: str
    version: str
    fields: Fields
    raw_head: bytes
    body: bytes = b""
    trailers: Fields = field(default_factory=Fields)
    chunks: list = field(default_factory=list)
    connection: int = -1  # Number of the origin connection, counted from 0.
    link: object = None  # The origin connection itself.

    @property
    def is_chunked(self):
        return "Transfer-Encoding" in self.fields


@dataclass
class Response:
    version: str
    status: int
    reason: str
    fields: Fields
    raw_head: bytes
    body: bytes = b""
    trailers: Fields = field(default_factory=Fields)
    chunks: list = field(default_factory=list)  # The size of each chunk.
    interim: list = field(default_factory=list)  # The 1xx responses before this one.
    framing: str = "none"  # none, sized, chunked, close

    @property
    def text(self):
        return self.body.decode("utf-8", "replace")

    @property
    def keeps_alive(self):
        tokens = self.fields.tokens("Connection")
        if self.framing == "close" or "close" in tokens:
            return False
        return self.version == "HTTP/1.1" or "keep-alive" in tokens


class Stream:
    """Buffered reading from a socket, clear or TLS, with exact ends."""

    def __init__(self, sock):
        self.sock = sock
        self.buffer = bytearray()

    def _receive(self, partial=b""):
        try:
            data = self.sock.recv(256 * 1024)
        except ssl.SSLEOFError:
            raise ConnectionEnded("truncated", partial or self.buffer) from None
        except (ConnectionResetError, BrokenPipeError):
            raise ConnectionEnded("reset", partial or self.buffer) from None
        except (TimeoutError, socket.timeout):
            raise AssertionError(
                f"nothing received in time; unfinished: {bytes((partial or self.buffer)[-300:])!r}"
            ) from None
        if not data:
            raise ConnectionEnded("fin", partial or self.buffer)
        return data

    def fill(self):
        self.buffer += self._receive()

    def read_line(self):
        """One line without its CRLF; a LF without CR and a bare CR are refused."""
        searched = 0
        while (end := self.buffer.find(b"\n", searched)) < 0:
            searched = len(self.buffer)
            self.fill()
        line = bytes(self.buffer[: end + 1])
        if not line.endswith(b"\r\n") or b"\r" in line[:-2]:
            raise BadMessage(f"line does not end in CRLF: {line!r}")
        del self.buffer[: end + 1]
        return line[:-2]

    def read_exact(self, size):
        while len(self.buffer) < size:
            self.fill()
        data = bytes(self.buffer[:size])
        del self.buffer[:size]
        return data

    def read_until(self, marker):
        """Everything up to and including `marker`."""
        while (end := self.buffer.find(marker)) < 0:
            self.fill()
        return self.read_exact(end + len(marker))

    def read_some(self):
        if not self.buffer:
            self.fill()
        return self.read_exact(len(self.buffer))

    def read_to_end(self):
        """All bytes until the peer ends the connection, and how it ended."""
        pieces = [bytes(self.buffer)]
        self.buffer.clear()
        try:
            while True:
                pieces.append(self._receive())
        except ConnectionEnded as ended:
            return b"".join(pieces), ended.how


def _read_fields(stream, head):
    lines = []
    while line := stream.read_line():
        head += line + b"\r\n"
        name, colon, value = line.partition(b":")
        if not colon or not TOKEN.fullmatch(name) or not FIELD_VALUE.fullmatch(value):
            raise BadMessage(f"bad field line {line!r}")
        lines.append((name.decode("ascii"), value.strip(b" \t").decode("latin-1")))
    head += b"\r\n"
    return Fields(lines)


def _declared_length(fields):
    lengths = fields.all("Content-Length")
    if not lengths:
        return None
    if len(lengths) > 1 or not re.fullmatch(r"[0-9]+", lengths[0]):
        raise BadMessage(f"ambiguous Content-Length {lengths}")
    return int(lengths[0])


def _check_framing(fields, version):
    """True if chunked. Refuses what RFC 9112 §6.3 calls ambiguous, and what a 1.0 peer cannot read."""
    codings = fields.all("Transfer-Encoding")
    if not codings:
        return False
    if codings != ["chunked"]:
        raise BadMessage(f"Transfer-Encoding {codings}")
    if "Content-Length" in fields:
        raise BadMessage("Content-Length and Transfer-Encoding in one message")
    if version != "HTTP/1.1":
        raise BadMessage("Transfer-Encoding in an HTTP/1.0 message")
    return True


def _read_chunked(stream, message, on_data=None):
    while True:
        line = stream.read_line()
        if not re.fullmatch(rb"[0-9A-Fa-f]{1,16}", line):
            raise BadMessage(f"bad chunk-size line {line!r}")
        size = int(line, 16)
        if size == 0:
            break
        data = stream.read_exact(size)
        message.chunks.append(size)
        message.body += data
        if on_data:
            on_data(data)
        if stream.read_exact(2) != b"\r\n":
            raise BadMessage("chunk data is not followed by CRLF")
    message.trailers = _read_fields(stream, bytearray())


def read_request_head(stream):
    """The next request head, or None if the connection ended between two requests."""
    try:
        if not stream.buffer:
            stream.fill()
    except ConnectionEnded:
        return None
    head = bytearray()
    line = stream.read_line()
    head += line + b"\r\n"
    matched = REQUEST_LINE.fullmatch(line)
    if not matched:
        raise BadMessage(f"bad request line {line!r}")
    method, target, version = (part.decode("latin-1") for part in matched.groups())
    fields = _read_fields(stream, head)
    if version == "HTTP/1.1" and len(fields.all("Host")) != 1:
        raise BadMessage(f"Host has to appear once: {fields}")
    return Request(method, target, version, fields, bytes(head))


def read_request_body(stream, request, on_data=None):
    if _check_framing(request.fields, request.version):
        _read_chunked(stream, request, on_data)
    else:
        request.body = stream.read_exact(_declared_length(request.fields) or 0)
    return request


def read_response_head(stream):
    head = bytearray()
    line = stream.read_line()
    head += line + b"\r\n"
    matched = STATUS_LINE.fullmatch(line)
    if not matched:
        raise BadMessage(f"bad status line {line!r}")
    version, status, reason = (part.decode("latin-1") for part in matched.groups())
    return Response(version, int(status), reason, _read_fields(stream, head), bytes(head))


def _read_response_body(stream, response, method):
    bodiless = method == "HEAD" or response.status < 200 or response.status in (204, 304)
    if method == "CONNECT" and 200 <= response.status < 300:
        bodiless = True
    if response.status < 200 or response.status == 204:
        for name in ("Content-Length", "Transfer-Encoding"):
            if name in response.fields:
                raise BadMessage(f"{name} in a {response.status} response (RFC 9110 §8.6)")
    is_chunked = _check_framing(response.fields, response.version)
    length = _declared_length(response.fields)
    if bodiless:
        return
    if is_chunked:
        response.framing = "chunked"
        _read_chunked(stream, response)
    elif length is not None:
        response.framing = "sized"
        response.body = stream.read_exact(length)
    else:
        response.framing = "close"
        response.body, how = stream.read_to_end()
        if how != "fin":
            raise IncompleteMessage(how, response.body, response)


def read_response(stream, method="GET"):
    """The final response with the interim ones before it. Raises IncompleteMessage if the
    connection ends first, which a test may expect."""
    interim = []
    response = None
    try:
        while True:
            response = read_response_head(stream)
            response.interim = interim
            _read_response_body(stream, response, method)
            if response.status >= 200 or response.status == 101:
                return response
            interim.append(response)
            response = None
    except IncompleteMessage:
        raise
    except ConnectionEnded as ended:
        raise IncompleteMessage(ended.how, ended.partial, response) from None
