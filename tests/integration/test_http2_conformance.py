# SPDX-License-Identifier: MIT
"""RFC 9113 and RFC 7541, rule by rule, on the client leg: frames by hand against the running proxy.

Each case says what is sent after the handshake, and what has to come of it: a response, an
RST_STREAM that leaves the connection usable, or a GOAWAY after which the connection ends.
test_http2_client_rules.py says the same rules frame by frame with compressed blocks, over TLS too.
test_http2_origin_conformance.py does the same to the origin leg.
"""

import itertools
import struct
import threading

import pytest
from harness import frames as h2
from harness.frames import FrameClient, FrameOrigin, data, frame, get, headers, literal, post, request_lines
from harness.frames import rst_stream, settings, window_update
from harness.origin import response
from harness.proxy import forward_to
from harness.raw import RawClient, client_context
from hpack.huffman import HuffmanEncoder
from hpack.huffman_constants import REQUEST_CODES, REQUEST_CODES_LENGTH

BODY = b"x" * 300


class Answered:
    """The stream gets its response."""

    def __init__(self, stream=1, status=200):
        self.stream, self.status = stream, status

    def check(self, client):
        assert client.fate(self.stream) == ("response", self.status)
        client.ping(b"still-up")


class StreamError:
    """RST_STREAM with one of these codes; the connection goes on."""

    def __init__(self, *codes, stream=1):
        self.stream, self.codes = stream, codes

    def check(self, client):
        how, code = client.fate(self.stream)
        assert how == "reset" and code in self.codes, (how, code)
        client.ping(b"still-up")
        client.get(99)


class ConnectionError_:
    """GOAWAY with this code, and the end of the connection."""

    def __init__(self, *codes):
        self.codes = codes

    def check(self, client):
        how, code = client.fate()
        assert how == "goaway" and code in self.codes, (how, code)
        left, _ = client.read_to_end()
        assert not left, left


class Alive:
    """Nothing comes of it: the connection goes on, and takes requests."""

    def check(self, client):
        client.ping(b"still-up")
        head, body, _ = client.get(99)
        assert (head.status, body) == (200, BODY)


class Script:
    """A check of its own."""

    def __init__(self, check):
        self.check = check


PROTOCOL = ConnectionError_(h2.PROTOCOL_ERROR)
SIZE = ConnectionError_(h2.FRAME_SIZE_ERROR)
FLOW = ConnectionError_(h2.FLOW_CONTROL_ERROR)
COMPRESSION = ConnectionError_(h2.COMPRESSION_ERROR)
CLOSED = ConnectionError_(h2.STREAM_CLOSED)
MALFORMED = StreamError(h2.PROTOCOL_ERROR)


def priority(stream, depends_on=0, weight=15, exclusive=False, payload=None):
    made = struct.pack(">IB", depends_on | (1 << 31 if exclusive else 0), weight)
    return frame(h2.PRIORITY, 0, stream, made if payload is None else payload)


def raw_headers(stream, payload, flags):
    return frame(h2.HEADERS, flags, stream, payload)


def without(name, extra=()):
    return headers(1, [line for line in request_lines(extra=extra) if line[0] != name])


def twice(name):
    lines = request_lines()
    return headers(1, lines[:4] + [line for line in lines if line[0] == name])


def replaced(name, value):
    return headers(1, [(key, value if key == name else old) for key, old in request_lines()])


BLOCK = h2.block_of(request_lines())
POST_BLOCK = h2.block_of(request_lines("POST"))
EH, ES, PAD, PRIO = h2.END_HEADERS, h2.END_STREAM, h2.PADDED, h2.PRIORITY_FLAG


def block_with(piece):
    return headers(1, BLOCK + piece)


def cont(stream, payload, end=True):
    return frame(h2.CONTINUATION, EH if end else 0, stream, payload)


def wait(condition_stream):
    """In a sequence: reads until the stream has been answered."""
    return lambda client: client.wait_message(condition_stream)


