# SPDX-License-Identifier: MIT
"""RFC 9113 and RFC 7541 on the client leg, as a client with a compressing encoder says it.

test_http2_conformance.py sends each sequence in one piece, with literal field lines, and keeps
streams open on purpose. Here every frame is a write of its own, blocks use both tables and Huffman
codes, and the origin answers at once, late, or with nothing, so that the answer may overtake the
fault; over TLS as well as in clear. Every reaction has to come within two seconds.
"""

import struct
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from harness import frames as h2
from harness.frames import FrameClient, data, frame, goaway, rst_stream, settings, window_update
from harness.message import ConnectionEnded
from harness.origin import replying, response
from harness.proxy import forward_to
from harness.raw import client_context
from harness.verdicts import ConnectionFails, Gets, Response, StreamFails, Usable, check_fin, check_usable, fate
from hpack import Encoder

REACTION_SECONDS = 2.0
LATE_SECONDS = 0.5
BODY = b"a short body"
LONG_VALUE = "x" * 4000
MOST = (1 << 31) - 1
EH, ES, PAD = h2.END_HEADERS, h2.END_STREAM, h2.PADDED
HUFFMAN_NAME = b"\x85\xf2\xb2\x4a\x84\xff"  # x-test
HUFFMAN_VALUE = b"\x83\x49\x50\x9f"  # test
PLAIN_FIELD = b"\x06x-test\x04test"
HUFFMAN_FIELD = HUFFMAN_NAME + HUFFMAN_VALUE

PROTOCOL = ConnectionFails(h2.PROTOCOL_ERROR)
SIZE = ConnectionFails(h2.FRAME_SIZE_ERROR)
FLOW = ConnectionFails(h2.FLOW_CONTROL_ERROR)
COMPRESSION = ConnectionFails(h2.COMPRESSION_ERROR)
CLOSED = StreamFails(h2.STREAM_CLOSED, also=h2.STREAM_CLOSED)
MALFORMED = StreamFails(h2.PROTOCOL_ERROR)
ACKED = Gets(h2.SETTINGS, flags=h2.ACK, payload=b"")
ONE_BYTE = Gets(h2.DATA, stream=1, payload=BODY[:1])
UNKNOWN = (frame(22, length=8), bytes(8))


class Speech:
    """What one client says: its field blocks share an encoder."""

    def __init__(self, scheme):
        self.encoder = Encoder()
        self.scheme = scheme

    def lines(self, method="GET", extra=()):
        return h2.request_lines(method, authority="localhost:8443", scheme=self.scheme, extra=extra)

    def block(self, lines):
        return self.encoder.encode(lines)

    def headers(self, lines, stream=1, flags=ES | EH, before=b"", after=b""):
        return frame(h2.HEADERS, flags, stream, before + self.block(lines) + after)

    def get(self, stream=1, flags=ES | EH, extra=(), **around):
        return self.headers(self.lines(extra=extra), stream, flags, **around)

    def post(self, flags=EH, extra=()):
        return self.headers(self.lines("POST", extra), 1, flags)

    def open(self):
        """A GET that has not ended yet."""
        return self.get(flags=EH)

    def rest(self, stream=1, end=True):
        """A CONTINUATION with one long line."""
        return frame(h2.CONTINUATION, EH if end else 0, stream, self.block([("x-long", LONG_VALUE)]))

    def without(self, *names):
        return self.headers([line for line in self.lines() if line[0] not in names])

    def twice(self, name):
        return self.headers(self.lines() + [line for line in self.lines() if line[0] == name])

    def cut(self, *ends):
        """The block of a GET in HEADERS and CONTINUATION frames that end at these places."""
        block = self.block(self.lines())
        pieces = [block[begin:end] for begin, end in zip((0, *ends), (*ends, len(block)))]
        last = len(pieces) - 1
        return [frame(h2.CONTINUATION if at else h2.HEADERS, (0 if at else ES) | (EH if at == last else 0), 1, piece)
                for at, piece in enumerate(pieces)]


def priority(stream, depends_on=0, weight=255):
    return frame(h2.PRIORITY, 0, stream, struct.pack(">IB", depends_on, weight))


