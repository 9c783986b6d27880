# SPDX-License-Identifier: MIT
"""Plain exchanges over HTTP/1: methods, persistence on both legs, versions, targets, framing."""

import hashlib
import json
import re
import threading

import pytest
from harness.message import IncompleteMessage
from harness.origin import chunk, chunked_response, describe, echo, replying, response
from harness.proxy import forward_to
from harness.raw import RawClient, simple_get
from harness.wait import wait_until


@pytest.fixture(scope="module")
def shared(start_shared_proxy, start_shared_origin):
    """A proxy in front of an origin that tells what it saw."""
    origin = start_shared_origin(replying(describe))
    return start_shared_proxy(forward_to(origin)), origin


@pytest.fixture
def describing(shared):
    proxy, origin = shared
    origin.forget()
    return proxy, origin


@pytest.fixture
def serving(start_proxy, start_origin):
    """serving(handler) gives a proxy in front of an origin with this handler."""
    def start(handler, **options):
        origin = start_origin(handler)
        return start_proxy(forward_to(origin, **options)), origin
    return start


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "DELETE", "OPTIONS", "PATCH", "PROPFIND", "get", "X-1"])
def test_a_method_passes_unchanged(describing, method):
    proxy, _ = describing
    with RawClient(proxy.port) as client:
        seen = json.loads(client.request(f"{method} /x?y=1 HTTP/1.1\r\nHost: a.example\r\nContent-Length: 0\r\n\r\n").body)
    assert (seen["method"], seen["target"], seen["version"]) == (method, "/x?y=1", "HTTP/1.1")


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "GET"])
@pytest.mark.parametrize("size", [1, 1000, 16 * 1024, 300_000])
def test_a_sized_request_body_arrives_complete(describing, method, size):
    proxy, origin = describing
    body = bytes(index % 251 for index in range(size))
    with RawClient(proxy.port) as client:
        head = f"{method} / HTTP/1.1\r\nHost: a\r\nContent-Length: {size}\r\n\r\n".encode()
        seen = json.loads(client.request(head + body, method).body)
    assert (seen["bytes"], seen["sha256"]) == (size, hashlib.sha256(body).hexdigest())
    assert origin.requests[0].fields.only("Content-Length") == str(size)


@pytest.mark.parametrize("target", [
    "/", "/a/b/c", "/a?b=c&d=%20", "/%41%2f", "//a//b", "/a/../b", "/?", "/a;b=c", "/a:b@c!$&'()*+,=~-._",
    "/" + "x" * 8000, "/?q=" + "y" * 8000,
])
def test_a_target_passes_byte_for_byte(describing, target):
    proxy, origin = describing
    assert simple_get(proxy.port, target).status == 200
    assert origin.requests[0].target == target


def test_all_end_to_end_fields_pass_in_their_order_and_case(describing):
    proxy, origin = describing
    sent = [("X-One", "1"), ("x-one", "2"), ("Accept", "*/*"), ("X-ONE", ""), ("Cookie", "a=b; c=\"d\""),
            ("X-Obs", "caf\xe9"), ("X-Tab", "a\tb"), ("User-Agent", "test (integration)")]
    lines = "".join(f"{name}: {value}\r\n" for name, value in sent)
    with RawClient(proxy.port) as client:
        client.send(f"GET / HTTP/1.1\r\nHost: a\r\n{lines}\r\n".encode("latin-1"))
        assert client.read_response().status == 200
    names = {name.lower() for name, _ in sent}
    assert [line for line in origin.requests[0].fields.lines if line[0].lower() in names] == sent


def test_blanks_around_a_value_are_not_part_of_it(describing):
    proxy, origin = describing
    simple_get(proxy.port, fields="X-A:\t  padded \t\r\nX-B:tight\r\n")
    assert origin.requests[0].fields.only("X-A") == "padded"
    assert origin.requests[0].fields.only("X-B") == "tight"


def test_both_legs_stay_open_over_many_requests(describing):
    proxy, origin = describing
    with RawClient(proxy.port) as client:
        numbers = {json.loads(client.get(f"/{index}").body)["connection"] for index in range(50)}
    assert len(numbers) == 1
    assert [request.target for request in origin.requests] == [f"/{index}" for index in range(50)]


