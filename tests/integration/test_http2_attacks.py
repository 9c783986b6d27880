# SPDX-License-Identifier: MIT
"""What a hostile HTTP/2 client, or origin, can do: it ends its own connection and costs nobody else
anything. In each test somebody else is served throughout, and the memory of the process stays
within bounds."""

import socket
import struct
import threading
import time

import pytest
from harness import frames as h2
from harness.frames import FrameClient, FrameOrigin, data, frame, headers, post, request_lines
from harness.frames import rst_stream, settings, window_update
from harness.message import ConnectionEnded
from harness.origin import response
from harness.proxy import forward_to, is_sanitized
from harness.raw import RawClient
from harness.wait import scaled, wait_until

BODY = b"y" * 1000
MIB = 1024 * 1024


def answers(connection):
    for request in connection.requests_until_end():
        if request.target.startswith("/held"):
            connection.read_to_end()
            return
        size = int(request.target[5:]) if request.target.startswith("/size") else len(BODY)
        connection.send(response(b"y" * size))


@pytest.fixture(scope="module")
def origin(start_shared_origin):
    return start_shared_origin(answers)


@pytest.fixture(scope="module")
def shared(start_shared_proxy, origin):
    proxy = start_shared_proxy(forward_to(origin))
    with FrameClient(proxy.port) as client:  # So that what is allocated once counts for nobody.
        for stream in range(1, 200, 2):
            client.get(stream)
    return proxy


class Bystander:
    """Somebody on a connection of his own, who has to be served as if nothing happened."""

    def __init__(self, proxy):
        self.proxy = proxy
        self.client = FrameClient(proxy.port)
        self.stream = -1
        self.memory = proxy.rss_bytes

    def __enter__(self):
        self.check()
        return self

    def check(self):
        self.stream += 2
        begin = time.monotonic()
        head, body, _ = self.client.get(self.stream)
        assert (head.status, body) == (200, BODY)
        assert time.monotonic() - begin < 5

    def grew(self):
        return self.proxy.rss_bytes - self.memory

    def __exit__(self, kind, *_):
        if kind is None:
            self.check()
            bound = 64 * MIB if is_sanitized() else 16 * MIB
            assert self.grew() < bound, f"memory grew by {self.grew() / MIB:.1f} MiB"
        self.client.connection.close()


@pytest.fixture
def proxy(shared):
    with Bystander(shared):
        yield shared


def attack(client, pieces, at_most, code=h2.ENHANCE_YOUR_CALM):
    """Sends one piece after the other until the proxy ends the connection, which has to happen
    within that many; returns how many were taken."""
    sent = 0
    batch = []
    client.connection.sock.settimeout(0.001)
    for piece in pieces:
        batch.append(piece)
        sent += 1
        if len(batch) == 50:
            try:
                client.send(*batch)
            except (TimeoutError, OSError):
                break
            batch = []
        if sent >= at_most:
            break
    else:
        client.try_send(*batch)
    client.connection.sock.settimeout(15)
    how, got = client.fate()
    assert (how, got) == ("goaway", code), f"after {sent}: {how} {got}"
    return sent


def forever(*pieces):
    while True:
        yield b"".join(pieces)


# ---- Resets


def opened_and_reset(path="/held", code=h2.CANCEL):
    for stream in range(1, 1 << 31, 2):
        yield h2.get(stream, path) + rst_stream(stream, code)


def test_rapid_reset(proxy, origin):
    """CVE-2023-44487: streams that are cancelled as soon as they are opened."""
    before = len(origin.heads)
    with FrameClient(proxy.port) as client:
        attack(client, opened_and_reset(), 2000)
    assert len(origin.heads) - before < 400


def test_rapid_reset_in_pieces_that_each_wait(proxy):
    """The same, slowly enough that the requests get to the origin."""
    with FrameClient(proxy.port) as client:
        client.answers = True
        for count, piece in enumerate(opened_and_reset()):
            if not client.try_send(piece, frame(h2.PING, 0, 0, bytes(8)) if count % 4 == 0 else b""):
                break
            if count > 300:
                break
        assert client.fate() == ("goaway", h2.ENHANCE_YOUR_CALM)