def in_two(kind, flags, stream, payload):
    """A frame whose payload is a write of its own."""
    return frame(kind, flags, stream, length=len(payload)), payload


def answered(client):
    assert fate(client, 1) == ("response", 200)


def acked(client):
    ACKED.check(client)


def any_data(client):
    client.wait_kind(h2.DATA, 1)


def one_stream_too_many(client):
    """RFC 9113 §5.1.2: no stream ends while its window is closed."""
    said = next(got.payload for got in client.reader.seen if got.kind == h2.SETTINGS and not got.flags)
    limit = dict(struct.unpack_from(">HI", said, at) for at in range(0, len(said), 6))[h2.MAX_CONCURRENT_STREAMS]
    speech = Speech("http")
    for number in range(limit + 1):
        client.send(speech.get(1 + 2 * number))
    refused = client.wait_kind(h2.RST_STREAM)
    assert (refused.stream, refused.code) == (1 + 2 * limit, h2.REFUSED_STREAM)


class FirstFrame:
    """RFC 9113 §3.4: SETTINGS come first."""

    def check(self, client):
        got = client.reader.seen[0]
        assert (got.kind, got.flags) == (h2.SETTINGS, 0), got


class EndsOrderly:
    """GOAWAY or nothing at all, and FIN."""

    def check(self, client):
        how, _ = fate(client)
        assert how in ("goaway", "fin"), how
        check_fin(client)


class UsableOrEnds:
    """RFC 9113 §6.8: after its GOAWAY a client may still be answered, or the connection ends."""

    def check(self, client):
        try:
            check_usable(client)
        except ConnectionEnded as ended:
            assert ended.how == "fin", ended.how


class Passes:
    """The steps have checked everything."""

    def check(self, client):
        check_usable(client)


# The section of RFC 9113 (of RFC 7541: "7541"), what is sent, what has to come of it. A step is
# bytes, which are one write, or a function of the client.
EXCHANGES = {
    "3.4 preface": (lambda say: [], FirstFrame()),
    "5.1 idle: PRIORITY": (lambda say: [priority(1)], Usable()),
    "5.1 half-closed: WINDOW_UPDATE": (
        lambda say: [settings((h2.INITIAL_WINDOW_SIZE, 0)), say.get(), window_update(1, 1)], ONE_BYTE),
    "5.1 half-closed: PRIORITY": (
        lambda say: [settings((h2.INITIAL_WINDOW_SIZE, 0)), say.get(), priority(1), window_update(1, 1)], ONE_BYTE),
    "5.1 half-closed: RST_STREAM": (lambda say: [say.get(), rst_stream(1)], Usable()),
    "5.1 closed: PRIORITY": (lambda say: [say.get(), answered, priority(1)], Usable()),
    "6.1 DATA": (lambda say: [say.post(), data(1, b"test", True)], Response()),
    "6.1 DATA twice": (lambda say: [say.post(), data(1, b"test"), data(1, b"test", True)], Response()),
    "6.1 DATA with padding": (
        lambda say: [say.post(), frame(h2.DATA, ES | PAD, 1, b"\x05test" + bytes(5))], Response()),
    "6.2 HEADERS": (lambda say: [say.get()], Response()),
    "6.2 HEADERS with padding": (
        lambda say: [say.get(flags=ES | EH | PAD, before=b"\x08", after=bytes(8))], Response()),
    "6.2 HEADERS with priority": (
        lambda say: [say.get(flags=ES | EH | h2.PRIORITY_FLAG, before=b"\0\0\0\0\xff")], Response()),
    "6.3 PRIORITY of weight 1": (lambda say: [priority(1, weight=0), say.get()], Response()),
    "6.3 PRIORITY of weight 256": (lambda say: [priority(1), say.get()], Response()),
    "6.3 PRIORITY with a dependency": (lambda say: [priority(3, 1, 0), say.get()], Response()),
    "6.3 PRIORITY, exclusive": (lambda say: [priority(1, 1 << 31, 0), say.get()], Response()),
    "6.3 PRIORITY of a higher stream": (lambda say: [priority(3), say.get()], Response()),
    "6.4 RST_STREAM": (lambda say: [say.open(), rst_stream(1)], Usable()),
    "6.5 SETTINGS, all of them": (
        lambda say: [settings((h2.HEADER_TABLE_SIZE, 4096), (h2.ENABLE_PUSH, 1), (h2.MAX_CONCURRENT_STREAMS, 100),
                              (h2.INITIAL_WINDOW_SIZE, 65535), (h2.MAX_FRAME_SIZE, 16384),
                              (h2.MAX_HEADER_LIST_SIZE, 100))], ACKED),
    "6.7 PING": (lambda say: [], Usable(b"a ping\0\0")),
    "6.8 GOAWAY": (lambda say: [goaway(0, debug=b"bye")], UsableOrEnds()),
    "6.9 WINDOW_UPDATE, connection": (lambda say: [window_update(0, 1)], Usable()),
    "6.9 WINDOW_UPDATE, stream": (lambda say: [say.get(), window_update(1, 1)], Response()),
    "6.10 CONTINUATION": (lambda say: say.cut(5), Response()),
    "6.10 CONTINUATION twice": (lambda say: say.cut(5, 10), Response()),
    "8.1 HEAD": (lambda say: [say.headers(say.lines("HEAD"))], Response()),
    "8.1 POST": (lambda say: [say.post(), data(1, b"test", True)], Response()),
    "8.1 POST with trailers": (
        lambda say: [say.post(extra=[("trailer", "x-test")]), data(1, b"test"), say.headers([("x-test", "ok")])],
        Response()),
}