# Section of the RFC (or "basics"), what is sent, what has to come of it. What is
# sent is bytes, or a function of the client, or a tuple of those.
GENERIC = {
    "basics: the preface": (b"", Alive()),
    "basics: PRIORITY on an idle stream": (priority(1) + get(1), Answered()),
    "basics: WINDOW_UPDATE on a half-closed stream": (get(1) + window_update(1, 100), Answered()),
    "basics: PRIORITY on a half-closed stream": (get(1) + priority(1), Answered()),
    "basics: RST_STREAM on a half-closed stream": (get(1) + rst_stream(1), Alive()),
    "basics: PRIORITY on a closed stream": ((get(1), wait(1), priority(1)), Alive()),
    "basics: DATA": (post(1) + data(1, b"test", True), Answered()),
    "basics: several DATA": (post(1) + data(1, b"test") + data(1, b"test", True), Answered()),
    "basics: DATA with padding": (
        post(1) + frame(h2.DATA, ES | PAD, 1, b"\x06test" + b"\0" * 6), Answered()),
    "basics: HEADERS": (get(1), Answered()),
    "basics: HEADERS with padding": (raw_headers(1, b"\x08" + BLOCK + bytes(8), EH | ES | PAD), Answered()),
    "basics: HEADERS with priority": (
        raw_headers(1, b"\0\0\0\0\xff" + BLOCK, EH | ES | PRIO), Answered()),
    "basics: HEADERS with padding and priority": (
        raw_headers(1, b"\x08\0\0\0\0\xff" + BLOCK + bytes(8), EH | ES | PRIO | PAD), Answered()),
    "basics: PRIORITY with weight 1": (priority(1, 0, 0) + get(1), Answered()),
    "basics: PRIORITY with weight 256": (priority(1, 0, 255) + get(1), Answered()),
    "basics: PRIORITY with a dependency": (priority(3, 1, 255) + get(1), Answered()),
    "basics: PRIORITY with exclusive": (priority(3, 1, 255, True) + get(1), Answered()),
    "basics: PRIORITY for an idle stream, then a lower one": (priority(7) + get(5), Answered(5)),
    "basics: RST_STREAM": (get(1) + rst_stream(1, h2.CANCEL), Alive()),
    "basics: SETTINGS": (
        settings((h2.MAX_CONCURRENT_STREAMS, 100)),
        Script(lambda client: client.read_until(lambda got: got.kind == h2.SETTINGS and got.flags & h2.ACK))),
    "basics: PING": (b"", Script(lambda client: client.ping(b"8 bytes\0"))),
    "basics: GOAWAY": (h2.goaway(0), Script(lambda client: client.read_to_end())),
    "basics: WINDOW_UPDATE of the connection": (window_update(0, 1), Alive()),
    "basics: WINDOW_UPDATE of a stream": (get(1) + window_update(1, 1), Answered()),
    "basics: CONTINUATION": (headers(1, BLOCK, end_headers=False) + cont(1, literal("x-a", "b")), Answered()),
    "basics: several CONTINUATION": (
        headers(1, BLOCK, end_headers=False) + cont(1, literal("x-a", "b"), False)
        + cont(1, literal("x-b", "c")), Answered()),
    "basics: GET": (get(1), Answered()),
    "basics: HEAD": (headers(1, request_lines("HEAD")), Answered()),
    "basics: POST": (post(1) + data(1, b"test", True), Answered()),
    "basics: POST with trailers": (
        post(1, extra=[("trailer", "x-test")]) + data(1, b"test") + headers(1, [("x-test", "ok")]), Answered()),
}

# RFC 7541: representations that a decoder has to take. The block goes on after four full lines.
def coded(text, huffman):
    """A string literal (RFC 7541 §5.2)."""
    if not huffman:
        return bytes([len(text)]) + text
    made = HuffmanEncoder(REQUEST_CODES, REQUEST_CODES_LENGTH).encode(text)
    return bytes([0x80 | len(made)]) + made


def literals():
    """Every kind of literal (RFC 7541 §6.2), its name from the table or not, plain or Huffman."""
    kinds = {"incremental": (0x40, 6), "without indexing": (0x00, 4), "never indexed": (0x10, 4)}
    for (kind, (pattern, bits)), huffman in itertools.product(kinds.items(), (False, True)):
        suffix = ", Huffman" if huffman else ""
        user_agent = bytes([pattern | 58]) if bits == 6 else bytes([pattern | 15, 58 - 15])
        yield f"{kind}, indexed name{suffix}", user_agent + coded(b"test", huffman)
        yield f"{kind}, new name{suffix}", bytes([pattern]) + coded(b"x-test", huffman) + coded(b"ok", huffman)


# accept-encoding: gzip, deflate
HPACK_GOOD = {"indexed": b"\x90", **dict(literals())}

