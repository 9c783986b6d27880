# SPDX-License-Identifier: MIT
"""Expect: 100-continue end to end (RFC 9110 §10.1.1) and interim responses (§15.2)."""

import threading

import pytest
from harness.message import IncompleteMessage
from harness.origin import replying, response
from harness.proxy import forward_to
from harness.raw import RawClient
from harness.wait import wait_until

EXPECTING = b"POST /e HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n"
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"


@pytest.fixture
def serving(start_proxy, start_origin):
    def start(handler, **options):
        origin = start_origin(handler)
        return start_proxy(forward_to(origin, **options)), origin
    return start


def test_100_continue_goes_from_the_origin_to_the_client_before_the_body(serving):
    head_seen = threading.Event()
    permit = threading.Event()

    def handle(connection):
        while (request := connection.read_head()) is not None:
            assert request.fields.only("Expect").lower() == "100-continue"
            assert not connection.stream.buffer, "the body was sent before it was asked for"
            head_seen.set()
            connection.wait(permit)
            connection.send(CONTINUE)
            connection.read_body(request)
            connection.send(response(request.body))
    proxy, origin = serving(handle)
    with RawClient(proxy.port) as client:
        client.send(EXPECTING)
        assert head_seen.wait(10)
        assert client.is_open(), "the proxy must not say 100 by itself"
        permit.set()
        assert client.read_head().status == 100
        client.send(b"body")
        assert client.read_response("POST").body == b"body"
        client.send(EXPECTING)
        assert client.read_head().status == 100
        client.send(b"next")
        assert client.read_response("POST").body == b"next"
    assert len(origin.connections) == 1


def test_a_client_that_does_not_wait_for_100_gets_its_answer(serving):
    def handle(connection):
        for request in connection.requests_until_end():
            connection.send(response(request.body))
    proxy, _ = serving(handle)
    with RawClient(proxy.port) as client:
        client.send(EXPECTING + b"body")
        assert client.read_response("POST").body == b"body"


def test_a_refusal_without_reading_the_body_reaches_the_client(serving):
    def handle(connection):
        connection.read_head()
        connection.send(response(b"too big", status=413, reason="Content Too Large", fields=[("Connection", "close")]))
        connection.half_close()
        connection.read_to_end()
    proxy, origin = serving(handle)
    with RawClient(proxy.port) as client:
        client.send(EXPECTING)
        answer = client.read_response("POST")
        assert (answer.status, answer.body, answer.interim) == (413, b"too big", [])
        if answer.keeps_alive:
            # The client may go on in two ways: it never sends the body only if the connection ends.
            client.try_send(b"body")
            assert client.is_open() in (True, False)
    assert origin.requests == []


def test_a_417_passes(serving):
    def handle(connection):
        connection.read_head()
        connection.send(response(b"no", status=417, reason="Expectation Failed", fields=[("Connection", "close")]))
        connection.half_close()
        connection.read_to_end()
    proxy, _ = serving(handle)
    with RawClient(proxy.port) as client:
        assert client.request(EXPECTING, "POST").status == 417


def test_the_body_after_an_early_refusal_never_becomes_a_request(serving):
    """The body that the client sends, or not, after a final answer must not be parsed as a request."""
    smuggled = b"GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n"

    def handle(connection):
        request = connection.read_head()
        if request is not None and request.target == "/e":
            connection.send(response(b"no", status=403, reason="Forbidden"))
            connection.read_to_end()
        elif request is not None:
            connection.send(response(b"smuggled!"))
    proxy, origin = serving(handle)
    with RawClient(proxy.port) as client:
        client.send(EXPECTING.replace(b"Length: 4", b"Length: %d" % len(smuggled)))
        assert client.read_response("POST").status == 403
        client.try_send(smuggled)
        client.half_close()
        rest, _ = client.read_to_end()
    assert rest == b""
    assert [head.target for head in origin.heads] == ["/e"]