def with_end(piece):
    return lambda say: [say.get(after=piece)]


# Field lines at the end of a request (RFC 7541 §6).
GOOD_LINES = {
    "indexed, with an empty value": b"\xba",
    "incremental, indexed name": b"\x7a\x04test",
    "incremental, indexed name, Huffman": b"\x7a" + HUFFMAN_VALUE,
    "incremental, new name": b"\x40" + PLAIN_FIELD,
    "incremental, new name, Huffman": b"\x40" + HUFFMAN_FIELD,
    "incremental, known name said anew": b"\x40\x0auser-agent\x04test",
    "incremental, known name said anew, Huffman": b"\x40\x87\xb5\x05\xb1\x61\xcc\x5a\x93" + HUFFMAN_VALUE,
    "without indexing, indexed name": b"\x0f\x2b\x04test",
    "without indexing, indexed name, Huffman": b"\x0f\x2b" + HUFFMAN_VALUE,
    "without indexing, new name": b"\x00" + PLAIN_FIELD,
    "without indexing, new name, Huffman": b"\x00" + HUFFMAN_FIELD,
    "without indexing, known name said anew": b"\x00\x0auser-agent\x04test",
    "without indexing, known name said anew, Huffman": b"\x00\x87\xb5\x05\xb1\x61\xcc\x5a\x93" + HUFFMAN_VALUE,
    "never indexed, indexed name": b"\x1f\x2b\x04test",
    "never indexed, indexed name, Huffman": b"\x1f\x2b" + HUFFMAN_VALUE,
    "never indexed, new name": b"\x10" + PLAIN_FIELD,
    "never indexed, new name, Huffman": b"\x10" + HUFFMAN_FIELD,
    "never indexed, known name said anew": b"\x10\x0auser-agent\x04test",
    "never indexed, known name said anew, Huffman": b"\x10\x87\xb5\x05\xb1\x61\xcc\x5a\x93" + HUFFMAN_VALUE,
}
BAD_LINES = {
    "2.3.3 index past both tables": b"\xc6",
    "2.3.3 name index past both tables": b"\x7f\x07\x00",
    "4.2 size update at the end": b"\x21",
    "5.2 padding over 7 bits": b"\x00" + HUFFMAN_NAME + b"\x84\x49\x50\x9f\xff",
    "5.2 padding of zeros": b"\x00" + HUFFMAN_NAME + b"\x83\x49\x50\x90",
    "5.2 EOS in a string": b"\x00" + HUFFMAN_NAME + b"\x87\x49\x51\xff\xff\xff\xfa\x7f",
    "6.1 index 0": b"\x80",
}
HPACK = {f"7541 6 {name}": (with_end(piece), Response()) for name, piece in GOOD_LINES.items()} | {
    f"7541 {name}": (with_end(piece), COMPRESSION) for name, piece in BAD_LINES.items()} | {
    "7541 6.3 size update": (lambda say: [say.get(before=b"\x3f\x61")], Response()),
    "7541 4.2 two size updates": (lambda say: [say.get(before=b"\x3f\x61\x3f\xe1\x1f")], Response()),
    "7541 6.3 size update over the setting": (lambda say: [say.get(before=b"\x3f\xe2\x1f")], COMPRESSION),
}