HPACK = {f"hpack/good {name}": (block_with(piece), Answered()) for name, piece in HPACK_GOOD.items()} | {
    "hpack/4.2 size update first": (headers(1, b"\x21" + BLOCK), Answered()),
    "hpack/4.2 two size updates first": (headers(1, b"\x20\x3f\xe1\x1f" + BLOCK), Answered()),
    "hpack/4.2 size update at the end": (block_with(b"\x21"), COMPRESSION),
    "hpack/2.3.3 index past the tables": (block_with(b"\xbe"), COMPRESSION),
    "hpack/2.3.3 name index past the tables": (block_with(b"\x7e\x04test"), COMPRESSION),
    "hpack/5.1 integer without end": (block_with(b"\xff" + b"\xff" * 10), COMPRESSION),
    "hpack/5.1 integer that is cut": (block_with(b"\xff\x80"), COMPRESSION),
    "hpack/5.2 string longer than its block": (block_with(b"\x00\x05x-tst\x09test"), COMPRESSION),
    # "a" is 00011; a byte of ones more than its padding, and zeros instead of ones.
    "hpack/5.2 padding over 7 bits": (block_with(b"\x00\x05x-tst\x82\x1f\xff"), COMPRESSION),
    "hpack/5.2 padding of zeros": (block_with(b"\x00\x05x-tst\x81\x18"), COMPRESSION),
    "hpack/5.2 EOS in a string": (block_with(b"\x00\x05x-tst\x84\xff\xff\xff\xff"), COMPRESSION),
    "hpack/6.1 index 0": (block_with(b"\x80"), COMPRESSION),
    "hpack/6.3 size update over the setting": (headers(1, b"\x3f\xe2\x1f" + BLOCK), COMPRESSION),
}


def closed_by(*last):
    """Stream 1 has ended on both sides."""
    return (post(1) + data(1, b"x", True), wait(1), *last)


SECTION_3_TO_5 = {
    "4.1 frame of an unknown type": (frame(22, 0, 0, bytes(8)), Alive()),
    "4.1 unknown flags": (frame(h2.PING, 0x16, 0, b"8 bytes\0"),
                          Script(lambda client: client.wait_kind(h2.PING))),
    "4.1 reserved bit of the stream id": (frame(h2.PING, 0, 1 << 31, b"8 bytes\0"),
                                         Script(lambda client: client.wait_kind(h2.PING))),
    "4.2 DATA of 2^14": (post(1) + data(1, b"x" * 16384, True), Answered()),
    "4.2 DATA over 2^14": (post(1) + data(1, b"x" * 16385, True), SIZE),
    "4.2 HEADERS over 2^14": (get(1, extra=[("x-long", "a" * 17000)]), SIZE),
    "4.2 unknown frame over 2^14": (frame(22, 0, 0, bytes(16385)), SIZE),
    "4.3 block that can not be decoded": (raw_headers(1, b"\x00\x00\x00\x00\x00", EH | ES), ConnectionError_(
        h2.COMPRESSION_ERROR, h2.PROTOCOL_ERROR)),
    "4.3 PRIORITY within a block": (headers(1, BLOCK, end_headers=False) + priority(1) + cont(1, b""), PROTOCOL),
    "4.3 HEADERS of another stream within a block": (headers(1, BLOCK, end_headers=False) + get(3), PROTOCOL),
    "5.1 idle: DATA": (data(1, b"test", True), PROTOCOL),
    "5.1 idle: RST_STREAM": (rst_stream(1), PROTOCOL),
    "5.1 idle: WINDOW_UPDATE": (window_update(1, 100), PROTOCOL),
    "5.1 idle: CONTINUATION": (cont(1, BLOCK), PROTOCOL),
    "5.1 half-closed: DATA": ((get(1, "/held"), data(1, b"test", True)), StreamError(h2.STREAM_CLOSED)),
    "5.1 half-closed: HEADERS": ((get(1, "/held"), get(1)), StreamError(h2.STREAM_CLOSED)),
    "5.1 half-closed: CONTINUATION": ((get(1, "/held"), cont(1, b"")), PROTOCOL),
    "5.1 closed by our reset: DATA": (post(1) + rst_stream(1) + data(1, b"x", True), StreamError(h2.STREAM_CLOSED)),
    "5.1 closed by our reset: HEADERS": (post(1) + rst_stream(1) + get(1), StreamError(h2.STREAM_CLOSED)),
    "5.1 closed by our reset: CONTINUATION": (post(1) + rst_stream(1) + cont(1, b""), PROTOCOL),
    "5.1 closed: DATA": (closed_by(data(1, b"x", True)), StreamError(h2.STREAM_CLOSED)),
    "5.1 closed: HEADERS": (closed_by(get(1)), CLOSED),
    "5.1 closed: CONTINUATION": (closed_by(cont(1, b"")), PROTOCOL),
    "5.1 closed: WINDOW_UPDATE": (closed_by(window_update(1, 100)), Alive()),
    "5.1 closed: RST_STREAM": (closed_by(rst_stream(1)), Alive()),
    "5.1.1 even stream id": (get(2), PROTOCOL),
    "5.1.1 lower stream id than before": ((get(5), wait(5), get(3)), PROTOCOL),
    "5.3.1 HEADERS depends on itself": (
        raw_headers(1, struct.pack(">IB", 1, 255) + BLOCK, EH | ES | PRIO), StreamError(h2.PROTOCOL_ERROR)),
    "5.3.1 PRIORITY depends on itself": (priority(1, 1), PROTOCOL),
    "5.3.1 PRIORITY of an open stream depends on itself": (
        (post(1, "/held"), priority(1, 1)), StreamError(h2.PROTOCOL_ERROR)),
    "5.4.1 after an error GOAWAY and the end": (frame(h2.PING, 0, 0, bytes(4)), SIZE),
    "5.5 unknown frame on a stream": (post(1) + frame(22, 0, 1, bytes(8)) + data(1, b"x", True), Answered()),
    "5.5 unknown frame within a block": (
        headers(1, BLOCK, end_headers=False) + frame(22, 0, 0, bytes(8)) + cont(1, b""), PROTOCOL),
}