def test_an_origin_connection_serves_many_clients_in_turn(describing):
    proxy, origin = describing
    numbers = {json.loads(simple_get(proxy.port).body)["connection"] for _ in range(10)}
    assert len(numbers) == 1, "each client got an origin connection of its own"
    assert len(origin.requests) == 10


def test_connection_close_ends_the_client_leg_only(describing):
    proxy, origin = describing
    with RawClient(proxy.port) as client:
        answer = client.get("/", fields="Connection: close\r\n")
        assert "close" in answer.fields.tokens("Connection")
        assert client.expect_closed() == "fin"
    assert "close" not in origin.requests[0].fields.tokens("Connection")
    simple_get(proxy.port)
    assert origin.requests[0].connection == origin.requests[1].connection


def test_an_origin_that_closes_does_not_close_the_client_leg(serving):
    def handle(connection):
        request = connection.read_request()
        connection.send(response(request.target, fields=[("Connection", "close")]))
    proxy, origin = serving(handle)
    with RawClient(proxy.port) as client:
        for index in range(3):
            answer = client.get(f"/{index}")
            assert answer.text == f"/{index}"
            assert answer.keeps_alive
    assert len(origin.connections) == 3


@pytest.mark.parametrize("fields, kept", [("", False), ("Connection: keep-alive\r\n", True), ("Connection: close\r\n", False)])
def test_an_http10_client_keeps_the_connection_only_if_it_asks(describing, fields, kept):
    proxy, origin = describing
    with RawClient(proxy.port) as client:
        answer = client.request(f"GET / HTTP/1.0\r\nHost: a\r\n{fields}\r\n")
        assert answer.status == 200
        assert answer.keeps_alive is kept
        if kept:
            assert client.request(f"GET /2 HTTP/1.0\r\nHost: a\r\n{fields}\r\n").status == 200
        else:
            assert client.expect_closed() == "fin"
    assert origin.requests[0].version in ("HTTP/1.1", "HTTP/1.0")


def test_an_http10_request_without_host_is_served(describing):
    proxy, origin = describing
    with RawClient(proxy.port) as client:
        assert client.request("GET /old HTTP/1.0\r\n\r\n").status == 200
    assert origin.requests[0].target == "/old"
    # The origin leg is HTTP/1.1, where Host is mandatory; the reader has checked that it is there.
    assert origin.requests[0].version == "HTTP/1.1"


def test_a_chunked_response_reaches_an_http10_client_close_delimited(serving):
    proxy, _ = serving(replying(lambda request: chunked_response([b"one", b"two"], [("X-T", "1")])))
    with RawClient(proxy.port) as client:
        # The strict reader refuses Transfer-Encoding in an answer to 1.0.
        answer = client.request("GET / HTTP/1.0\r\nHost: a\r\nConnection: keep-alive\r\n\r\n")
    assert "Transfer-Encoding" not in answer.fields
    assert answer.body == b"onetwo"
    assert answer.framing in ("close", "sized")
    if answer.framing == "close":
        assert not answer.keeps_alive


def test_an_http10_origin_with_a_close_delimited_body(serving):
    def handle(connection):
        connection.read_request()
        connection.send(b"HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\nold body")
    proxy, origin = serving(handle)
    with RawClient(proxy.port) as client:
        for _ in range(2):
            answer = client.get()
            assert (answer.status, answer.body, answer.version) == (200, b"old body", "HTTP/1.1")
            assert answer.framing == "chunked", "an 1.1 client can be told the end of the body"
            assert answer.keeps_alive
    assert len(origin.connections) == 2


def test_an_http10_origin_connection_is_reused_only_if_it_says_so(serving):
    keep = threading.Event()

    def answer(request):
        fields = [("Connection", "keep-alive")] if keep.is_set() else []
        return response(b"x", fields=fields, version="HTTP/1.0")
    proxy, origin = serving(replying(answer))
    with RawClient(proxy.port) as client:
        client.get()
        client.get()
        assert len(origin.connections) == 2
        keep.set()
        client.get()
        client.get()
        client.get()
    assert len(origin.connections) == 3