def test_an_http10_client_gets_no_interim_response(serving):
    def handle(connection):
        for request in connection.requests_until_end():
            connection.send(CONTINUE + b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + response(request.body))
    proxy, _ = serving(handle)
    with RawClient(proxy.port) as client:
        client.send(b"POST / HTTP/1.0\r\nHost: a\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\nbody")
        answer = client.read_response("POST")
    assert (answer.body, answer.interim) == (b"body", [])


def test_103_passes_with_its_fields_before_the_final_response(serving):
    go = threading.Event()

    def handle(connection):
        connection.read_request()
        connection.send(b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\nX-B: 2\r\n\r\n")
        connection.wait(go)
        connection.send(response(b"done"))
        connection.read_to_end()
    proxy, _ = serving(handle)
    with RawClient(proxy.port) as client:
        client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        hints = client.read_head()
        assert (hints.status, hints.fields.only("Link"), hints.fields.only("X-B")) == (103, "</a.css>; rel=preload", "2")
        go.set()
        assert client.read_response().body == b"done"


@pytest.mark.parametrize("count, limit, status", [(0, None, 200), (20, None, 200), (21, None, 502), (3, 3, 200), (4, 3, 502)])
def test_the_number_of_interim_responses_has_a_limit(serving, count, limit, status):
    def handle(connection):
        for _ in connection.requests_until_end():
            connection.send(b"HTTP/1.1 102 Processing\r\n\r\n" * count + response(b"x"))
    limits = {} if limit is None else {"server": {"limits": {"maxInterimResponses": limit}}}
    proxy, _ = serving(handle, **limits)
    with RawClient(proxy.port) as client:
        try:
            answer = client.get()
        except IncompleteMessage:
            assert status == 502  # Interim responses were passed on; then the connection just ends.
        else:
            assert answer.status == status
            if status == 200:
                assert len(answer.interim) == count


def test_an_interim_response_with_hop_by_hop_fields_is_cleaned(serving):
    def handle(connection):
        for _ in connection.requests_until_end():
            connection.send(b"HTTP/1.1 103 Early Hints\r\nConnection: X-S\r\nX-S: 1\r\nLink: a\r\n\r\n" + response(b"x"))
    proxy, _ = serving(handle)
    with RawClient(proxy.port) as client:
        interim = client.get().interim
    assert len(interim) == 1
    assert "X-S" not in interim[0].fields
    assert interim[0].fields.only("Link") == "a"


def test_an_origin_that_ends_after_100_means_502(serving):
    def handle(connection):
        connection.read_head()
        connection.send(CONTINUE)
        connection.half_close()
        connection.read_to_end()
    proxy, _ = serving(handle)
    with RawClient(proxy.port) as client:
        client.send(EXPECTING)
        try:
            assert client.read_response("POST").status == 502
        except IncompleteMessage:
            pass


def test_an_early_final_answer_leaves_the_proxy_healthy(serving):
    """Many refusals in a row: whatever became of their bodies, later requests get their own answers."""
    def handle(connection):
        while (request := connection.read_head()) is not None:
            if request.method == "POST":
                connection.send(response(b"no", status=403, reason="Forbidden", fields=[("Connection", "close")]))
                return
            connection.send(response(request.target))
    proxy, _ = serving(handle)
    for index in range(10):
        with RawClient(proxy.port) as client:
            client.send(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\nExpect: 100-continue\r\n\r\n")
            assert client.read_response("POST").status == 403
        with RawClient(proxy.port) as client:
            assert client.get(f"/{index}").text == f"/{index}"


def test_expect_is_not_left_over_for_the_next_request(serving):
    proxy, origin = serving(replying(lambda request: response(request.body)))
    with RawClient(proxy.port) as client:
        client.send(EXPECTING + b"body")
        client.read_response("POST")
        client.get("/plain")
    wait_until(lambda: len(origin.requests) == 2, "both requests")
    assert "Expect" not in origin.requests[1].fields