SECTION_6 = {
    "6.1 DATA on stream 0": (post(1) + data(0, b"test", True), PROTOCOL),
    "6.1 DATA on a stream that is not open": ((get(1, "/held"), data(1, b"test")), StreamError(h2.STREAM_CLOSED)),
    "6.1 DATA with too much padding": (post(1) + frame(h2.DATA, ES | PAD, 1, b"\x06test"), PROTOCOL),
    "6.1 DATA with as much padding as its rest": (
        post(1) + frame(h2.DATA, ES | PAD, 1, b"\x04test"), Answered()),
    "6.1 DATA that is all padding": (post(1) + frame(h2.DATA, ES | PAD, 1, b"\x00"), Answered()),
    "6.1 DATA that lacks its pad length": (post(1) + frame(h2.DATA, ES | PAD, 1), SIZE),
    "6.2 HEADERS without the rest, then PRIORITY": (
        headers(1, BLOCK, end_headers=False) + priority(1), PROTOCOL),
    "6.2 HEADERS without the rest, then HEADERS of another": (
        headers(1, BLOCK, end_headers=False) + get(3), PROTOCOL),
    "6.2 HEADERS on stream 0": (get(0), PROTOCOL),
    "6.2 HEADERS with too much padding": (
        raw_headers(1, bytes([255]) + BLOCK[:100], EH | ES | PAD), PROTOCOL),
    "6.2 HEADERS without room for its priority": (raw_headers(1, b"\0\0\0", EH | ES | PRIO), SIZE),
    "6.3 PRIORITY on stream 0": (priority(0), PROTOCOL),
    "6.3 PRIORITY of 4 bytes": ((post(1, "/held"), priority(1, payload=bytes(4))), StreamError(h2.FRAME_SIZE_ERROR)),
    "6.3 PRIORITY of 4 bytes, idle": (priority(1, payload=bytes(4)), SIZE),
    "6.4 RST_STREAM on stream 0": (rst_stream(0), PROTOCOL),
    "6.4 RST_STREAM on an idle stream": (rst_stream(1), PROTOCOL),
    "6.4 RST_STREAM of 3 bytes": (post(1) + frame(h2.RST_STREAM, 0, 1, bytes(3)), SIZE),
    "6.5 SETTINGS ACK with a payload": (frame(h2.SETTINGS, h2.ACK, 0, b"\0"), SIZE),
    "6.5 SETTINGS on a stream": (frame(h2.SETTINGS, 0, 1, struct.pack(">HI", 3, 100)), PROTOCOL),
    "6.5 SETTINGS of 3 bytes": (frame(h2.SETTINGS, 0, 0, bytes(3)), SIZE),
    "6.5.2 ENABLE_PUSH 2": (settings((h2.ENABLE_PUSH, 2)), PROTOCOL),
    "6.5.2 INITIAL_WINDOW_SIZE over 2^31-1": (settings((h2.INITIAL_WINDOW_SIZE, 1 << 31)), FLOW),
    "6.5.2 MAX_FRAME_SIZE below 2^14": (settings((h2.MAX_FRAME_SIZE, 16383)), PROTOCOL),
    "6.5.2 MAX_FRAME_SIZE over 2^24-1": (settings((h2.MAX_FRAME_SIZE, 1 << 24)), PROTOCOL),
    "6.5.2 unknown setting": (settings((0xFF, 1)), Alive()),
    "6.5.2 ENABLE_CONNECT_PROTOCOL 2": (settings((h2.ENABLE_CONNECT_PROTOCOL, 2)), PROTOCOL),
    "6.5.3 ACK": (settings((h2.INITIAL_WINDOW_SIZE, 100)), Script(
        lambda client: client.read_until(lambda got: got.kind == h2.SETTINGS and got.flags & h2.ACK))),
    "6.7 PING": (frame(h2.PING, 0, 0, b"8 bytes\0"), Script(lambda client: client.wait_kind(h2.PING))),
    "6.7 PING on a stream": (frame(h2.PING, 0, 1, bytes(8)), PROTOCOL),
    "6.7 PING of 6 bytes": (frame(h2.PING, 0, 0, bytes(6)), SIZE),
    "6.8 GOAWAY on a stream": (frame(h2.GOAWAY, 0, 1, bytes(8)), PROTOCOL),
    "6.8 GOAWAY of 7 bytes": (frame(h2.GOAWAY, 0, 0, bytes(7)), SIZE),
    "6.9 WINDOW_UPDATE by 0, connection": (window_update(0, 0), PROTOCOL),
    "6.9 WINDOW_UPDATE by 0, stream": ((get(1, "/held"), window_update(1, 0)), StreamError(h2.PROTOCOL_ERROR)),
    "6.9 WINDOW_UPDATE of 3 bytes": (frame(h2.WINDOW_UPDATE, 0, 0, bytes(3)), SIZE),
    "6.9.1 windows over 2^31-1, connection": (window_update(0, (1 << 31) - 1) * 2, FLOW),
    "6.9.1 windows over 2^31-1, stream": (
        (get(1, "/held"), window_update(1, (1 << 31) - 1) * 2), StreamError(h2.FLOW_CONTROL_ERROR)),
    "6.10 several CONTINUATION": (
        headers(1, BLOCK[:9], end_headers=False) + b"".join(
            cont(1, BLOCK[at:at + 1], at == len(BLOCK) - 1) for at in range(9, len(BLOCK))), Answered()),
    "6.10 CONTINUATION, then another frame": (
        headers(1, BLOCK, end_headers=False) + cont(1, b"", False) + data(1, b"test", True), PROTOCOL),
    "6.10 CONTINUATION on stream 0": (headers(1, BLOCK, end_headers=False) + cont(0, b""), PROTOCOL),
    "6.10 CONTINUATION after END_HEADERS": (post(1) + cont(1, b""), PROTOCOL),
    "6.10 CONTINUATION after CONTINUATION with END_HEADERS": (
        headers(1, POST_BLOCK, end_headers=False, end_stream=False) + cont(1, b"") + cont(1, b""), PROTOCOL),
    "6.10 CONTINUATION after DATA": (post(1) + data(1, b"test") + cont(1, b""), PROTOCOL),
}