def test_pipelined_requests_are_answered_in_order(describing):
    proxy, origin = describing
    count = 40
    with RawClient(proxy.port) as client:
        client.send("".join(f"GET /{index} HTTP/1.1\r\nHost: a\r\n\r\n" for index in range(count)))
        answers = [json.loads(client.read_response().body) for _ in range(count)]
    assert [answer["target"] for answer in answers] == [f"/{index}" for index in range(count)]
    assert len(origin.requests) == count


@pytest.mark.parametrize("piece", [1, 7, 100_000])
def test_pipelined_requests_with_bodies_of_each_framing(serving, piece):
    proxy, origin = serving(replying(echo))
    requests = [
        (b"GET /0 HTTP/1.1\r\nHost: a\r\n\r\n", b""),
        (b"POST /1 HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nfirst", b"first"),
        (b"POST /2 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n6\r\nsecond\r\n0\r\nX-T: 1\r\n\r\n", b"second"),
        (b"HEAD /3 HTTP/1.1\r\nHost: a\r\n\r\n", b""),
        (b"PUT /4 HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n", b""),
        (b"POST /5 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nz\r\n0\r\n\r\n", b"z"),
        (b"GET /6 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", b""),
    ]

    def handle(connection):
        for request in connection.requests_until_end():
            connection.send(response() if request.method == "HEAD" else echo(request))
    origin.handler = handle
    with RawClient(proxy.port) as client:
        client.send_pieces(b"".join(text for text, _ in requests), piece)
        for text, body in requests:
            assert client.read_response(text.split(b" ")[0].decode()).body == body
        assert client.expect_closed() == "fin"
    assert [request.target for request in origin.requests] == [f"/{index}" for index in range(7)]


def test_pipelined_requests_behind_connection_close_are_not_processed(describing):
    proxy, origin = describing
    with RawClient(proxy.port) as client:
        client.send("GET /1 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\nGET /2 HTTP/1.1\r\nHost: a\r\n\r\n")
        assert client.read_response().status == 200
        rest, _ = client.read_to_end()
    assert rest == b""
    assert [request.target for request in origin.requests] == ["/1"]


def test_a_slow_first_answer_holds_back_the_pipelined_ones(serving):
    go = threading.Event()

    def handle(connection):
        for request in connection.requests_until_end():
            if request.target == "/slow":
                connection.wait(go)
            connection.send(response(request.target))
    proxy, _ = serving(handle)
    with RawClient(proxy.port) as client:
        client.send("GET /slow HTTP/1.1\r\nHost: a\r\n\r\nGET /fast HTTP/1.1\r\nHost: a\r\n\r\n")
        assert client.is_open()
        go.set()
        assert [client.read_response().text for _ in range(2)] == ["/slow", "/fast"]


def test_empty_lines_before_a_request_are_skipped(describing):
    proxy, _ = describing
    with RawClient(proxy.port) as client:
        assert client.request("\r\nGET /a HTTP/1.1\r\nHost: a\r\n\r\n", "GET").status == 200
        assert client.request("\r\nGET /b HTTP/1.1\r\nHost: a\r\n\r\n", "GET").status == 200


def test_endless_empty_lines_are_refused(describing):
    proxy, _ = describing
    with RawClient(proxy.port) as client:
        client.try_send(b"\r\n" * 100_000)
        data, _ = client.read_to_end()
    assert data == b"" or data.startswith(b"HTTP/1.1 400 ")


@pytest.mark.parametrize("target, host, seen_target", [
    ("http://b.example/x?y", "b.example", "/x?y"),
    ("http://b.example", "b.example", "/"),
    ("HTTP://b.example:8080/", "b.example:8080", "/"),
    ("http://[::1]:99/z", "[::1]:99", "/z"),
])
def test_absolute_form_becomes_origin_form(describing, target, host, seen_target):
    proxy, origin = describing
    assert simple_get(proxy.port, target, host_field=host).status == 200
    request = origin.requests[0]
    assert (request.target, request.fields.only("Host")) == (seen_target, host)


