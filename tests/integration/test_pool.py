# SPDX-License-Identifier: MIT
"""Origin connections: reuse, expiry, connections that the origin closed, and what may be retried."""

import contextlib
import threading

import pytest
from harness.message import IncompleteMessage
from harness.origin import replying, response
from harness.proxy import cluster, destination, forward_to, route, routed
from harness.raw import RawClient, simple_get
from harness.wait import scaled, wait_until

GET = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"
POST = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbody"


@pytest.fixture
def serving(start_proxy, start_origin):
    def start(handler=None, *, listener=None, **server):
        origin = start_origin(handler)
        return start_proxy(forward_to(origin, server=server, **(listener or {}))), origin
    return start


def gated(gates):
    """A handler that answers /N only after gates[N]."""
    def handle(connection):
        for request in connection.requests_until_end():
            if (number := request.target[1:]) in gates:
                connection.wait(gates[number])
            connection.send(response(str(connection.number)))
    return handle


def open_connections(proxy, origin, gates, release):
    """Runs as many requests at once as there are gates, and lets them finish in this order.
    Returns the origin connections, in this order."""
    numbers = []
    with contextlib.ExitStack() as stack:
        clients = {name: stack.enter_context(RawClient(proxy.port)) for name in gates}
        for count, (name, client) in enumerate(clients.items(), 1):
            client.send(f"GET /{name} HTTP/1.1\r\nHost: a\r\n\r\n")
            wait_until(lambda count=count: len(origin.requests) == count, "the request at the origin")
        for name in release:
            gates[name].set()
            numbers.append(int(clients[name].read_response().text))
    return numbers


def test_the_connection_that_was_used_last_is_reused_first(serving):
    gates = {name: threading.Event() for name in "abc"}
    proxy, origin = serving(gated(gates))
    numbers = open_connections(proxy, origin, gates, "bac")
    assert sorted(numbers) == [0, 1, 2]
    assert {int(simple_get(proxy.port).text) for _ in range(5)} == {numbers[-1]}


@pytest.mark.parametrize("where", ["listener", "server"])
def test_no_more_than_the_limit_stay_idle(serving, where):
    gates = {name: threading.Event() for name in "abcd"}
    limit = {"maxCachedConnections": 2}
    proxy, origin = (serving(gated(gates), listener=limit) if where == "listener"
                     else serving(gated(gates), pooling=limit))
    open_connections(proxy, origin, gates, "abcd")
    wait_until(lambda: sum(connection.ended.is_set() for connection in origin.connections) == 2,
               "two of four connections to be closed")
    simple_get(proxy.port)
    assert len(origin.connections) == 4


def test_an_idle_connection_expires(serving):
    proxy, origin = serving(timeouts={"connectionTimeOutSeconds": 0.4})
    simple_get(proxy.port)
    assert origin.connections[0].ended.wait(10), "the idle connection stays open"
    assert simple_get(proxy.port).status == 200
    assert len(origin.connections) == 2


def test_without_a_pool_each_request_has_its_own_connection(serving):
    proxy, origin = serving(pooling={"enableConnectionPool": False})
    with RawClient(proxy.port) as client:
        for _ in range(3):
            assert client.get().status == 200
    assert len(origin.connections) == 3
    for connection in origin.connections:
        assert connection.ended.wait(10)


@pytest.mark.parametrize("request_text", [GET, POST], ids=["GET", "POST"])
@pytest.mark.parametrize("end", ["close", "reset"])
def test_a_connection_that_the_origin_closed_while_idle_is_not_used(serving, request_text, end):
    go = threading.Event()

    def handle(connection):
        connection.read_request()
        connection.send(response(b"ok"))
        if connection.number == 0:
            connection.wait(go)
            getattr(connection, end)()
        else:
            connection.read_to_end()
    proxy, origin = serving(handle)
    with RawClient(proxy.port) as client:
        client.get()
        idle = proxy.descriptors
        go.set()
        proxy.wait_descriptors(idle - 1)  # The proxy has noticed.
        assert client.request(request_text).status == 200
    assert len(origin.requests) == 2
    assert len(origin.connections) == 2