SECTION_7_8 = {
    "7 GOAWAY with an unknown code": (h2.goaway(0, 0xFF), Script(lambda client: client.read_to_end())),
    "7 RST_STREAM with an unknown code": (get(1, "/held") + rst_stream(1, 0xFF), Alive()),
    "8.1 second HEADERS without END_STREAM": (
        post(1, "/held") + headers(1, [("x-a", "b")], end_stream=False), MALFORMED),
    "8.1 no HEADERS but trailers only of an empty block": (post(1) + headers(1, b""), Answered()),
    "8.2 PUSH_PROMISE": (frame(h2.PUSH_PROMISE, EH, 1, struct.pack(">I", 2) + BLOCK), PROTOCOL),
    "8.2.1 upper case": (get(1, extra=[("X-TEST", "ok")]), MALFORMED),
    "8.2.1 name with a colon": (get(1, extra=[("x:a", "ok")]), MALFORMED),
    "8.2.1 empty name": (get(1, extra=[("", "ok")]), MALFORMED),
    "8.2.1 blank after the value": (get(1, extra=[("x-a", "ok ")]), MALFORMED),
    "8.2.1 blank before the value": (get(1, extra=[("x-a", "\tok")]), MALFORMED),
    "8.2.2 connection": (get(1, extra=[("connection", "keep-alive")]), MALFORMED),
    "8.2.2 keep-alive": (get(1, extra=[("keep-alive", "timeout=5")]), MALFORMED),
    "8.2.2 proxy-connection": (get(1, extra=[("proxy-connection", "keep-alive")]), MALFORMED),
    "8.2.2 transfer-encoding": (get(1, extra=[("transfer-encoding", "chunked")]), MALFORMED),
    "8.2.2 upgrade": (get(1, extra=[("upgrade", "h2c")]), MALFORMED),
    "8.2.2 te other than trailers": (get(1, extra=[("te", "trailers, deflate;q=0.5")]), MALFORMED),
    "8.2.2 te: trailers": (get(1, extra=[("te", "trailers")]), Answered()),
    "8.3 unknown pseudo-field": (headers(1, [*request_lines(), (":test", "ok")]), MALFORMED),
    "8.3 pseudo-field of responses": (headers(1, [*request_lines(), (":status", "200")]), MALFORMED),
    "8.3 pseudo-field in trailers": (
        post(1, "/held") + data(1, b"test") + headers(1, [(":method", "POST")]), MALFORMED),
    "8.3 pseudo-field after a regular one": (
        headers(1, [*request_lines()[:3], ("x-test", "ok"), request_lines()[3]]), MALFORMED),
    "8.3.1 empty :path": (replaced(":path", ""), MALFORMED),
    "8.3.1 no :method": (without(":method"), MALFORMED),
    "8.3.1 no :scheme": (without(":scheme"), MALFORMED),
    "8.3.1 no :path": (without(":path"), MALFORMED),
    "8.3.1 no :authority and no host": (without(":authority"), MALFORMED),
    "8.3.1 host instead of :authority": (without(":authority", [("host", "localhost")]), Answered()),
    "8.3.1 :method twice": (twice(":method"), MALFORMED),
    "8.3.1 :scheme twice": (twice(":scheme"), MALFORMED),
    "8.3.1 :path twice": (twice(":path"), MALFORMED),
    "8.3.1 :authority twice": (twice(":authority"), MALFORMED),
    "8.1.1 content-length that lies, one DATA": (
        post(1, "/held", [("content-length", "1")]) + data(1, b"test", True), MALFORMED),
    "8.1.1 content-length that lies, several DATA": (
        post(1, "/held", [("content-length", "1")]) + data(1, b"test") + data(1, b"test", True), MALFORMED),
    "8.1.1 body shorter than content-length": (
        post(1, "/held", [("content-length", "9")]) + data(1, b"test", True), MALFORMED),
    "8.1.1 content-length without a body": (get(1, extra=[("content-length", "9")]), MALFORMED),
    "8.5 CONNECT with :scheme and :path": (headers(1, request_lines("CONNECT")), MALFORMED),
    "8.5 CONNECT without :authority": (headers(1, [(":method", "CONNECT")]), MALFORMED),
    "8.5 CONNECT, which a reverse proxy has no use for": (
        headers(1, [(":method", "CONNECT"), (":authority", "a:1")], end_stream=False), Answered(1, 501)),
    "RFC 8441 §4 :protocol without CONNECT": (headers(1, [*request_lines(), (":protocol", "websocket")]), MALFORMED),
    "RFC 8441 §4 extended CONNECT without :path": (
        headers(1, [(":method", "CONNECT"), (":protocol", "websocket"), (":scheme", "http"),
                    (":authority", "a")]), MALFORMED),
    "RFC 9218 §7.1 PRIORITY_UPDATE": (
        frame(h2.PRIORITY_UPDATE, 0, 0, struct.pack(">I", 1) + b"u=1") + get(1), Answered()),
    "RFC 9218 §7.1 PRIORITY_UPDATE on a stream": (
        frame(h2.PRIORITY_UPDATE, 0, 1, struct.pack(">I", 1) + b"u=1"), PROTOCOL),
}