FRAMES_AND_STREAMS = {
    "4.1 unknown type": (lambda say: UNKNOWN, Usable()),
    "4.1 unknown flags": (lambda say: in_two(h2.PING, 0x16, 0, bytes(8)), Gets(h2.PING, flags=h2.ACK)),
    "4.1 reserved bit": (lambda say: in_two(h2.PING, 0x16, 1 << 31, bytes(8)), Gets(h2.PING, flags=h2.ACK)),
    "4.2 DATA of 2^14": (lambda say: [say.post(), data(1, b"x" * 16384, True)], Response()),
    "4.2 DATA over 2^14": (lambda say: [say.post(), data(1, b"x" * 16385, True)], SIZE),
    "4.2 HEADERS over 2^14": (
        lambda say: [say.get(extra=[(f"x-long{number}", LONG_VALUE) for number in range(5)])], SIZE),
    "4.3 block that breaks off": (lambda say: [frame(h2.HEADERS, ES | EH, 1, b"\x40")], COMPRESSION),
    "4.3 PRIORITY within a block": (lambda say: [say.get(flags=0), priority(1), say.rest()], PROTOCOL),
    "4.3 HEADERS within a block": (lambda say: [say.get(flags=0), say.get(3), say.rest()], PROTOCOL),
    "5.1 idle: DATA": (lambda say: [data(1, b"test", True)], PROTOCOL),
    "5.1 idle: RST_STREAM": (lambda say: [rst_stream(1)], PROTOCOL),
    "5.1 idle: WINDOW_UPDATE": (lambda say: [window_update(1, 100)], PROTOCOL),
    "5.1 idle: CONTINUATION": (
        lambda say: [frame(h2.CONTINUATION, EH, 1, say.block(say.lines()))], PROTOCOL),
    "5.1 half-closed: DATA": (lambda say: [say.get(), data(1, b"test", True)], CLOSED),
    "5.1 half-closed: HEADERS": (lambda say: [say.get(), say.get()], CLOSED),
    "5.1 half-closed: CONTINUATION": (
        lambda say: [say.get(), frame(h2.CONTINUATION, EH, 1, say.block(say.lines()))], PROTOCOL),
    "5.1 reset by the client: DATA": (lambda say: [say.open(), rst_stream(1), data(1, b"test", True)], CLOSED),
    "5.1 reset by the client: HEADERS": (lambda say: [say.open(), rst_stream(1), say.get()], CLOSED),
    "5.1 reset by the client: CONTINUATION": (lambda say: [say.open(), rst_stream(1), say.rest()], PROTOCOL),
    "5.1 closed: DATA": (lambda say: [say.get(), answered, data(1, b"test", True)], CLOSED),
    "5.1 closed: HEADERS": (
        lambda say: [say.get(), answered, say.get()], ConnectionFails(h2.STREAM_CLOSED)),
    "5.1 closed: CONTINUATION": (lambda say: [say.get(), answered, say.rest()], PROTOCOL),
    "5.1.1 even stream": (lambda say: [say.get(2)], PROTOCOL),
    "5.1.1 lower stream": (lambda say: [say.get(5), say.get(3)], PROTOCOL),
    "5.1.2 one stream too many": (
        lambda say: [settings((h2.INITIAL_WINDOW_SIZE, 0)), one_stream_too_many], Passes()),
    "5.3 HEADERS that depend on themselves": (
        lambda say: [say.get(flags=ES | EH | h2.PRIORITY_FLAG, before=b"\0\0\0\x01\xff")], MALFORMED),
    "5.3 PRIORITY that depends on itself": (lambda say: [priority(1, 1)], PROTOCOL),
    "5.4.1 orderly end": (lambda say: in_two(h2.PING, 0, 3, bytes(8)), EndsOrderly()),
    "5.4.1 GOAWAY": (lambda say: in_two(h2.PING, 0, 3, bytes(8)), PROTOCOL),
    "5.5 unknown frame within a block": (lambda say: [say.get(flags=ES), *UNKNOWN], PROTOCOL),
}