def test_absolute_form_without_a_path_before_its_query_is_refused(describing):
    """RFC 9110 §4.2.3 makes "/?q=1" of it; proxies that do not would ask for another resource."""
    proxy, origin = describing
    assert simple_get(proxy.port, "http://b.example?q=1", host_field="b.example").status == 400
    assert origin.requests == []


def test_absolute_form_and_host_never_disagree_at_the_origin(describing):
    """RFC 9112 §3.2.2 lets the target win; refusing the request is stricter, and as safe."""
    proxy, origin = describing
    answer = simple_get(proxy.port, "http://b.example/x", host_field="a.example")
    if answer.status == 200:
        assert origin.requests[0].fields.only("Host") == "b.example"
    else:
        assert answer.status == 400
        assert origin.heads == []


def test_asterisk_form_passes_with_options(describing):
    proxy, origin = describing
    with RawClient(proxy.port) as client:
        assert client.request("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n").status == 200
    assert origin.requests[0].target == "*"


def test_asterisk_form_is_refused_with_other_methods(describing):
    proxy, origin = describing
    assert simple_get(proxy.port, "*").status == 400
    assert origin.heads == []


def test_host_is_passed_on_as_received(describing):
    proxy, origin = describing
    for host in ("example.com", "example.com:8080", "EXAMPLE.com", "[::1]:80", "127.0.0.1"):
        simple_get(proxy.port, host_field=host)
    assert [request.fields.only("Host") for request in origin.requests] == [
        "example.com", "example.com:8080", "EXAMPLE.com", "[::1]:80", "127.0.0.1"]


# Responses ------------------------------------------------------------------------------------