CASES = GENERIC | HPACK | SECTION_3_TO_5 | SECTION_6 | SECTION_7_8


def http1_answers(connection):
    for request in connection.requests_until_end():
        if request.target.startswith("/held"):
            connection.read_to_end()  # Never answered: ends when the proxy gives up.
            return
        connection.send(response(BODY if request.method != "HEAD" else b""))


def http2_answers(connection):
    origin = FrameOrigin(connection)
    held = set()
    try:
        while True:
            got = origin.read()
            if got.kind == h2.HEADERS and (":path", "/held") in got.lines:
                held.add(got.stream)
            if got.ends_stream and got.stream not in held:
                origin.respond(got.stream, body=BODY)
    except h2.ConnectionEnded:
        pass


@pytest.fixture(scope="module", params=["http11", "h2c"])
def proxy(request, start_shared_proxy, start_shared_origin):
    clear = start_shared_origin(http1_answers if request.param == "http11" else http2_answers)
    keys = {} if request.param == "http11" else {"upstreamHttpProtocol": "http2"}
    return start_shared_proxy(forward_to(clear, **keys))


@pytest.mark.parametrize("name", CASES)
def test_client_leg(proxy, name):
    sent, expected = CASES[name]
    with FrameClient(proxy.port) as client:
        for step in sent if isinstance(sent, tuple) else (sent,):
            step(client) if callable(step) else client.try_send(step)
        expected.check(client)


