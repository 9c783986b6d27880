# SPDX-License-Identifier: MIT
"""Strict framing (RFC 9112): what two parsers could take differently is refused on both legs, and
what is passed on is re-framed. The harness's reader checks every message that the proxy sends."""

import contextlib
import threading

import pytest
from harness.message import IncompleteMessage
from harness.origin import chunked_response, echo, replying, response
from harness.proxy import forward_to
from harness.raw import RawClient, client_context, simple_get
from harness.wait import free_port, scaled

SMUGGLED = b"GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n"


@pytest.fixture(scope="module")
def shared(start_shared_proxy, start_shared_origin):
    origin = start_shared_origin(replying(echo))
    return start_shared_proxy(forward_to(origin)), origin


@pytest.fixture
def echoing(shared):
    proxy, origin = shared
    origin.forget()
    return proxy, origin


def with_fields(*lines, method="POST", version="HTTP/1.1"):
    return f"{method} / {version}\r\nHost: a\r\n".encode() + b"".join(line + b"\r\n" for line in lines) + b"\r\n"


BAD_HEADS = {
    # RFC 9112 §6.3: how long is the body?
    "length and chunked": (400, with_fields(b"Content-Length: 4", b"Transfer-Encoding: chunked") + b"0\r\n\r\n"),
    "chunked and length": (400, with_fields(b"Transfer-Encoding: chunked", b"Content-Length: 4") + b"0\r\n\r\n"),
    "different lengths": (400, with_fields(b"Content-Length: 4", b"Content-Length: 5") + b"abcde"),
    "the same length twice": (400, with_fields(b"Content-Length: 4", b"Content-Length: 4") + b"abcd"),
    "a list of lengths": (400, with_fields(b"Content-Length: 4, 4") + b"abcd"),
    "a list of different lengths": (400, with_fields(b"Content-Length: 4, 5") + b"abcd"),
    "plus sign": (400, with_fields(b"Content-Length: +4") + b"abcd"),
    "minus sign": (400, with_fields(b"Content-Length: -4") + b"abcd"),
    "blank within a length": (400, with_fields(b"Content-Length: 1 0") + b"a"),
    "empty length": (400, with_fields(b"Content-Length:")),
    "hexadecimal length": (400, with_fields(b"Content-Length: 0x4") + b"abcd"),
    "letters behind a length": (400, with_fields(b"Content-Length: 4a") + b"abcd"),
    "fraction as length": (400, with_fields(b"Content-Length: 4.0") + b"abcd"),
    "length over 64 bits": ((400, 413), with_fields(b"Content-Length: 18446744073709551617") + b"a"),
    "length over 63 bits": ((400, 413), with_fields(b"Content-Length: 18446744073709551615") + b"a"),
    "unknown coding": (501, with_fields(b"Transfer-Encoding: xchunked")),
    "gzip": (501, with_fields(b"Transfer-Encoding: gzip")),
    "gzip and chunked": (501, with_fields(b"Transfer-Encoding: gzip, chunked") + b"0\r\n\r\n"),
    "chunked is not last": ((400, 501), with_fields(b"Transfer-Encoding: chunked, gzip") + b"0\r\n\r\n"),
    "chunked twice": ((400, 501), with_fields(b"Transfer-Encoding: chunked, chunked") + b"0\r\n\r\n"),
    "chunked in two lines": ((400, 501), with_fields(b"Transfer-Encoding: chunked", b"Transfer-Encoding: chunked") + b"0\r\n\r\n"),
    "chunked and identity": ((400, 501), with_fields(b"Transfer-Encoding: chunked", b"Transfer-Encoding: identity") + b"0\r\n\r\n"),
    "identity": ((400, 501), with_fields(b"Transfer-Encoding: identity")),
    "quoted chunked": ((400, 501), with_fields(b"Transfer-Encoding: \"chunked\"") + b"0\r\n\r\n"),
    "chunked with a parameter": ((400, 501), with_fields(b"Transfer-Encoding: chunked;q=1") + b"0\r\n\r\n"),
    "vertical tab before chunked": ((400, 501), with_fields(b"Transfer-Encoding: \x0bchunked") + b"0\r\n\r\n"),
    "empty coding": ((400, 501), with_fields(b"Transfer-Encoding:")),
    # RFC 9112 §5: field lines.
    "blank before the colon": (400, with_fields(b"Transfer-Encoding : chunked") + b"0\r\n\r\n"),
    "tab before the colon": (400, with_fields(b"Content-Length\t: 4") + b"abcd"),
    "blank before the first field": (400, b"GET / HTTP/1.1\r\n X: y\r\nHost: a\r\n\r\n"),
    "obs-fold": (400, with_fields(b"X-A: b", b" c")),
    "obs-fold with a tab": (400, with_fields(b"X-A: b", b"\tc")),
    "folded coding": (400, with_fields(b"Transfer-Encoding:", b" chunked") + b"0\r\n\r\n"),
    "no colon": (400, with_fields(b"NoColonHere")),
    "empty name": (400, with_fields(b": value")),
    "parenthesis in a name": (400, with_fields(b"X(y): 1")),
    "blank in a name": (400, with_fields(b"X y: 1")),
    "NUL in a name": (400, with_fields(b"X\x00Y: 1")),
    "high byte in a name": (400, with_fields(b"X\xc3\xa9: 1")),
    "NUL in a value": (400, with_fields(b"X: a\x00b")),
    "control byte in a value": (400, with_fields(b"X: a\x01b")),
    "DEL in a value": (400, with_fields(b"X: a\x7fb")),
    "bare CR in a value": (400, with_fields(b"X: a\rb")),
    "bare CR hides a field": (400, with_fields(b"X: a\rTransfer-Encoding: chunked")),
    "CR before CRLF": (400, with_fields(b"X: a\r")),
    "LF ends a field line": (400, b"GET / HTTP/1.1\r\nHost: a\nX: b\r\n\r\n"),
    "LF ends the request line": (400, b"GET / HTTP/1.1\nHost: a\r\n\r\n"),
    "LF everywhere": (400, b"GET / HTTP/1.1\nHost: a\n\n"),
    "LF ends the head": (400, b"GET / HTTP/1.1\r\nHost: a\r\n\n"),
    # RFC 9112 §3: the request line.
    "two blanks": (400, b"GET  / HTTP/1.1\r\nHost: a\r\n\r\n"),
    "tab as separator": (400, b"GET\t/\tHTTP/1.1\r\nHost: a\r\n\r\n"),
    "blank at the end": (400, b"GET / HTTP/1.1 \r\nHost: a\r\n\r\n"),
    "blank in front": (400, b" GET / HTTP/1.1\r\nHost: a\r\n\r\n"),
    "blank in the target": (400, b"GET /a b HTTP/1.1\r\nHost: a\r\n\r\n"),
    "no version": (400, b"GET /\r\nHost: a\r\n\r\n"),
    "no target": (400, b"GET HTTP/1.1\r\nHost: a\r\n\r\n"),
    "bare CR in the request line": (400, b"GET /\rx HTTP/1.1\r\nHost: a\r\n\r\n"),
    "NUL in the target": (400, b"GET /\x00 HTTP/1.1\r\nHost: a\r\n\r\n"),
    "control byte in the target": (400, b"GET /\x1f HTTP/1.1\r\nHost: a\r\n\r\n"),
    "fragment in the target": (400, b"GET /#f HTTP/1.1\r\nHost: a\r\n\r\n"),
    "relative target": (400, b"GET a HTTP/1.1\r\nHost: a\r\n\r\n"),
    "percent without digits": (400, b"GET /%zz HTTP/1.1\r\nHost: a\r\n\r\n"),
    "userinfo in the target": (400, b"GET http://u:p@a/ HTTP/1.1\r\nHost: a\r\n\r\n"),
    "empty authority in the target": (400, b"GET http:///x HTTP/1.1\r\nHost: a\r\n\r\n"),
    "unknown scheme": (400, b"GET ftp://a/ HTTP/1.1\r\nHost: a\r\n\r\n"),
    "not a token as method": (400, b"G(T / HTTP/1.1\r\nHost: a\r\n\r\n"),
    "empty method": (400, b" / HTTP/1.1\r\nHost: a\r\n\r\n"),
    "lower-case version": (400, b"GET / http/1.1\r\nHost: a\r\n\r\n"),
    "version of one digit": (400, b"GET / HTTP/1\r\nHost: a\r\n\r\n"),
    "version of three digits": (400, b"GET / HTTP/1.10\r\nHost: a\r\n\r\n"),
    "version 2 without a preface": ((400, 505), b"GET / HTTP/2.0\r\nHost: a\r\n\r\n"),
    "version 0.9": ((400, 505), b"GET / HTTP/0.9\r\nHost: a\r\n\r\n"),
    "another protocol": (400, b"SSH-2.0-OpenSSH_9.9\r\n\r\n"),
    "TLS on a clear port": (400, bytes.fromhex("16030100f5010000f10303") + b"\x00" * 40 + b"\n"),
    "CONNECT on a reverse listener": ((400, 405, 501), b"CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\n"),
    # RFC 9112 §3.2: Host.
    "no Host": (400, b"GET / HTTP/1.1\r\nX: y\r\n\r\n"),
    "two Hosts": (400, b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"),
    "the same Host twice": (400, b"GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n"),
    "blank in Host": (400, b"GET / HTTP/1.1\r\nHost: a b\r\n\r\n"),
    "path in Host": (400, b"GET / HTTP/1.1\r\nHost: a/b\r\n\r\n"),
    "userinfo in Host": (400, b"GET / HTTP/1.1\r\nHost: u@a\r\n\r\n"),
    "port over 65535": (400, b"GET / HTTP/1.1\r\nHost: a:65536\r\n\r\n"),
    "letters as port": (400, b"GET / HTTP/1.1\r\nHost: a:b\r\n\r\n"),
    "unclosed bracket in Host": (400, b"GET / HTTP/1.1\r\nHost: [::1\r\n\r\n"),
}


@pytest.mark.parametrize("name", BAD_HEADS)
def test_a_bad_request_head_is_refused_and_never_forwarded(echoing, name):
    proxy, origin = echoing
    statuses, text = BAD_HEADS[name]
    with RawClient(proxy.port) as client:
        client.try_send(text + SMUGGLED)
        answer = client.read_response()
        rest, _ = client.read_to_end()
    assert answer.status in (statuses if isinstance(statuses, tuple) else (statuses,)), answer
    assert "close" in answer.fields.tokens("Connection")
    assert rest == b"", "something behind a bad request was answered"
    assert origin.heads == [], "the origin saw a request"


BAD_CHUNKS = {
    "no size": b"\r\nabc\r\n0\r\n\r\n",
    "not hexadecimal": b"g\r\nabc\r\n0\r\n\r\n",
    "prefix 0x": b"0x3\r\nabc\r\n0\r\n\r\n",
    "plus sign": b"+3\r\nabc\r\n0\r\n\r\n",
    "minus sign": b"-3\r\nabc\r\n0\r\n\r\n",
    "blank in front": b" 3\r\nabc\r\n0\r\n\r\n",
    "blank behind": b"3 \r\nabc\r\n0\r\n\r\n",
    "more than 64 bits": b"10000000000000003\r\nabc\r\n0\r\n\r\n",
    "64 bits": b"ffffffffffffffff\r\nabc\r\n0\r\n\r\n",
    "many leading zeros": b"0" * 5000 + b"3\r\nabc\r\n0\r\n\r\n",
    "more than 1 GiB": b"40000001\r\nabc",
    "LF ends the size line": b"3\nabc\r\n0\r\n\r\n",
    "CR within the size line": b"3\r;a\r\nabc\r\n0\r\n\r\n",
    "data longer than its size": b"3\r\nabcd\r\n0\r\n\r\n",
    "data ends with LF": b"3\r\nabc\n0\r\n\r\n",
    "data ends with CR": b"3\r\nabc\r0\r\n\r\n",
    "data without an end": b"3\r\nabc0\r\n\r\n",
    "LF in an extension": b"3;a=\n\r\nabc\r\n0\r\n\r\n",
    "NUL in an extension": b"3;a=\x00\r\nabc\r\n0\r\n\r\n",
    "over-long extension": b"3;a=" + b"x" * 5000 + b"\r\nabc\r\n0\r\n\r\n",
    "many extensions": b"1;a=%s\r\nx\r\n" % (b"y" * 1000) * 100 + b"0\r\n\r\n",
    "trailer without a colon": b"0\r\nbad\r\n\r\n",
    "blank before the colon of a trailer": b"0\r\nX : y\r\n\r\n",
    "folded trailer": b"0\r\nX: y\r\n z\r\n\r\n",
    "LF ends a trailer": b"0\r\nX: y\n\r\n",
    "NUL in a trailer": b"0\r\nX: \x00\r\n\r\n",
}


@pytest.mark.parametrize("name", BAD_CHUNKS)
@pytest.mark.parametrize("together", [True, False], ids=["at once", "after the head"])
def test_a_bad_chunk_never_completes_a_request(echoing, name, together):
    proxy, origin = echoing
    head = with_fields(b"Transfer-Encoding: chunked")
    with RawClient(proxy.port) as client:
        if together:
            client.try_send(head + BAD_CHUNKS[name] + SMUGGLED)
        else:
            client.send(head)
            client.try_send(BAD_CHUNKS[name] + SMUGGLED)
        answer = client.read_response("POST")
        rest, _ = client.read_to_end()
    assert answer.status in (400, 413, 431), answer
    assert rest == b""
    assert origin.requests == [], "the origin saw a complete request"


def test_chunked_in_an_http10_request_is_unambiguous(echoing):
    proxy, origin = echoing
    with RawClient(proxy.port) as client:
        client.try_send(with_fields(b"Transfer-Encoding: chunked", b"Connection: keep-alive", version="HTTP/1.0")
                        + b"3\r\nabc\r\n0\r\n\r\n" + SMUGGLED)
        answer = client.read_response("POST")
        rest, _ = client.read_to_end()
    # RFC 9112 §6.1: faulty framing; the connection cannot go on, whoever may have read it.
    assert answer.status in (200, 400)
    assert rest == b""
    assert [request.body for request in origin.requests] == ([b"abc"] if answer.status == 200 else [])


# Re-framing -----------------------------------------------------------------------------------

GOOD_CHUNKS = {
    "one chunk": (b"3\r\nabc\r\n0\r\n\r\n", b"abc"),
    "no chunk": (b"0\r\n\r\n", b""),
    "upper-case size": (b"A\r\n0123456789\r\n0\r\n\r\n", b"0123456789"),
    "leading zeros": (b"003\r\nabc\r\n000\r\n\r\n", b"abc"),
    "extensions": (b"3;a=b;c=\"d;e\"\r\nabc\r\n0;last\r\n\r\n", b"abc"),
    "many small ones": (b"1\r\nx\r\n" * 500 + b"0\r\n\r\n", b"x" * 500),
    "binary data": (b"4\r\n\r\n\r\n\r\n0\r\n\r\n", b"\r\n\r\n"),
}


@pytest.mark.parametrize("name", GOOD_CHUNKS)
@pytest.mark.parametrize("piece", [1, 3, 1 << 20])
def test_a_chunked_request_is_framed_anew(echoing, name, piece):
    proxy, origin = echoing
    text, body = GOOD_CHUNKS[name]
    with RawClient(proxy.port) as client:
        client.send_pieces(with_fields(b"Transfer-Encoding: Chunked") + text, piece)
        assert client.read_response("POST").body == body
        assert client.get().status == 200, "the connection goes on"
    assert origin.requests[0].body == body  # The origin's reader accepts no extension.


@pytest.mark.parametrize("name", GOOD_CHUNKS)
def test_a_chunked_response_is_framed_anew(start_proxy, start_origin, name):
    text, body = GOOD_CHUNKS[name]
    origin = start_origin(replying(lambda request: b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + text))
    proxy = start_proxy(forward_to(origin))
    with RawClient(proxy.port) as client:
        for _ in range(2):
            assert client.get().body == body
    assert len(origin.connections) == 1


def test_request_trailers_reach_the_origin(echoing):
    proxy, origin = echoing
    with RawClient(proxy.port) as client:
        client.send(with_fields(b"Transfer-Encoding: chunked", b"Trailer: X-Sum, X-Two")
                    + b"3\r\nabc\r\n0\r\nX-Sum: 99\r\nX-Two: a b\r\n\r\n")
        assert client.read_response("POST").body == b"abc"
    assert origin.requests[0].trailers.lines == [("X-Sum", "99"), ("X-Two", "a b")]


def test_response_trailers_reach_the_client(start_proxy, start_origin):
    origin = start_origin(replying(lambda request: chunked_response([b"abc"], [("X-Sum", "99"), ("grpc-status", "0")])))
    proxy = start_proxy(forward_to(origin))
    with RawClient(proxy.port) as client:
        for _ in range(2):
            answer = client.get(fields="TE: trailers\r\nConnection: TE\r\n")
            assert answer.trailers.lines == [("X-Sum", "99"), ("grpc-status", "0")]


@pytest.mark.parametrize("line", [b"Content-Length: 5", b"Transfer-Encoding: chunked", b"Host: evil", b"Authorization: x",
                                  b"Connection: close", b"Content-Encoding: gzip"])
def test_a_field_that_may_not_be_a_trailer_is_dropped(echoing, line):
    proxy, origin = echoing
    with RawClient(proxy.port) as client:
        client.send(with_fields(b"Transfer-Encoding: chunked") + b"3\r\nabc\r\n0\r\n" + line + b"\r\nX-Ok: 1\r\n\r\n")
        answer = client.read_response("POST")
    if answer.status == 200:  # Refusing the request is fine, too.
        assert origin.requests[0].trailers.lines == [("X-Ok", "1")]
    else:
        assert answer.status == 400
        assert origin.requests == []


# Responses of a bad origin --------------------------------------------------------------------

BAD_RESPONSES = {
    "length and chunked": b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "different lengths": b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
    "a list of different lengths": b"HTTP/1.1 200 OK\r\nContent-Length: 3, 4\r\n\r\nabcd",
    "plus sign": b"HTTP/1.1 200 OK\r\nContent-Length: +3\r\n\r\nabc",
    "minus sign": b"HTTP/1.1 200 OK\r\nContent-Length: -3\r\n\r\nabc",
    "empty length": b"HTTP/1.1 200 OK\r\nContent-Length: \r\n\r\nabc",
    "length over 64 bits": b"HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551619\r\n\r\nabc",
    "unknown coding": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: foo\r\n\r\nabc",
    "gzip and chunked": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    "chunked twice": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n",
    "blank before the colon": b"HTTP/1.1 200 OK\r\nContent-Length : 3\r\n\r\nabc",
    "obs-fold": b"HTTP/1.1 200 OK\r\nX: a\r\n b\r\nContent-Length: 0\r\n\r\n",
    "no colon": b"HTTP/1.1 200 OK\r\nnocolon\r\nContent-Length: 0\r\n\r\n",
    "not a token as name": b"HTTP/1.1 200 OK\r\nX(: a\r\nContent-Length: 0\r\n\r\n",
    "NUL in a value": b"HTTP/1.1 200 OK\r\nX: a\x00\r\nContent-Length: 0\r\n\r\n",
    "bare CR in a value": b"HTTP/1.1 200 OK\r\nX: a\rSet-Cookie: b\r\nContent-Length: 0\r\n\r\n",
    "LF ends the lines": b"HTTP/1.1 200 OK\nContent-Length: 3\n\nabc",
    "LF ends one line": b"HTTP/1.1 200 OK\r\nX: y\nContent-Length: 3\r\n\r\nabc",
    "no status line": b"hello\r\n\r\n",
    "status of letters": b"HTTP/1.1 abc OK\r\nContent-Length: 0\r\n\r\n",
    "status of two digits": b"HTTP/1.1 99 OK\r\nContent-Length: 0\r\n\r\n",
    "status of four digits": b"HTTP/1.1 2000 OK\r\nContent-Length: 0\r\n\r\n",
    "status 099": b"HTTP/1.1 099 OK\r\nContent-Length: 0\r\n\r\n",
    "two blanks": b"HTTP/1.1  200 OK\r\nContent-Length: 0\r\n\r\n",
    "control byte in the reason": b"HTTP/1.1 200 O\x01K\r\nContent-Length: 0\r\n\r\n",
    "lower-case version": b"http/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
    "HTTP/2 in the status line": b"HTTP/2.0 200 OK\r\nContent-Length: 0\r\n\r\n",
    "another protocol": b"SSH-2.0-OpenSSH_9.9\r\n",
    "nothing": b"",
    "half a status line": b"HTTP/1.1 20",
    "half a head": b"HTTP/1.1 200 OK\r\nContent-Le",
    "101 that nobody asked for": b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
    "over-long line": b"HTTP/1.1 200 OK\r\nX: " + b"a" * 70_000 + b"\r\nContent-Length: 0\r\n\r\n",
    "too many fields": b"HTTP/1.1 200 OK\r\n" + b"X: a\r\n" * 300 + b"Content-Length: 0\r\n\r\n",
    "endless head": b"HTTP/1.1 200 OK\r\n" + b"X: %s\r\n" % (b"a" * 10_000) * 100 + b"\r\n",
}


@pytest.fixture(scope="module")
def answering(start_shared_proxy, start_shared_origin):
    """A proxy in front of an origin that sends `origin.text` to every request and closes."""
    def handle(connection):
        if connection.read_request() is not None:
            connection.send(origin.text)
            connection.half_close()
            connection.read_to_end()
    origin = start_shared_origin(handle)
    return start_shared_proxy(forward_to(origin)), origin


@pytest.mark.parametrize("name", BAD_RESPONSES)
def test_a_bad_response_head_becomes_502(answering, name):
    proxy, origin = answering
    origin.text = BAD_RESPONSES[name]
    with RawClient(proxy.port) as client:
        answer = client.request(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n")
    assert answer.status == 502
    assert "error=" in answer.fields.only("Proxy-Status")
    assert answer.body, "a reason for a human"


@pytest.mark.parametrize("name", [name for name in BAD_CHUNKS if "extension" not in name])
def test_a_bad_chunk_never_completes_a_response(answering, name):
    proxy, origin = answering
    origin.text = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + BAD_CHUNKS[name]
    with RawClient(proxy.port) as client:
        try:
            # The proxy may have noticed before it passed the head on.
            assert client.get().status == 502
        except IncompleteMessage as incomplete:
            assert incomplete.message is None or incomplete.message.status == 200


SURPLUS = {
    "behind a sized body": ("GET", b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", b"ok"),
    "behind the last chunk": ("GET", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n", b"ok"),
    "behind 204": ("GET", b"HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n", b""),
    "behind 304": ("GET", b"HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", b""),
    "behind HEAD": ("HEAD", b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", b""),
}


@pytest.mark.parametrize("name", SURPLUS)
def test_bytes_behind_a_response_never_answer_another_request(start_proxy, start_origin, name):
    method, text, body = SURPLUS[name]
    poison = b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison"

    def handle(connection):
        for request in connection.requests_until_end():
            connection.send(text + poison if request.target == "/bad" else response(b"right"))
    origin = start_origin(handle)
    proxy = start_proxy(forward_to(origin))
    with RawClient(proxy.port) as client:
        answer = client.request(f"{method} /bad HTTP/1.1\r\nHost: a\r\n\r\n")
        assert answer.body == body
        assert client.get("/good").body == b"right"
    assert [request.connection for request in origin.requests] == [0, 1], "the connection was reused"


@pytest.mark.parametrize("size", [2, 1000, 16_384, 100_000])
def test_a_second_response_right_behind_the_first_is_never_used(start_proxy, start_origin, size):
    """In a segment of its own: it arrives together with the end of the response, or just after it,
    but always before the next request is sent."""
    poisoned = threading.Semaphore(0)
    poison = b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison"

    def handle(connection):
        for request in connection.requests_until_end():
            connection.send(response(request.target.encode() + bytes(size)))
            with contextlib.suppress(OSError):
                connection.send(poison)
            poisoned.release()
    proxy = start_proxy(forward_to(start_origin(handle)))
    with RawClient(proxy.port) as client:
        for index in range(scaled(150, 5000)):
            client.send(f"GET /{index} HTTP/1.1\r\nHost: a\r\n\r\n")
            answer = client.read_response()
            assert answer.status == 200
            assert answer.body[:-size] == f"/{index}".encode(), answer.body[:50]
            assert poisoned.acquire(timeout=10)


def test_an_unasked_response_on_an_idle_connection_is_not_used(start_proxy, start_origin):
    sent = threading.Event()

    def handle(connection):
        for request in connection.requests_until_end():
            connection.send(response(request.target))
            if request.target == "/1":
                connection.wait(go)
                connection.send(response(b"poison"))
                sent.set()
    go = threading.Event()
    origin = start_origin(handle)
    proxy = start_proxy(forward_to(origin))
    with RawClient(proxy.port) as client:
        assert client.get("/1").text == "/1"
        go.set()
        sent.wait(5)
        origin.connections[0].ended.wait(5)  # The proxy closes what talks out of turn.
        assert client.get("/2").text == "/2"


# Hop-by-hop and routing fields -------------------------------------------------------------

def fields_at_origin(proxy, origin, fields):
    origin.forget()
    answer = simple_get(proxy.port, fields=fields)
    assert answer.status == 200, answer
    return origin.requests[0].fields


@pytest.mark.parametrize("fields, gone", [
    ("Keep-Alive: timeout=5\r\n", "Keep-Alive"),
    ("Proxy-Connection: keep-alive\r\n", "Proxy-Connection"),
    ("Connection: X-Secret\r\nX-Secret: 1\r\n", "X-Secret"),
    ("Connection: close, x-a\r\nX-A: 1\r\nX-A: 2\r\n", "X-A"),
    ("Connection: x-a\r\nConnection: x-b, keep-alive\r\nX-B: 1\r\n", "X-B"),
    ("Upgrade: websocket\r\n", "Upgrade"),
    ("HTTP2-Settings: AAMAAABk\r\nConnection: HTTP2-Settings\r\n", "HTTP2-Settings"),
    ("TE: gzip\r\nConnection: TE\r\n", "TE"),
])
def test_a_hop_by_hop_request_field_stops_here(echoing, fields, gone):
    proxy, origin = echoing
    seen = fields_at_origin(proxy, origin, fields)
    assert gone not in seen
    assert not set(seen.tokens("Connection")) & {"x-secret", "x-a", "x-b", "close", "http2-settings"}


def test_te_passes_only_trailers(echoing):
    proxy, origin = echoing
    seen = fields_at_origin(proxy, origin, "TE: gzip;q=0.5, trailers\r\nConnection: TE\r\n")
    assert seen.tokens("TE") == ["trailers"]
    assert "te" in seen.tokens("Connection")


@pytest.mark.parametrize("name", ["Host", "Content-Length", "Transfer-Encoding", "Via"])
def test_connection_cannot_remove_what_the_message_needs(echoing, name):
    proxy, origin = echoing
    with RawClient(proxy.port) as client:
        client.send(f"POST / HTTP/1.1\r\nHost: keep.example\r\nConnection: {name}\r\nContent-Length: 3\r\n\r\nabc")
        answer = client.read_response("POST")
    if answer.status == 200:
        assert origin.requests[0].fields.only("Host") == "keep.example"
        assert origin.requests[0].body == b"abc"
    else:
        assert answer.status == 400


@pytest.mark.parametrize("line, gone", [
    ("Keep-Alive: timeout=5", "Keep-Alive"),
    ("Connection: X-Secret\r\nX-Secret: 1", "X-Secret"),
    ("Proxy-Connection: close", "Proxy-Connection"),
    ("Upgrade: h2c", "Upgrade"),
])
def test_a_hop_by_hop_response_field_stops_here(answering, line, gone):
    proxy, origin = answering
    origin.text = f"HTTP/1.1 200 OK\r\n{line}\r\nContent-Length: 2\r\n\r\nok".encode()
    answer = simple_get(proxy.port)
    assert answer.body == b"ok"
    assert gone not in answer.fields


@pytest.fixture(scope="module")
def named(start_shared_proxy, start_shared_origin):
    """A proxy with a pseudonym of its own."""
    origin = start_shared_origin(replying(lambda request: response(b"ok", fields=[("Via", "1.0 inner")])))
    return start_shared_proxy(forward_to(origin, server={"viaHeaderPseudonym": "edge-a"})), origin


def test_via_is_appended_in_both_directions(named):
    proxy, origin = named
    origin.forget()
    answer = simple_get(proxy.port, fields="Via: 1.0 fred\r\n")
    assert origin.requests[0].fields.tokens("Via") == ["1.0 fred", "1.1 edge-a"]
    assert answer.fields.tokens("Via") == ["1.0 inner", "1.1 edge-a"]


@pytest.mark.parametrize("value", ["1.1 edge-a", "1.1 other, 1.1 edge-a", "HTTP/1.1 edge-a", "1.0 EDGE-A (comment)"])
def test_a_request_that_has_been_here_is_answered_with_508(named, value):
    proxy, origin = named
    origin.forget()
    answer = simple_get(proxy.port, fields=f"Via: {value}\r\n")
    assert answer.status == 508
    assert "error=" in answer.fields.only("Proxy-Status")
    assert origin.heads == []


@pytest.mark.parametrize("value", ["1.1 edge-ab", "1.1 my-edge-a", "1.1 other (edge-a)"])
def test_a_similar_name_in_via_is_no_loop(named, value):
    proxy, _ = named
    assert simple_get(proxy.port, fields=f"Via: {value}\r\n").status == 200


def test_no_via_without_a_pseudonym(start_proxy, start_origin):
    origin = start_origin()
    proxy = start_proxy(forward_to(origin, server={"viaHeaderPseudonym": ""}))
    answer = simple_get(proxy.port)
    assert "Via" not in origin.requests[0].fields
    assert "Via" not in answer.fields


def test_a_proxy_in_front_of_itself_says_508(start_proxy, start_origin):
    config = forward_to(start_origin())
    port = free_port()
    config["listeners"][0] |= {"port": port, "forwardPort": port}
    proxy = start_proxy(config)
    assert simple_get(proxy.port).status == 508


SPOOFED = ("X-Forwarded-For: 6.6.6.6\r\nX-Forwarded-Proto: https\r\nX-Forwarded-Host: evil\r\n"
           "Forwarded: for=6.6.6.6;proto=https\r\n")


@pytest.mark.parametrize("mode", ["XForwarded", "Both"])
def test_x_forwarded_fields_say_who_and_replace_what_was_claimed(start_proxy, start_origin, mode):
    origin = start_origin()
    proxy = start_proxy(forward_to(origin, server={"forwardedHeaders": mode}))
    for claimed in ("", SPOOFED):
        seen = fields_at_origin(proxy, origin, claimed)
        assert seen.only("X-Forwarded-For") == "127.0.0.1"
        assert seen.only("X-Forwarded-Proto") == "http"
        assert seen.only("X-Forwarded-Host") == "localhost"


@pytest.mark.parametrize("mode", ["Forwarded", "Both"])
def test_forwarded_says_who_and_replaces_what_was_claimed(start_proxy, start_origin, mode):
    origin = start_origin()
    proxy = start_proxy(forward_to(origin, server={"forwardedHeaders": mode}))
    for claimed in ("", SPOOFED):
        seen = fields_at_origin(proxy, origin, claimed)
        value = seen.only("Forwarded").replace('"', "").lower()
        assert set(value.split(";")) >= {"for=127.0.0.1", "proto=http", "host=localhost"}
        assert "6.6.6.6" not in value


def test_trusted_forwarded_fields_are_appended_to(start_proxy, start_origin):
    origin = start_origin()
    proxy = start_proxy(forward_to(origin, server={"forwardedHeaders": "XForwarded", "trustForwardedHeaders": True}))
    seen = fields_at_origin(proxy, origin, "X-Forwarded-For: 1.2.3.4\r\nX-Forwarded-Proto: https\r\n")
    assert seen.tokens("X-Forwarded-For") == ["1.2.3.4", "127.0.0.1"]


def test_forwarded_fields_say_https_on_a_tls_listener(start_proxy, start_origin, localhost_pair):
    origin = start_origin()
    proxy = start_proxy(forward_to(origin, tls_pair=localhost_pair, server={"forwardedHeaders": "Both"}))
    simple_get(proxy.tls_port, tls=client_context())
    assert origin.requests[0].fields.only("X-Forwarded-Proto") == "https"
    assert "proto=https" in origin.requests[0].fields.only("Forwarded").lower()


def test_by_default_the_x_forwarded_fields_are_made(echoing):
    proxy, origin = echoing
    seen = fields_at_origin(proxy, origin, SPOOFED)
    assert (seen.only("X-Forwarded-For"), seen.only("X-Forwarded-Proto")) == ("127.0.0.1", "http")


def test_no_forwarded_fields_are_made_if_switched_off(start_proxy, start_origin):
    origin = start_origin()
    proxy = start_proxy(forward_to(origin, server={"forwardedHeaders": "None"}))
    seen = fields_at_origin(proxy, origin, "")
    assert not any(name in seen for name in ("X-Forwarded-For", "X-Forwarded-Proto", "X-Forwarded-Host", "Forwarded"))