FRAME_TYPES = {
    "6.1 DATA on stream 0": (lambda say: [data(0, b"test", True)], PROTOCOL),
    "6.1 DATA on a stream that has ended": (lambda say: [say.post(ES | EH), data(1, b"test", True)], CLOSED),
    "6.1 DATA with too much padding": (
        lambda say: [say.post(extra=[("content-length", "4")]), *in_two(h2.DATA, ES | PAD, 1, b"\x06test")], PROTOCOL),
    "6.2 HEADERS, then PRIORITY": (lambda say: [say.get(flags=0), priority(1), say.rest()], PROTOCOL),
    "6.2 HEADERS, then HEADERS of another": (lambda say: [say.get(flags=0), say.get(3), say.rest()], PROTOCOL),
    "6.2 HEADERS on stream 0": (lambda say: [say.get(0)], PROTOCOL),
    "6.2 HEADERS with too much padding": (
        lambda say: [frame(h2.HEADERS, ES | EH | PAD, 1, bytes([len(block) + 1]) + block)
                     for block in [say.block(say.lines())]], PROTOCOL),
    "6.3 PRIORITY on stream 0": (lambda say: [priority(0)], PROTOCOL),
    "6.3 PRIORITY of 4 bytes": (
        lambda say: [say.get(), *in_two(h2.PRIORITY, 0, 1, b"\x80\0\0\x01")], StreamFails(h2.FRAME_SIZE_ERROR)),
    "6.3 PRIORITY of 4 bytes, closed": (
        lambda say: [say.get(), answered, *in_two(h2.PRIORITY, 0, 1, b"\x80\0\0\x01")],
        StreamFails(h2.FRAME_SIZE_ERROR)),
    "6.4 RST_STREAM on stream 0": (lambda say: [rst_stream(0)], PROTOCOL),
    "6.4 RST_STREAM on an idle stream": (lambda say: [rst_stream(1)], PROTOCOL),
    "6.4 RST_STREAM of 3 bytes": (lambda say: [say.get(), *in_two(h2.RST_STREAM, 0, 1, bytes(3))], SIZE),
    "6.5 ACK with a payload": (lambda say: in_two(h2.SETTINGS, h2.ACK, 0, b"\0"), SIZE),
    "6.5 SETTINGS on a stream": (lambda say: in_two(h2.SETTINGS, 0, 1, b"\0\x03\0\0\0\x64"), PROTOCOL),
    "6.5 SETTINGS of 3 bytes": (lambda say: in_two(h2.SETTINGS, 0, 0, b"\0\x03\0"), SIZE),
    "6.5.2 ENABLE_PUSH 2": (lambda say: [settings((h2.ENABLE_PUSH, 2))], PROTOCOL),
    "6.5.2 INITIAL_WINDOW_SIZE 2^31": (lambda say: [settings((h2.INITIAL_WINDOW_SIZE, 1 << 31))], FLOW),
    "6.5.2 MAX_FRAME_SIZE below 2^14": (lambda say: [settings((h2.MAX_FRAME_SIZE, 16383))], PROTOCOL),
    "6.5.2 MAX_FRAME_SIZE 2^24": (lambda say: [settings((h2.MAX_FRAME_SIZE, 1 << 24))], PROTOCOL),
    "6.5.2 unknown setting": (lambda say: [settings((0xFF, 1))], Usable()),
    "6.5.3 the last value counts": (
        lambda say: [settings((h2.INITIAL_WINDOW_SIZE, 100), (h2.INITIAL_WINDOW_SIZE, 1)), acked, say.get()], ONE_BYTE),
    "6.5.3 ACK": (lambda say: [settings((h2.ENABLE_PUSH, 0))], ACKED),
    "6.7 PING, not asked for": (lambda say: [frame(h2.PING, h2.ACK, 0, b"unasked\0")], Usable(b"asked\0\0\0")),
    "6.7 PING on a stream": (lambda say: in_two(h2.PING, 0, 1, bytes(8)), PROTOCOL),
    "6.7 PING of 6 bytes": (lambda say: in_two(h2.PING, 0, 0, bytes(6)), SIZE),
    "6.8 GOAWAY on a stream": (lambda say: in_two(h2.GOAWAY, 0, 1, bytes(8)), PROTOCOL),
    "6.9 WINDOW_UPDATE by 0, connection": (lambda say: [window_update(0, 0)], PROTOCOL),
    "6.9 WINDOW_UPDATE by 0, stream": (lambda say: [say.open(), window_update(1, 0)], MALFORMED),
    "6.9 WINDOW_UPDATE of 3 bytes": (lambda say: in_two(h2.WINDOW_UPDATE, 0, 0, b"\0\0\x01"), SIZE),
    "6.9.1 initial window of 1": (
        lambda say: [settings((h2.INITIAL_WINDOW_SIZE, 1)), acked, say.get()], ONE_BYTE),
    "6.9.1 window over 2^31-1, connection": (lambda say: [window_update(0, MOST)] * 2, FLOW),
    "6.9.1 window over 2^31-1, stream": (
        lambda say: [say.open(), window_update(1, MOST), window_update(1, MOST)],
        Gets(h2.RST_STREAM, stream=1, code=h2.FLOW_CONTROL_ERROR)),
    "6.9.2 initial window that grows": (
        lambda say: [settings((h2.INITIAL_WINDOW_SIZE, 0)), acked, say.get(), settings((h2.INITIAL_WINDOW_SIZE, 1))],
        ONE_BYTE),
    "6.9.2 negative window": (
        lambda say: [settings((h2.INITIAL_WINDOW_SIZE, 3)), acked, say.get(), any_data,
                     settings((h2.INITIAL_WINDOW_SIZE, 2)), acked, window_update(1, 2)],
        Gets(h2.DATA, stream=1, payload=BODY[3:4])),
    "6.9.2 initial window of 2^31": (lambda say: in_two(h2.SETTINGS, 0, 0, b"\0\x04\x80\0\0\0"), FLOW),
    "6.10 CONTINUATION with long lines": (
        lambda say: [say.get(flags=ES), say.rest(end=False), say.rest()], Response()),
    "6.10 CONTINUATION, then DATA": (
        lambda say: [say.post(0), say.rest(end=False), data(1, b"test", True)], PROTOCOL),
    "6.10 CONTINUATION on stream 0": (lambda say: [say.get(flags=ES), say.rest(0)], PROTOCOL),
    "6.10 CONTINUATION after END_HEADERS": (lambda say: [say.get(), say.rest()], PROTOCOL),
    "6.10 CONTINUATION after the last one": (lambda say: [say.get(flags=ES), say.rest(), say.rest()], PROTOCOL),
    "6.10 CONTINUATION after DATA": (
        lambda say: [say.post(0), data(1, b"test", True), say.rest(end=False), say.rest(0)], PROTOCOL),
    "7 GOAWAY with an unknown code": (lambda say: [goaway(0, 0xFF)], UsableOrEnds()),
    "7 RST_STREAM with an unknown code": (lambda say: [say.post(), rst_stream(1, 0xFF)], Usable()),
}