def test_a_client_that_cancels_now_and_then_is_served(proxy):
    with FrameClient(proxy.port) as client:
        for stream in range(1, 160, 2):
            client.send(h2.get(stream, "/held"), rst_stream(stream))
            if stream % 16 == 1:
                client.ping()
        head, body, _ = client.get(1001)
        assert (head.status, body) == (200, BODY)


def test_answered_streams_that_are_reset_do_not_count(proxy):
    """RST_STREAM after the complete response is no waste."""
    with FrameClient(proxy.port) as client:
        for stream in range(1, 800, 2):
            client.send(post(stream))
            client.send(data(stream, b"x", True))
            client.wait_message(stream)
            client.send(rst_stream(stream))
        client.ping()


MADE_YOU_RESET = {
    "WINDOW_UPDATE by zero": lambda stream: window_update(stream, 0),
    "WINDOW_UPDATE over 2^31-1": lambda stream: window_update(stream, 0x7FFFFFFF) * 2,
    "DATA after END_STREAM": lambda stream: data(stream, b"x"),
    "HEADERS after END_STREAM": lambda stream: headers(stream, [("x-a", "b")]),
    "PRIORITY of 4 bytes": lambda stream: frame(h2.PRIORITY, 0, stream, bytes(4)),
    "PRIORITY depends on itself": lambda stream: frame(h2.PRIORITY, 0, stream, struct.pack(">IB", stream, 1)),
}


@pytest.mark.parametrize("name", MADE_YOU_RESET)
def test_made_you_reset(proxy, name):
    """CVE-2025-8671: it is we who reset, because of what the client does to its own requests."""
    wrong = MADE_YOU_RESET[name]
    with FrameClient(proxy.port) as client:
        attack(client, (h2.get(stream, "/held") + wrong(stream) for stream in range(1, 1 << 31, 2)), 2000)