@pytest.mark.parametrize("end", ["close", "reset"])
def test_a_post_right_behind_a_close_of_the_origin_succeeds_or_fails_but_is_not_doubled(serving, end):
    """Without waiting for the proxy to notice: the FIN may cross the request."""
    def handle(connection):
        for request in connection.requests_until_end():
            connection.send(response(b"ok"))
            if request.method == "GET":
                getattr(connection, end)()
                return
    proxy, origin = serving(handle)
    for _ in range(20):
        origin.forget()
        with RawClient(proxy.port) as client:
            client.get()
            assert client.request(POST).status in (200, 502)
        assert sum(request.method == "POST" for request in origin.requests) <= 1


def dropping(served, drop):
    """A handler whose first connection serves `served` requests and drops the next one, which it
    has read; later connections answer."""
    def handle(connection):
        for index, request in enumerate(connection.requests_until_end()):
            if connection.number == 0 and index == served:
                drop(connection)
                return
            connection.send(response(request.method))
    return handle


@pytest.mark.parametrize("end", ["close", "reset"])
@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS", "DELETE"])
def test_an_idempotent_request_that_a_reused_connection_dropped_is_sent_once_more(serving, method, end):
    proxy, origin = serving(dropping(1, lambda connection: getattr(connection, end)()))
    origin_handler = origin.handler

    def handle(connection):
        if method != "HEAD":
            origin_handler(connection)
            return
        for index, _ in enumerate(connection.requests_until_end()):
            if connection.number == 0 and index == 1:
                getattr(connection, end)()
                return
            connection.send(b"HTTP/1.1 200 OK\r\n" + (b"Content-Length: 3\r\n\r\nGET" if index == 0 and connection.number == 0
                                                      else b"Content-Length: 0\r\n\r\n"))
    origin.handler = handle
    with RawClient(proxy.port) as client:
        client.get()
        assert client.request(f"{method} /again HTTP/1.1\r\nHost: a\r\n\r\n").status == 200
    assert [request.connection for request in origin.requests if request.target == "/again"] == [0, 1]


@pytest.mark.parametrize("end", ["close", "reset"])
@pytest.mark.parametrize("method", ["POST", "PATCH", "X-METHOD"])
def test_a_request_that_is_not_idempotent_is_never_sent_twice(serving, method, end):
    proxy, origin = serving(dropping(1, lambda connection: getattr(connection, end)()))
    with RawClient(proxy.port) as client:
        client.get()
        answer = client.request(f"{method} /once HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbody".encode())
        assert answer.status == 502
        assert "error=" in answer.fields.only("Proxy-Status")
    assert sum(request.target == "/once" for request in origin.requests) == 1


def test_a_fresh_connection_that_drops_a_post_is_not_tried_again(serving):
    proxy, origin = serving(dropping(0, lambda connection: connection.close()))
    with RawClient(proxy.port) as client:
        assert client.request(POST).status == 502
    assert len(origin.requests) == 1


def test_the_number_of_attempts_is_bounded(serving):
    def handle(connection):
        connection.read_request()  # And closes without an answer, always.
    proxy, origin = serving(handle)
    assert simple_get(proxy.port).status == 502
    assert 1 <= len(origin.requests) <= 2


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_close_that_crosses_the_next_request_leaves_no_client_without_an_answer(serving, method):
    """The origin ends each connection right behind its answer, and reads on: sometimes the next
    request is sent before the FIN is seen. No request may be lost in between."""
    def handle(connection):
        if connection.read_request() is not None:
            connection.send(response(b"ok"))
            connection.half_close()
            connection.read_to_end()
    proxy, _ = serving(handle)
    allowed = {200} if method == "GET" else {200, 502}
    for _ in range(scaled(150, 5000)):
        with RawClient(proxy.port, timeout=5) as client:
            assert client.request(f"{method} / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n").status in allowed


def test_no_retry_if_it_is_switched_off(serving):
    proxy, origin = serving(dropping(1, lambda connection: connection.close()),
                            timeouts={"networkFailureRetryAttempts": 0})
    with RawClient(proxy.port) as client:
        client.get()
        assert client.get("/again").status == 502
    assert sum(request.target == "/again" for request in origin.requests) == 1