def with_line(name, value):
    return lambda say: [say.get(extra=[(name, value)])], MALFORMED


def with_trailers(name, value, flags=EH):
    return lambda say: [say.post(), data(1, b"test"), say.headers([(name, value)], flags=flags)], MALFORMED


MESSAGES = {
    "8.1 second HEADERS without END_STREAM": with_trailers("x-test", "ok"),
    "8.2.1 upper case": with_line("X-TEST", "ok"),
    "8.3 unknown pseudo-field": with_line(":test", "ok"),
    "8.3 pseudo-field of responses": with_line(":status", "200"),
    "8.3 pseudo-field in trailers": with_trailers(":method", "POST"),
    "8.3 pseudo-field in trailers that end the stream": with_trailers(":method", "POST", ES | EH),
    "8.3 pseudo-fields after a regular one": (
        lambda say: [say.headers([("x-test", "ok"), *say.lines()])], MALFORMED),
    "8.2.2 connection": with_line("connection", "keep-alive"),
    "8.2.2 te": (lambda say: [say.get(extra=[("trailers", "test"), ("te", "trailers, deflate")])], MALFORMED),
    "8.3.1 empty :path": (
        lambda say: [say.headers([(name, "" if name == ":path" else said) for name, said in say.lines()])], MALFORMED),
    "8.3.1 neither :method nor :scheme": (lambda say: [say.without(":method", ":scheme")], MALFORMED),
    "8.3.1 no :method": (lambda say: [say.without(":method")], MALFORMED),
    "8.3.1 no :scheme": (lambda say: [say.without(":scheme")], MALFORMED),
    "8.3.1 no :path": (lambda say: [say.without(":path")], MALFORMED),
    "8.3.1 :method twice": (lambda say: [say.twice(":method")], MALFORMED),
    "8.3.1 :scheme twice": (lambda say: [say.twice(":scheme")], MALFORMED),
    "8.3.1 :path twice": (lambda say: [say.twice(":path")], MALFORMED),
    "8.1.1 content-length that lies": (
        lambda say: [say.post(extra=[("content-length", "1")]), data(1, b"test", True)], MALFORMED),
    "8.1.1 content-length that lies, several DATA": (
        lambda say: [say.post(extra=[("content-length", "1")]), data(1, b"test"), data(1, b"test", True)], MALFORMED),
    "8.4 PUSH_PROMISE": (
        lambda say: [frame(h2.PUSH_PROMISE, EH, 1, struct.pack(">I", 3) + say.block(say.lines()))], PROTOCOL),
}