# ---- What takes more than one step


def test_the_preface_of_both_sides_starts_with_settings(proxy):
    with FrameClient(proxy.port, handshake=False) as client:
        client.send(h2.PREFACE, settings())
        assert client.read().kind == h2.SETTINGS


@pytest.mark.parametrize("first", [frame(h2.PING, 0, 0, bytes(8)), get(1), settings(ack=True),
                                   window_update(0, 1), frame(22, 0, 0, b"x")],
                         ids=["PING", "HEADERS", "ACK", "WINDOW_UPDATE", "unknown"])
def test_a_client_that_does_not_start_with_settings_is_refused(proxy, first):
    with FrameClient(proxy.port, handshake=False) as client:
        client.send(h2.PREFACE, first)
        PROTOCOL.check(client)


# RFC 9113 §3.4: what looks like a request line is HTTP/1 on a clear connection, and so a bad request.
@pytest.mark.parametrize("preface", [b"PRI * HTTP/2.0\r\n\r\nSM\r\nXX", b"PRI * HTTP/2.0\r\n\r\n",
                                     b"PRI * HTTP/3.0\r\n\r\nSM\r\n\r\n"])
def test_a_bad_preface_ends_the_connection(proxy, preface):
    with RawClient(proxy.port) as client:
        client.send(preface + (b"\r\n\r\n" if preface.endswith(b"XX") else b""))
        if preface == b"PRI * HTTP/2.0\r\n\r\n":
            client.half_close()
        said, _ = client.read_to_end()
        assert said == b"" or said.startswith((b"HTTP/1.1 400", b"HTTP/1.1 505")), said


@pytest.mark.parametrize("size", [1, 2, 7, 23])
def test_the_preface_may_come_in_pieces(proxy, size):
    with FrameClient(proxy.port, handshake=False) as client:
        client.connection.send_pieces(h2.PREFACE + settings() + get(1), size)
        assert client.wait_message(1)[0].status == 200


def test_requests_over_the_advertised_limit_are_refused(start_proxy, start_origin):
    origin = start_origin(http1_answers)
    proxy = start_proxy(forward_to(origin, server={"limits": {"maxConcurrentStreamsPerConnection": 10}}))
    with FrameClient(proxy.port, handshake=False) as client:
        client.send(h2.PREFACE, settings())
        ours = client.wait_kind(h2.SETTINGS).payload
        said = dict(struct.unpack_from(">HI", ours, at) for at in range(0, len(ours), 6))
        assert said[h2.MAX_CONCURRENT_STREAMS] == 10
        client.ping()
        client.send(*(get(1 + 2 * i, "/held") for i in range(11)))
        assert client.fate(21) == ("reset", h2.REFUSED_STREAM)
        client.send(rst_stream(1))
        head, body, _ = client.get(23)
        assert (head.status, body) == (200, BODY)


def test_data_keeps_to_an_initial_window_of_one_byte(proxy):
    with FrameClient(proxy.port, (h2.INITIAL_WINDOW_SIZE, 1)) as client:
        client.send(get(1))
        assert client.wait_kind(h2.DATA, 1).payload == b"x"
        client.ping()
        assert not [got for got in client.reader.seen if got.kind == h2.DATA and got.stream == 1][1:]
        client.send(window_update(1, 2))
        assert client.wait_kind(h2.DATA, 1).payload == b"xx"


def test_a_larger_initial_window_also_opens_streams_that_exist(proxy):
    with FrameClient(proxy.port, (h2.INITIAL_WINDOW_SIZE, 0)) as client:
        client.send(get(1))
        client.wait_head(1)
        client.ping()
        assert not [got for got in client.reader.seen if got.kind == h2.DATA and got.payload]
        client.send(settings((h2.INITIAL_WINDOW_SIZE, 1)))
        assert client.wait_kind(h2.DATA, 1).payload == b"x"