MALFORMED = {
    "pseudo-field twice": lambda stream: headers(stream, [*request_lines(), (":path", "/")]),
    "upper case": lambda stream: headers(stream, request_lines(extra=[("X-A", "b")])),
    "content-length that lies": lambda stream: post(stream, extra=[("content-length", "1")]) + data(stream, b"xx", True),
    "no :path": lambda stream: headers(stream, request_lines()[:2]),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_malformed_requests_in_numbers(proxy, name):
    with FrameClient(proxy.port) as client:
        attack(client, (MALFORMED[name](stream) for stream in range(1, 1 << 31, 2)), 2000)


def test_streams_over_the_limit_in_numbers(proxy):
    with FrameClient(proxy.port) as client:
        client.ping()
        attack(client, (h2.get(stream, "/held") for stream in range(1, 1 << 31, 2)), 2000)


# ---- Floods of frames


FLOODS = {
    "SETTINGS": settings(),
    "SETTINGS with values": settings((h2.INITIAL_WINDOW_SIZE, 1), (h2.INITIAL_WINDOW_SIZE, 70_000)),
    "SETTINGS with header tables": settings((h2.HEADER_TABLE_SIZE, 0), (h2.HEADER_TABLE_SIZE, 65_536)),
    "SETTINGS ACK": settings(ack=True),
    "PING": frame(h2.PING, 0, 0, bytes(8)),
    "PING ACK": frame(h2.PING, h2.ACK, 0, bytes(8)),
    "PRIORITY": frame(h2.PRIORITY, 0, 1, struct.pack(">IB", 3, 1)),
    "PRIORITY_UPDATE": frame(h2.PRIORITY_UPDATE, 0, 0, struct.pack(">I", 1) + b"u=1"),
    "WINDOW_UPDATE of the connection": window_update(0, 1),
    "WINDOW_UPDATE of a stream": window_update(1, 1),
    "empty DATA": data(1),
    "DATA of padding": frame(h2.DATA, h2.PADDED, 1, b"\x00"),
    "unknown frames": frame(99, 0, 0, b"x"),
    "GOAWAY": h2.goaway(0),
    "RST_STREAM of a closed stream": rst_stream(1),
}


@pytest.mark.parametrize("name", FLOODS)
def test_floods_of_frames(proxy, name):
    with FrameClient(proxy.port) as client:
        client.send(post(1, "/held"))
        if name == "RST_STREAM of a closed stream":
            client.send(rst_stream(1))
        if name == "GOAWAY":
            client.send(post(3, "/held"))  # Keeps the connection.
        sent = attack(client, forever(FLOODS[name]), 30_000)
    assert sent <= 30_000


def test_the_operator_hears_of_floods_once(start_proxy, origin):
    """What it was and what it came with, but not a line for each connection."""
    proxy = start_proxy(forward_to(origin))
    for _ in range(3):
        with FrameClient(proxy.port) as client:
            client.send(post(1, "/held"))
            attack(client, forever(FLOODS["PING"]), 30_000)
    lines = [line for line in proxy.error_path.read_text().splitlines() if "HTTP/2 connection with client 127.0.0.1 ended" in line]
    assert len(lines) == 1, lines
    assert "too many PING frames (error 11; 1 streams, 0 refused," in lines[0]
    assert int(lines[0].split(" PING, ")[0].rsplit(" ", 1)[1]) > 64


def test_a_reader_of_nothing_can_not_make_answers_pile_up(shared):
    """PING is answered, but not into memory without end: 10 MB of it against a reader that waits."""
    with Bystander(shared) as other, FrameClient(shared.port, receive_buffer=4096) as client:
        client.connection.sock.settimeout(0.5)
        try:
            for _ in range(200):
                client.send(frame(h2.PING, 0, 0, bytes(8)) * 3000)
        except OSError:
            pass
        other.check()
        client.connection.sock.settimeout(15)
        assert client.fate() == ("goaway", h2.ENHANCE_YOUR_CALM)
        assert len([got for got in client.reader.seen if got.kind == h2.PING]) < 200


def continuation_flood(flags_of_first=0, payload=b"", end=False):
    yield headers(1, b"", end_headers=False, flags=flags_of_first)
    while True:
        yield frame(h2.CONTINUATION, h2.END_HEADERS if end else 0, 1, payload)


@pytest.mark.parametrize("size", [0, 1, 1000, 16384])
def test_continuation_flood(proxy, size):
    """CVE-2024-27316 and its relatives: a head that never ends, in frames of any size."""
    with FrameClient(proxy.port) as client:
        attack(client, continuation_flood(payload=h2.literal("x", "y" * 100)[:size] if size < 100 else
                                          (h2.literal("x", "y" * (size - 8)))), 500)


def test_a_head_that_is_never_finished(start_proxy, origin):
    keys = {"limits": {"maxOpenHeaderBlockDurationSeconds": 0.3}}
    proxy = start_proxy(forward_to(origin, server=keys))
    with FrameClient(proxy.port) as client:
        begin = time.monotonic()
        client.send(headers(1, b"", end_headers=False))
        assert client.fate() == ("goaway", h2.ENHANCE_YOUR_CALM)
        assert 0.2 < time.monotonic() - begin < 5
    with FrameClient(proxy.port) as client:  # The head of a frame, and no payload.
        client.send(h2.get(1)[:20])
        assert client.fate() == ("goaway", h2.ENHANCE_YOUR_CALM)


# ---- Header bombs


def test_hpack_bomb_of_references(proxy):
    """A large line in the table, and a block of one-byte references to it: 4 KiB × 16,000."""
    line = b"\x40" + b"\x01x" + h2._string(b"b" * 3900)
    with FrameClient(proxy.port) as client:
        client.send(headers(1, h2.block_of(request_lines()) + line))
        assert client.wait_message(1)[0].status == 200
        client.send(headers(3, h2.block_of(request_lines()) + b"\xbe" * 16_000))
        assert client.wait_message(3)[0].status == 431
        client.ping()
        assert client.get(5)[0].status == 200


def test_hpack_bombs_in_numbers(proxy):
    line = b"\x40" + b"\x01x" + h2._string(b"b" * 3900)
    bomb = h2.block_of(request_lines()) + b"\xbe" * 12_000
    with FrameClient(proxy.port) as client:
        client.send(headers(1, h2.block_of(request_lines()) + line))
        client.wait_message(1)
        for stream in range(3, scaled(100, 2000), 2):
            client.send(headers(stream, bomb))
            assert client.wait_message(stream)[0].status == 431


@pytest.mark.parametrize("count, status", [(200, 200), (300, 431), (5000, 431)])
def test_too_many_fields(proxy, count, status):
    with FrameClient(proxy.port) as client:
        block = h2.block_of(request_lines()) + b"".join(h2.literal("a", "") for _ in range(count))
        client.send(headers(1, block[:16000], end_headers=False), frame(h2.CONTINUATION, h2.END_HEADERS, 1, block[16000:]))
        assert client.wait_message(1)[0].status == status
        assert client.get(3)[0].status == 200


def test_a_head_that_is_too_large_is_431(proxy):
    lines = h2.block_of(request_lines()) + b"".join(h2.literal(f"x-{i}", "v" * 5000) for i in range(30))
    with FrameClient(proxy.port) as client:
        pieces = [lines[at:at + 16384] for at in range(0, len(lines), 16384)]
        client.send(headers(1, pieces[0], end_headers=False), *(
            frame(h2.CONTINUATION, 0 if at < len(pieces) - 1 else h2.END_HEADERS, 1, piece)
            for at, piece in enumerate(pieces) if at))
        assert client.wait_message(1)[0].status == 431
        assert client.get(3)[0].status == 200


def test_cookie_crumbs_count(proxy):
    with FrameClient(proxy.port) as client:
        client.send(headers(1, h2.block_of(request_lines()) + b"\x60\x03a=b" + b"\xbe" * 10_000))
        assert client.wait_message(1)[0].status == 431
        client.ping()


def test_large_trailers(proxy):
    with FrameClient(proxy.port) as client:
        lines = h2.block_of([(f"x-{i}", "v" * 1000) for i in range(30)])
        client.send(post(1, "/held"), data(1, b"x"), headers(1, lines[:16000], end_headers=False),
                    frame(h2.CONTINUATION, h2.END_HEADERS, 1, lines[16000:]))
        how, what = client.fate(1)
        assert (how, what) in (("reset", h2.CANCEL), ("response", 431))
        client.ping()


def test_table_size_updates_in_numbers(proxy):
    """A block of nothing but size updates."""
    with FrameClient(proxy.port) as client:
        client.send(headers(1, b"\x20" * 16_000))
        how, code = client.fate(1)
        assert (how, code) in (("goaway", h2.COMPRESSION_ERROR), ("reset", h2.PROTOCOL_ERROR))


# ---- Stalls


def short_timeouts(**more):
    return {"timeouts": {"connectionTimeOutSeconds": 0.5, "clientHeaderTimeoutSeconds": 0.5} | more}


@pytest.fixture(scope="module")
def impatient(start_shared_proxy, origin):
    return start_shared_proxy(forward_to(origin, server=short_timeouts()))


def closes_within(client, seconds):
    begin = time.monotonic()
    client.read_to_end()
    assert time.monotonic() - begin < seconds


@pytest.mark.parametrize("said", [b"", b"P", h2.PREFACE[:10], h2.PREFACE[:-1], h2.PREFACE,
                                  h2.PREFACE + settings()[:5], h2.PREFACE + settings()],
                         ids=["nothing", "P", "half", "almost", "preface", "half SETTINGS", "SETTINGS"])
def test_a_client_that_says_no_more(impatient, said):
    with RawClient(impatient.port) as client:
        client.send(said)
        closes_within(client, 6)


def test_a_preface_byte_by_byte_does_not_last(impatient):
    with RawClient(impatient.port) as client:
        begin = time.monotonic()
        for byte in h2.PREFACE[:-1]:
            if not client.try_send(bytes([byte])):
                break
            time.sleep(0.1)  # The time it takes is what is tested.
        closes_within(client, 5)
        assert time.monotonic() - begin < 5


def test_pings_do_not_keep_a_connection_alive(impatient):
    """Only requests do."""
    with FrameClient(impatient.port) as client:
        begin = time.monotonic()
        try:
            while time.monotonic() - begin < 8:
                client.ping()
                time.sleep(0.2)
        except (ConnectionEnded, OSError, AssertionError):
            pass
        assert time.monotonic() - begin < 6


def test_a_window_of_zero_ends_the_stream_alone(impatient):
    with FrameClient(impatient.port, (h2.INITIAL_WINDOW_SIZE, 0)) as client:
        client.send(h2.get(1))
        how, code = client.fate(1)
        assert (how, code) == ("reset", h2.CANCEL)
        client.ping()


def test_a_connection_window_that_stays_closed_ends_its_streams(impatient):
    with FrameClient(impatient.port, (h2.INITIAL_WINDOW_SIZE, 1 << 30)) as client:
        client.send(h2.get(1, "/size70000"))
        how, _ = client.fate(1)
        assert how in ("reset", "goaway", "closed")


def test_a_window_that_opens_by_single_bytes(proxy):
    """CVE-2019-9511: each byte of the window would cost a frame of ours."""
    with FrameClient(proxy.port, (h2.INITIAL_WINDOW_SIZE, 0)) as client:
        client.send(h2.get(1, "/size100000"))
        attack(client, forever(window_update(1, 1)), 60_000)


def test_many_streams_that_nobody_reads(shared):
    """256 responses of 64 KiB against windows of nothing: what is kept for each is bounded."""
    with Bystander(shared) as other, FrameClient(shared.port, (h2.INITIAL_WINDOW_SIZE, 0)) as client:
        client.send(*(h2.get(stream, "/size1000000") for stream in range(1, 200, 2)))
        for stream in range(1, 200, 2):
            client.wait_head(stream) if stream == 1 else None
        client.ping()
        other.check()
        assert other.grew() < (128 if is_sanitized() else 48) * MIB


def test_a_client_that_is_half_closed_is_gone(shared):
    """HTTP/2 has no half-closed connections: what was asked is dropped, at the origin, too."""
    with FrameClient(shared.port) as client:
        client.send(h2.get(1, "/held"))
        client.connection.half_close()
        client.read_to_end()


def test_a_body_that_does_not_come(impatient):
    with FrameClient(impatient.port) as client:
        client.send(post(1, "/held", [("content-length", "10")]), data(1, b"x"))
        how, what = client.fate(1)
        assert (how, what) in (("response", 408), ("reset", h2.NO_ERROR))


def test_an_upload_that_nobody_wants_is_stopped(start_proxy, start_origin):
    """The origin has answered and closed; the client goes on sending for ever."""
    def early(connection):
        if connection.read_head() is not None:
            connection.send(response(b"enough", fields=[("Connection", "close")]))
            connection.half_close()
    proxy = start_proxy(forward_to(start_origin(early)))
    with FrameClient(proxy.port) as client:
        client.send(post(1))
        credit, sent = 256 * 1024, 0
        got_response = False
        while sent < 64 * MIB:
            while credit >= 16384:
                client.send(data(1, bytes(16384)))
                credit -= 16384
                sent += 16384
            got = client.read()
            if got.kind == h2.WINDOW_UPDATE and got.stream == 1:
                credit += int.from_bytes(got.payload, "big")
            got_response = got_response or got.kind == h2.HEADERS
            if got.kind == h2.RST_STREAM:
                assert got.code == h2.NO_ERROR and got_response
                break
        else:
            raise AssertionError("64 MiB were taken for nothing")
        client.ping()


# ---- Smuggling: what HTTP/2 can say and HTTP/1 can not


BAD_BYTES = {"CRLF": "\r\n", "LF": "\n", "CR": "\r", "NUL": "\0"}
SMUGGLED = "x{}Transfer-Encoding: chunked{}{}GET /evil HTTP/1.1{}Host: a{}{}"


def smuggling():
    for name, bad in BAD_BYTES.items():
        text = SMUGGLED.format(*[bad] * 6)
        yield f"{name} in a value", request_lines(extra=[("x-a", text)])
        yield f"{name} in a name", request_lines(extra=[(f"x-a{bad}host", "b")])
        yield f"{name} in a name, at its end", request_lines(extra=[(f"x-a{bad}", "b")])
        yield f"{name} in :path", request_lines(path=f"/a HTTP/1.1{bad}Host: b{bad}{bad}")
        yield f"{name} in :method", request_lines(method=f"GET / HTTP/1.1{bad}Host: b{bad}{bad}GET")
        yield f"{name} in :authority", request_lines(authority=f"localhost{bad}x-a: b")
        yield f"{name} in :scheme", request_lines(scheme=f"http{bad}x")
        yield f"{name} in host", request_lines(extra=[("host", f"localhost{bad}x")])
        yield f"{name} in cookie", request_lines(extra=[("cookie", f"a=b{bad}x: y")])
        yield f"{name} in content-length", request_lines("POST", extra=[("content-length", f"0{bad}")])
    for target in ("a", "//a b", "/a b", "/a\tb", "http://evil/", "*", "/a#b", "/\x7f", "/\x80 ", ""):
        yield f":path {target!r}", request_lines(path=target)
    for method in ("", "GET ", " GET", "GE T", "GET\t", "G:T", "G/T", "x" * 100):
        yield f":method {method[:9]!r}", request_lines(method=method)
    for authority in ("", "a b", "a/b", "user@a", "a:b", "a:99999", "a?b", "a#b", "[::1", "a\\b", "a\tb"):
        yield f":authority {authority!r}", request_lines(authority=authority)
    for scheme in ("", "ftp", "http ", "httpx", "http://a/?", "http:"):
        yield f":scheme {scheme!r}", request_lines(scheme=scheme)
    yield "transfer-encoding", request_lines("POST", extra=[("transfer-encoding", "chunked")])
    yield "transfer-encoding identity", request_lines(extra=[("transfer-encoding", "identity")])
    yield "transfer-encoding with a blank", request_lines(extra=[("transfer-encoding ", "chunked")])
    yield "transfer-encoding, blank first", request_lines(extra=[(" transfer-encoding", "chunked")])
    yield "name with a colon", request_lines(extra=[("transfer-encoding:x", "chunked")])
    yield "name of bytes over 0x7f", request_lines(extra=[("x-\xff", "b")])
    yield "host and :authority differ", request_lines(extra=[("host", "evil")])
    yield "two hosts", request_lines(extra=[("host", "localhost"), ("host", "localhost")])
    yield "two content-lengths", request_lines("POST", extra=[("content-length", "4"), ("content-length", "5")])
    yield "content-length list", request_lines("POST", extra=[("content-length", "4, 4")])
    yield "content-length +", request_lines("POST", extra=[("content-length", "+4")])
    yield "content-length -", request_lines("POST", extra=[("content-length", "-1")])
    yield "content-length hex", request_lines("POST", extra=[("content-length", "0x4")])
    yield "content-length empty", request_lines("POST", extra=[("content-length", "")])
    yield "content-length 2^64", request_lines("POST", extra=[("content-length", str(1 << 64))])
    yield "connection: close", request_lines(extra=[("connection", "close, x-forwarded-for")])
    yield "upgrade and http2-settings", request_lines(extra=[("upgrade", "h2c"), ("http2-settings", "AAA")])
    yield "expect in two forms", request_lines(extra=[("te", "gzip")])


SMUGGLING = dict(smuggling())


@pytest.mark.parametrize("name", SMUGGLING)
def test_smuggling_from_http2_to_http1(proxy, origin, name):
    lines = SMUGGLING[name]
    before = len(origin.heads)
    with FrameClient(proxy.port) as client:
        client.send(headers(1, lines, end_stream=False), data(1, b"GET /evil HTTP/1.1\r\nHost: a\r\n\r\n", True))
        how, what = client.fate(1)
        assert (how, what) == ("reset", h2.PROTOCOL_ERROR)
        client.ping()
    assert len(origin.heads) == before
    origin.check()


LIES = {
    "longer": (("content-length", "3"), [b"123", b"GET /evil HTTP/1.1\r\nHost: a\r\n\r\n"]),
    "longer in one frame": (("content-length", "3"), [b"123GET /evil HTTP/1.1\r\nHost: a\r\n\r\n"]),
    "shorter": (("content-length", "90"), [b"123"]),
    "none at all": (("content-length", "0"), [b"GET /evil HTTP/1.1\r\nHost: a\r\n\r\n"]),
}


@pytest.mark.parametrize("name", LIES)
def test_lengths_of_requests_that_lie(proxy, origin, name):
    """RFC 9113 §8.1.1. What was sent of such a request is never completed, nor followed by another."""
    length, pieces = LIES[name]
    before = len(origin.requests)
    with FrameClient(proxy.port) as client:
        client.send(post(1, extra=[length]), *(data(1, piece) for piece in pieces[:-1]), data(1, pieces[-1], True))
        how, what = client.fate(1)
        assert (how, what) == ("reset", h2.PROTOCOL_ERROR)
        assert client.get(3)[1] == BODY
    assert [one.target for one in origin.requests[before:] if one.method == "POST"] == []
    assert not [one for one in origin.heads if "evil" in one.target]


def test_a_streamed_body_that_looks_like_chunks_stays_a_body(proxy, origin):
    evil = b"0\r\n\r\nGET /evil HTTP/1.1\r\nHost: a\r\n\r\n"
    before = len(origin.requests)
    with FrameClient(proxy.port) as client:
        client.send(post(1), data(1, evil, True))
        assert client.wait_message(1)[0].status == 200
    assert [one.body for one in origin.requests[before:] if one.method == "POST"] == [evil]


TRAILER_SMUGGLING = {
    "content-length": [("content-length", "5")], "transfer-encoding": [("transfer-encoding", "chunked")],
    "host": [("host", "evil")], "authorization": [("authorization", "x")], "CRLF": [("x-a", "b\r\nx-c: d")],
    "te": [("te", "gzip")],
}


@pytest.mark.parametrize("name", TRAILER_SMUGGLING)
def test_trailers_can_not_smuggle(proxy, origin, name):
    """Such a trailer is dropped, or the request is refused."""
    before = len(origin.requests)
    with FrameClient(proxy.port) as client:
        client.send(post(1, extra=[("te", "trailers")]), data(1, b"body"), headers(1, TRAILER_SMUGGLING[name]))
        how, what = client.fate(1)
        assert (how, what) in (("reset", h2.PROTOCOL_ERROR), ("response", 200))
    for request in origin.requests[before:]:
        if request.method == "POST":
            assert how == "response" and not request.trailers.lines


# ---- Responses of HTTP/2 origins that lie, to clients of HTTP/1


@pytest.mark.parametrize("sent, whole", [(b"1234567890", False), (b"12", False), (b"12345", True)])
def test_response_lengths_that_lie(start_proxy, start_origin, sent, whole):
    """A longer body must not run on into the next response of a kept connection."""
    def handle(connection):
        origin = FrameOrigin(connection)
        try:
            while True:
                got = origin.next_request()
                if dict(got.lines)[":path"] == "/lie":
                    origin.send(headers(got.stream, [(":status", "200"), ("content-length", "5")], end_stream=False),
                                data(got.stream, sent, True))
                else:
                    origin.respond(got.stream, body=b"truth")
        except ConnectionEnded:
            pass
    proxy = start_proxy(forward_to(start_origin(handle), upstreamHttpProtocol="http2"))
    with RawClient(proxy.port) as client:
        client.send(b"GET /lie HTTP/1.1\r\nHost: a\r\n\r\nGET /next HTTP/1.1\r\nHost: a\r\n\r\n")
        if whole:
            assert client.read_response().body == b"12345"
            assert client.read_response().body == b"truth"
        else:
            said, _ = client.read_to_end()
            assert b"truth" not in said
            assert said.count(b"HTTP/1.1 ") <= 1
            # Whatever came of it is not a complete message of five bytes.
            assert len(said.partition(b"\r\n\r\n")[2]) < 5
    with RawClient(proxy.port) as client:
        assert client.get("/next").body == b"truth"


# ---- Hostile origins


def origin_flood(start_proxy, start_origin, flood, prelude=b"", path="/flood"):
    """The client's request ends with 502 (or is cut), and the next one is served."""
    ended = threading.Event()

    def handle(connection):
        origin = FrameOrigin(connection)
        try:
            while True:
                got = origin.next_request()
                if dict(got.lines)[":path"] != path:
                    origin.respond(got.stream, body=b"ok")
                    continue
                stop = time.monotonic() + 10
                origin.send(prelude)
                connection.sock.settimeout(0.2)
                while time.monotonic() < stop:
                    origin.send(flood * 50)
        except (ConnectionEnded, OSError):
            pass
        ended.set()
    proxy = start_proxy(forward_to(start_origin(handle), upstreamHttpProtocol="http2"))
    with RawClient(proxy.port) as client:
        before = proxy.rss_bytes
        client.send(f"GET {path} HTTP/1.1\r\nHost: a\r\n\r\n")
        said, _ = client.read_to_end() if prelude else (b"", client.stream)
        if not prelude:
            assert client.read_response().status == 502
        assert ended.wait(12)
        assert proxy.rss_bytes - before < (64 if is_sanitized() else 16) * MIB
    with RawClient(proxy.port) as client:
        assert client.get("/next").body == b"ok"


@pytest.mark.parametrize("name", ["SETTINGS", "PING", "PRIORITY", "unknown frames", "WINDOW_UPDATE of the connection"])
def test_floods_from_an_origin(start_proxy, start_origin, name):
    origin_flood(start_proxy, start_origin, FLOODS[name])


def test_empty_data_from_an_origin(start_proxy, start_origin):
    origin_flood(start_proxy, start_origin, data(1), prelude=headers(1, [(":status", "200")], end_stream=False))


def test_continuation_flood_from_an_origin(start_proxy, start_origin):
    def handle(connection):
        origin = FrameOrigin(connection)
        try:
            got = origin.next_request()
            if dict(got.lines)[":path"] == "/flood":
                origin.send(headers(got.stream, [(":status", "200")], end_headers=False))
                for _ in range(1000):
                    origin.send(frame(h2.CONTINUATION, 0, got.stream, h2.literal("a", "b" * 1000)))
            else:
                origin.respond(got.stream, body=b"ok")
            origin.serve()
        except (ConnectionEnded, OSError):
            pass
    proxy = start_proxy(forward_to(start_origin(handle), upstreamHttpProtocol="http2"))
    with RawClient(proxy.port) as client:
        assert client.get("/flood").status == 502
        assert client.get("/next").body == b"ok"


def test_interim_responses_without_end_from_an_origin(start_proxy, start_origin):
    def handle(connection):
        origin = FrameOrigin(connection)
        try:
            while True:
                got = origin.next_request()
                for _ in range(200):
                    origin.send(headers(got.stream, [(":status", "103")], end_stream=False))
        except (ConnectionEnded, OSError):
            pass
    proxy = start_proxy(forward_to(start_origin(handle), upstreamHttpProtocol="http2"))
    with RawClient(proxy.port) as client:
        assert client.get("/").status == 502


def test_a_response_head_that_explodes(start_proxy, start_origin):
    def handle(connection):
        origin = FrameOrigin(connection)
        try:
            got = origin.next_request()
            origin.send(headers(got.stream, h2.literal(":status", "200") + b"\x40\x01x" + h2._string(b"b" * 3900)
                                + b"\xbe" * 12_000))
            origin.serve()
        except ConnectionEnded:
            pass
    proxy = start_proxy(forward_to(start_origin(handle), upstreamHttpProtocol="http2"))
    with RawClient(proxy.port) as client:
        assert client.get("/").status == 502


# ---- Many attackers at a time


def test_connections_that_only_greet_leave_nothing_behind(shared):
    with Bystander(shared) as other:
        before = shared.descriptors
        for _ in range(scaled(5, 50)):
            clients = [socket.create_connection(("127.0.0.1", shared.port)) for _ in range(100)]
            for number, client in enumerate(clients):
                client.sendall((h2.PREFACE + settings() + h2.get(1, "/held"))[:number % 60])
            other.check()
            for client in clients:
                client.close()
        wait_until(lambda: shared.descriptors <= before + 4, "all connections to be closed")