CASES = EXCHANGES | HPACK | FRAMES_AND_STREAMS | FRAME_TYPES | MESSAGES
NEEDS_BODY = ("5.1 half-closed: WINDOW_UPDATE", "5.1 half-closed: PRIORITY", "5.1.2", "6.5.3 the last",
              "6.9.1 initial", "6.9.2 initial window that grows", "6.9.2 negative")


def at_once(request):
    return response(b"" if request.method == "HEAD" else BODY)


def late(request):
    time.sleep(LATE_SECONDS)
    return at_once(request)


def with_nothing(_):
    return response()


ANSWERS = {"at once": at_once, "late": late, "with nothing": with_nothing}


@pytest.fixture(scope="module")
def proxies(start_shared_proxy, start_shared_origin, localhost_pair):
    return {name: start_shared_proxy(forward_to(start_shared_origin(replying(made)), tls_pair=localhost_pair))
            for name, made in ANSWERS.items()}


@pytest.fixture(scope="module", params=["clear", "tls"])
def connect(request, authority):
    """connect(proxy) gives a client; connect.scheme is that of its requests."""
    tls = client_context(authority.certificate, alpn=("h2",)) if request.param == "tls" else None

    def made(proxy, **options):
        port = proxy.port if tls is None else proxy.tls_port
        return FrameClient(port, (h2.INITIAL_WINDOW_SIZE, 65535), tls=tls, timeout=REACTION_SECONDS, **options)
    made.scheme = "http" if tls is None else "https"
    return made


def run(name, connect, proxy):
    sent, expected = CASES[name]
    with connect(proxy) as client:
        for step in sent(Speech(connect.scheme)):
            step(client) if callable(step) else client.try_send(step)
        expected.check(client)


@pytest.mark.parametrize("name", CASES)
def test_with_an_origin_that_answers_at_once(connect, proxies, name):
    run(name, connect, proxies["at once"])


def test_an_invalid_preface_ends_in_order(connect, proxies):
    with connect(proxies["at once"], handshake=False) as client:
        client.send(b"INVALID CONNECTION PREFACE\r\n\r\n")
        PROTOCOL.check(client)


@pytest.mark.parametrize("answers", ["late", "with nothing"])
def test_with_an_origin_that_answers(connect, proxies, answers):
    """All cases side by side, since each of them waits."""
    names = [name for name in CASES if answers == "late" or not name.startswith(NEEDS_BODY)]

    def failure(name):
        try:
            run(name, connect, proxies[answers])
        except (AssertionError, ConnectionEnded, OSError) as error:
            return f"{name}: {error!r}"
        return None
    with ThreadPoolExecutor(16) as pool:
        failures = [found for found in pool.map(failure, names) if found]
    assert not failures, "\n".join(failures)