def test_a_window_may_become_negative(proxy):
    with FrameClient(proxy.port, (h2.INITIAL_WINDOW_SIZE, 3)) as client:
        client.send(get(1))
        assert client.wait_kind(h2.DATA, 1).payload == b"xxx"
        client.send(settings((h2.INITIAL_WINDOW_SIZE, 2)))  # Now at -1.
        client.ping(b"settled ")
        client.send(window_update(1, 1))  # Now at 0.
        client.ping(b"no data ")
        assert len([got for got in client.reader.seen if got.kind == h2.DATA and got.stream == 1]) == 1
        client.send(window_update(1, 1))
        assert client.wait_kind(h2.DATA, 1).payload == b"x"


def test_settings_that_overflow_the_window_of_a_stream(proxy):
    with FrameClient(proxy.port, (h2.INITIAL_WINDOW_SIZE, 0)) as client:
        client.send(get(1, "/held"), window_update(1, (1 << 31) - 1), settings((h2.INITIAL_WINDOW_SIZE, 1)))
        FLOW.check(client)


def test_the_last_of_several_values_of_a_setting_counts(proxy):
    with FrameClient(proxy.port, (h2.INITIAL_WINDOW_SIZE, 100), (h2.INITIAL_WINDOW_SIZE, 1)) as client:
        client.send(get(1))
        assert client.wait_kind(h2.DATA, 1).payload == b"x"


def test_a_ping_with_ack_is_not_answered(proxy):
    with FrameClient(proxy.port) as client:
        client.send(frame(h2.PING, h2.ACK, 0, b"unasked!"))
        client.ping(b"asked   ")
        assert [got.payload for got in client.reader.seen if got.kind == h2.PING] == [b"asked   "]


def test_data_over_the_window_of_a_stream_resets_it(start_proxy, start_origin):
    """Towards an origin that takes nothing of the body, the window stays closed."""
    done = threading.Event()

    def handle(connection):
        connection.read_head()
        connection.wait(done)
    proxy = start_proxy(forward_to(start_origin(handle, receive_buffer=4096)))
    with FrameClient(proxy.port) as client:
        client.send(post(1))
        for _ in range(64):
            if not client.try_send(data(1, bytes(16384)) * 16):
                break
        assert client.fate(1) in (("reset", h2.FLOW_CONTROL_ERROR), ("goaway", h2.FLOW_CONTROL_ERROR))
        done.set()


def test_goaway_names_the_last_stream_that_was_taken(proxy):
    with FrameClient(proxy.port) as client:
        client.get(1)
        client.get(7)
        client.send(frame(h2.PING, 0, 0, bytes(4)))
        got = client.read_until(lambda seen: seen.kind == h2.GOAWAY)
        assert (got.last_stream, got.code) == (7, h2.FRAME_SIZE_ERROR)


def test_the_encoder_keeps_to_the_table_size_of_the_client(proxy):
    """RFC 7541 §4.2: a table of no size; the decoder of the test fails if it is used all the same."""
    with FrameClient(proxy.port, (h2.HEADER_TABLE_SIZE, 0)) as client:
        client.reader.decoder.max_allowed_table_size = 0
        for stream in (1, 3, 5):
            head, body, _ = client.get(stream)
            assert (head.status, body) == (200, BODY)


def test_a_table_that_shrinks_and_grows(proxy):
    with FrameClient(proxy.port) as client:
        client.get(1)
        for stream, size in ((3, 0), (5, 4096), (7, 64), (9, 65536)):
            client.send(settings((h2.HEADER_TABLE_SIZE, size)))
            client.read_until(lambda got: got.kind == h2.SETTINGS and got.flags & h2.ACK)
            client.reader.decoder.max_allowed_table_size = size
            assert client.get(stream)[0].status == 200


def test_frames_over_tls_keep_the_same_rules(start_proxy, start_origin, authority, localhost_pair):
    origin = start_origin(http1_answers)
    proxy = start_proxy(forward_to(origin, tls_pair=localhost_pair))
    tls = client_context(authority.certificate, alpn=("h2",))
    with FrameClient(proxy.tls_port, tls=tls) as client:
        assert client.connection.sock.selected_alpn_protocol() == "h2"
        assert client.get(1)[0].status == 200
        client.send(frame(h2.PING, 0, 0, bytes(4)))
        SIZE.check(client)
    # RFC 9113 §3.3: with ALPN "h2" the preface has to follow; anything else is an error.
    with RawClient(proxy.tls_port, tls=tls) as client:
        client.send(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        said, _ = client.read_to_end()
        assert not said.startswith(b"HTTP/")