@pytest.mark.parametrize("part", [b"H", b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n",
                                  b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab",
                                  b"HTTP/1.1 100 Continue\r\n\r\n"])
def test_nothing_is_retried_after_the_first_byte_of_an_answer(serving, part):
    def drop(connection):
        connection.send(part)
        connection.close()
    proxy, origin = serving(dropping(1, drop))
    with RawClient(proxy.port) as client:
        client.get()
        client.send(b"GET /again HTTP/1.1\r\nHost: a\r\n\r\n")
        try:
            assert client.read_response().status == 502
        except IncompleteMessage:
            pass
    assert sum(request.target == "/again" for request in origin.requests) == 1


def test_a_streamed_upload_is_not_replayed(serving):
    """The body is gone: even PUT must not be sent again with what is left of it."""
    def handle(connection):
        for index, request in enumerate(iter(connection.read_head, None)):
            if connection.number == 0 and index == 1:
                connection.stream.read_exact(100)
                connection.reset()
                return
            connection.read_body(request)
            connection.send(response(b"ok"))
    proxy, origin = serving(handle)
    size = 1 << 20
    with RawClient(proxy.port) as client:
        client.get()
        client.try_send(f"PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: {size}\r\n\r\n".encode() + bytes(size))
        try:
            status = client.read_response("PUT").status
        except IncompleteMessage:
            status = 502  # The proxy closed while we still sent.
    assert status == 502 or [len(request.body) for request in origin.requests][-1] == size


def test_a_connection_is_not_reused_after_an_incomplete_exchange(serving):
    """The client leaves in the middle of a response: the rest of it must not answer others. The
    connection may be used again only if that rest was read to its end."""
    def handle(connection):
        for request in connection.requests_until_end():
            if request.target == "/big":
                connection.send(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nstart")
                connection.wait(gone)
                connection.send(bytes(995))
            else:
                connection.send(response(b"right"))
    gone = threading.Event()
    proxy, origin = serving(handle)
    with RawClient(proxy.port) as client:
        client.send("GET /big HTTP/1.1\r\nHost: a\r\n\r\n")
        client.read_head()
        client.stream.read_until(b"start")
    gone.set()
    for _ in range(3):
        assert simple_get(proxy.port).body == b"right"
    assert len(origin.requests) == 4


def test_a_connection_is_not_reused_after_an_unfinished_upload(serving):
    proxy, origin = serving()
    with RawClient(proxy.port) as client:
        client.get()
        client.send("POST /part HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\nhalf")
        wait_until(lambda: len(origin.heads) == 2, "the head of the upload")
    assert origin.connections[0].ended.wait(10), "the origin waits for the rest"
    assert simple_get(proxy.port).status == 200
    assert [request.target for request in origin.requests] == ["/", "/"]


def test_pools_of_different_origins_do_not_mix(start_proxy, start_origin):
    origins = [start_origin(replying(lambda request, name=name: response(name))) for name in "ab"]
    proxy = start_proxy(routed(
        [route(name, name, path=f"/{name}", pathKind="Exact") for name in "ab"],
        [cluster(name, [destination(origin)]) for name, origin in zip("ab", origins)]))
    with RawClient(proxy.port) as client:
        for _ in range(5):
            for name in "ab":
                assert client.get(f"/{name}").text == name
    assert [len(origin.connections) for origin in origins] == [1, 1]


def test_several_workers_serve_correctly(start_proxy, start_origin):
    origin = start_origin(replying(lambda request: response(request.target)))
    proxy = start_proxy(forward_to(origin, server={"pooling": {"threadPoolWorkerThread": 4}}))
    assert len(proxy.endpoints) == 1
    failures = []

    def load(name):
        for index in range(40):
            answer = simple_get(proxy.port, f"/{name}/{index}")
            if answer.text != f"/{name}/{index}":
                failures.append(answer)
    threads = [threading.Thread(target=load, args=(name,)) for name in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert failures == []
    assert len(origin.requests) == 320
    assert proxy.threads >= 4