BODILESS = [
    ("HEAD", b"HTTP/1.1 200 OK\r\nContent-Length: 1234\r\n\r\n", 200, "1234"),
    ("HEAD", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", 200, None),
    ("HEAD", b"HTTP/1.1 200 OK\r\n\r\n", 200, None),
    ("HEAD", b"HTTP/1.1 404 Not Found\r\nContent-Length: 9\r\n\r\n", 404, "9"),
    ("GET", b"HTTP/1.1 204 No Content\r\n\r\n", 204, None),
    ("GET", b"HTTP/1.1 304 Not Modified\r\nETag: \"a\"\r\n\r\n", 304, None),
    ("GET", b"HTTP/1.1 304 Not Modified\r\nContent-Length: 77\r\n\r\n", 304, "77"),
    ("GET", b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", 200, "0"),
    ("DELETE", b"HTTP/1.1 204 No Content\r\nDate: Mon, 01 Jan 2024 00:00:00 GMT\r\n\r\n", 204, None),
]


@pytest.mark.parametrize("method, text, status, length", BODILESS)
def test_an_answer_without_body_leaves_both_legs_usable(serving, method, text, status, length):
    texts = [text, response(b"next")]

    def handle(connection):
        for _ in connection.requests_until_end():
            connection.send(texts.pop(0))
    proxy, origin = serving(handle)
    with RawClient(proxy.port) as client:
        answer = client.request(f"{method} / HTTP/1.1\r\nHost: a\r\n\r\n")
        assert (answer.status, answer.fields.get("Content-Length")) == (status, length)
        assert client.get().body == b"next"
    assert len(origin.connections) == 1


@pytest.mark.parametrize("line, status, reason", [
    ("HTTP/1.1 200 Fine And Dandy", 200, "Fine And Dandy"),
    ("HTTP/1.1 418 I'm a teapot", 418, "I'm a teapot"),
    ("HTTP/1.1 299 ", 299, ""),
    ("HTTP/1.1 500 caf\xe9", 500, "caf\xe9"),
    ("HTTP/1.1 599 custom", 599, "custom"),
])
def test_status_and_reason_pass(serving, line, status, reason):
    proxy, _ = serving(replying(lambda request: f"{line}\r\nContent-Length: 0\r\n\r\n".encode("latin-1")))
    answer = simple_get(proxy.port)
    assert (answer.status, answer.reason) == (status, reason)


def test_date_is_added_only_if_missing(serving):
    texts = [response(b"a"), response(b"b", fields=[("Date", "Sun, 06 Nov 1994 08:49:37 GMT")])]
    proxy, _ = serving(replying(lambda request: texts.pop(0)))
    with RawClient(proxy.port) as client:
        added = client.get().fields.only("Date")
        assert re.fullmatch(r"(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d \w{3} 20\d\d \d\d:\d\d:\d\d GMT", added)
        assert client.get().fields.only("Date") == "Sun, 06 Nov 1994 08:49:37 GMT"


def test_response_fields_pass_in_their_order(serving):
    sent = [("Server", "origin/1"), ("Set-Cookie", "a=1"), ("Set-Cookie", "b=2"), ("X-Empty", ""),
            ("Content-Type", "text/plain"), ("ETag", "W/\"1\"")]
    proxy, _ = serving(replying(lambda request: response(b"x", fields=sent)))
    names = {name.lower() for name, _ in sent}
    got = simple_get(proxy.port).fields.lines
    assert [line for line in got if line[0].lower() in names] == sent


@pytest.mark.parametrize("size", [0, 1, 16 * 1024 - 1, 16 * 1024, 16 * 1024 + 1, 1_000_000])
@pytest.mark.parametrize("framing", ["sized", "chunked", "close"])
def test_a_response_body_of_each_framing_and_size(serving, size, framing):
    body = bytes(index % 253 for index in range(size))
    pieces = [body[begin:begin + 10_000] for begin in range(0, size, 10_000)]

    def handle(connection):
        connection.read_request()
        if framing == "sized":
            connection.send(response(body))
        elif framing == "chunked":
            connection.send(chunked_response(pieces))
        else:
            connection.send(b"HTTP/1.1 200 OK\r\n\r\n" + body)
            return
        connection.read_to_end()
    proxy, _ = serving(handle)
    answer = simple_get(proxy.port)
    assert answer.body == body
    if framing == "sized":
        assert answer.fields.only("Content-Length") == str(size)


def test_a_streamed_piece_arrives_before_the_next_one_is_sent(serving):
    arrived = threading.Event()

    def handle(connection):
        connection.read_request()
        connection.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk("first"))
        connection.wait(arrived)
        connection.send(chunk("second") + b"0\r\n\r\n")
        connection.read_to_end()
    proxy, _ = serving(handle)
    with RawClient(proxy.port) as client:
        client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        client.read_head()
        assert client.stream.read_until(b"first\r\n") == b"5\r\nfirst\r\n"
        arrived.set()
        assert client.stream.read_until(b"0\r\n\r\n") == b"6\r\nsecond\r\n0\r\n\r\n"


def test_a_client_that_half_closes_after_its_request_gets_the_answer(serving):
    go = threading.Event()

    def handle(connection):
        connection.read_request()
        connection.wait(go)
        connection.send(response(b"late answer"))
        connection.read_to_end()
    proxy, origin = serving(handle)
    with RawClient(proxy.port) as client:
        client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        client.half_close()
        wait_until(lambda: origin.requests, "the request at the origin")
        go.set()
        assert client.read_response().body == b"late answer"
        assert client.expect_closed() == "fin"


def test_a_close_delimited_answer_cut_by_reset_is_not_complete(serving):
    def handle(connection):
        connection.read_request()
        connection.send(b"HTTP/1.1 200 OK\r\n\r\nhalf of it")
        connection.wait(got_half)
        connection.reset()
    got_half = threading.Event()
    proxy, _ = serving(handle)
    with RawClient(proxy.port) as client:
        client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        client.read_head()
        client.stream.read_until(b"half of it")
        got_half.set()
        rest, _ = client.read_to_end()
    assert b"0\r\n\r\n" not in rest, "the last chunk says that the body is complete"


def test_a_truncated_sized_answer_is_not_complete(serving):
    def handle(connection):
        connection.read_request()
        connection.send(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")
    proxy, _ = serving(handle)
    with pytest.raises(IncompleteMessage):
        simple_get(proxy.port)
