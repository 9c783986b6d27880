# SPDX-License-Identifier: MIT
"""Answers that the proxy makes itself: status, Proxy-Status (RFC 9209), a reason for a human."""

import re
import threading

import pytest
from harness.message import IncompleteMessage
from harness.origin import BlackHole, response
from harness.proxy import cluster, destination, forward_to, route, routed, to_cluster
from harness.raw import RawClient, simple_get
from harness.wait import free_port, wait_until


class Nowhere:
    """An address where nobody listens."""
    host = "127.0.0.1"

    def __init__(self):
        self.port = free_port()


def check_generated(answer, status):
    assert answer.status == status
    value = answer.fields.only("Proxy-Status")
    assert re.match(r"titanium\s*;", value), value
    assert re.search(r";\s*error=[a-z_]+", value), value
    assert answer.fields.get("Content-Type", "").startswith("text/plain")
    assert answer.fields.only("Date").endswith("GMT")
    assert 0 < len(answer.body) < 2000
    return value


def silent(connection):
    """Reads and never answers."""
    connection.read_request()
    connection.read_to_end()


@pytest.fixture
def in_front_of(start_proxy, start_origin):
    def start(handler, **server):
        return start_proxy(forward_to(start_origin(handler), server=server))
    return start


def test_502_if_the_origin_refuses_the_connection(start_proxy):
    value = check_generated(simple_get(start_proxy(forward_to(Nowhere())).port), 502)
    assert "connection_refused" in value or "destination_unavailable" in value


def test_502_if_the_name_of_the_origin_does_not_resolve(start_proxy):
    nowhere = Nowhere()
    nowhere.host = "no-such-name.invalid"
    value = check_generated(simple_get(start_proxy(forward_to(nowhere)).port), 502)
    assert "error=dns_" in value


def test_502_keeps_the_client_connection(start_proxy):
    proxy = start_proxy(forward_to(Nowhere()))
    with RawClient(proxy.port) as client:
        for _ in range(3):
            assert client.get().status == 502


def test_502_for_a_response_that_is_not_http(in_front_of):
    proxy = in_front_of(lambda connection: (connection.read_request(), connection.send(b"garbage\r\n\r\n")))
    check_generated(simple_get(proxy.port), 502)


def test_502_for_an_over_long_response_head(in_front_of):
    def handle(connection):
        connection.read_request()
        connection.send(b"HTTP/1.1 200 OK\r\nX: " + b"a" * 9000 + b"\r\n\r\n")
    proxy = in_front_of(handle, limits={"maxHeaderLineBytes": 8192})
    check_generated(simple_get(proxy.port), 502)


def test_504_if_the_connection_is_not_made_in_time(start_proxy):
    with BlackHole() as hole:
        hole.host = "127.0.0.1"
        proxy = start_proxy(forward_to(hole, server={"timeouts": {"connectTimeOutSeconds": 0.3}}))
        value = check_generated(simple_get(proxy.port), 504)
    assert "timeout" in value


@pytest.mark.parametrize("key", ["responseHeaderTimeoutSeconds", "requestTimeoutSeconds", "idleReadTimeoutSeconds"])
def test_504_if_the_origin_does_not_answer_in_time(in_front_of, key):
    proxy = in_front_of(silent, timeouts={key: 0.3})
    answer = simple_get(proxy.port)
    check_generated(answer, 504)
    assert key in answer.text, "the reason names the key"


def test_the_response_header_timeout_counts_from_the_end_of_the_request(in_front_of):
    def handle(connection):
        connection.send(response(connection.read_request().body))
        connection.read_to_end()
    proxy = in_front_of(handle, timeouts={"responseHeaderTimeoutSeconds": 0.5})
    pause = threading.Event()
    with RawClient(proxy.port) as client:
        client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\n")
        for byte in "body":
            pause.wait(0.25)
            client.send(byte)
        assert client.read_response("POST").body == b"body"


@pytest.mark.parametrize("key", ["idleReadTimeoutSeconds", "requestTimeoutSeconds"])
def test_an_answer_that_stalls_in_its_body_is_cut_and_not_completed(in_front_of, key):
    def handle(connection):
        connection.read_request()
        connection.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n")
        connection.read_to_end()
    proxy = in_front_of(handle, timeouts={key: 0.3})
    with pytest.raises(IncompleteMessage) as caught:
        simple_get(proxy.port)
    assert caught.value.message.body == b"abc"


def test_a_steady_answer_outlives_the_idle_timeout(in_front_of):
    pause = threading.Event()

    def handle(connection):
        connection.read_request()
        connection.send(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n")
        for _ in range(6):
            pause.wait(0.15)
            connection.send(b".")
        connection.read_to_end()
    proxy = in_front_of(handle, timeouts={"idleReadTimeoutSeconds": 0.5})
    assert simple_get(proxy.port).body == b"......"


def test_408_if_the_request_head_is_not_complete_in_time(in_front_of):
    proxy = in_front_of(silent, timeouts={"clientHeaderTimeoutSeconds": 0.3})
    with RawClient(proxy.port) as client:
        client.send("GET / HTTP/1.1\r\nHost: a\r\nX-Slow: ")
        check_generated(client.read_response(), 408)
        client.expect_closed()


def test_an_idle_connection_is_closed_without_a_word(in_front_of):
    proxy = in_front_of(silent, timeouts={"connectionTimeOutSeconds": 0.4})
    with RawClient(proxy.port) as client:
        assert client.expect_closed() == "fin"


def test_413_for_a_declared_body_over_the_limit(start_proxy, start_origin):
    origin = start_origin()
    proxy = start_proxy(forward_to(origin, server={"limits": {"maxRequestBodyBytes": 1000}}))
    with RawClient(proxy.port) as client:
        client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1001\r\n\r\n")
        check_generated(client.read_response("POST"), 413)
    assert origin.heads == []
    with RawClient(proxy.port) as client:
        assert client.request(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n" + bytes(1000)).status == 200


def test_413_for_a_chunked_body_that_grows_over_the_limit(start_proxy, start_origin):
    origin = start_origin()
    proxy = start_proxy(forward_to(origin, server={"limits": {"maxRequestBodyBytes": 1000}}))
    with RawClient(proxy.port) as client:
        client.send(b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1f4\r\n" + bytes(500) + b"\r\n")
        client.send(b"1f5\r\n" + bytes(501) + b"\r\n0\r\n\r\n")
        answer = client.read_response("POST")
        check_generated(answer, 413)
        assert origin.requests == [], "the origin got a complete request"
        if answer.keeps_alive:
            assert client.get().status == 200  # The rest of the body was read and dropped.
        else:
            client.expect_closed()


LIMITS = {"maxHeaderLineBytes": 2000, "maxHeaderCount": 20, "maxHeaderAggregateBytes": 6000,
          "maxTrailerHeaderCount": 5, "maxTrailerHeaderBlockBytes": 500}


@pytest.fixture(scope="module")
def limited(start_shared_proxy, start_shared_origin):
    origin = start_shared_origin()
    return start_shared_proxy(forward_to(origin, server={"limits": LIMITS})), origin


def many(count, value="v", name="X-F{}"):
    return "".join(f"{name.format(index)}: {value}\r\n" for index in range(count))


OVER_LIMIT = {
    "request line": (414, "GET /" + "x" * 3000 + " HTTP/1.1\r\nHost: a\r\n\r\n"),
    "request line without an end": (414, "GET /" + "x" * 3000),
    "method": ((400, 414, 501), "G" * 3000),
    "field line": (431, "GET / HTTP/1.1\r\nHost: a\r\nX: " + "y" * 3000 + "\r\n\r\n"),
    "field line without an end": (431, "GET / HTTP/1.1\r\nHost: a\r\nX: " + "y" * 3000),
    "number of fields": (431, "GET / HTTP/1.1\r\nHost: a\r\n" + many(25) + "\r\n"),
    "bytes of all fields": (431, "GET / HTTP/1.1\r\nHost: a\r\n" + many(10, "v" * 900) + "\r\n"),
    "trailer count": (431, "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n" + many(6) + "\r\n"),
    "trailer bytes": (431, "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n" + many(2, "v" * 300) + "\r\n"),
    "trailer without an end": (431, "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX: " + "v" * 600),
}


@pytest.mark.parametrize("name", OVER_LIMIT)
def test_what_is_over_a_limit_is_refused(limited, name):
    proxy, origin = limited
    origin.forget()
    statuses, text = OVER_LIMIT[name]
    with RawClient(proxy.port) as client:
        client.try_send(text)
        answer = client.read_response()
        rest, _ = client.read_to_end()
    statuses = statuses if isinstance(statuses, tuple) else (statuses,)
    assert answer.status in statuses
    check_generated(answer, answer.status)
    assert rest == b""
    assert origin.requests == []


@pytest.mark.parametrize("text", [
    "GET /" + "x" * 1900 + " HTTP/1.1\r\nHost: a\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: a\r\nX: " + "y" * 1900 + "\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: a\r\n" + many(19) + "\r\n",
    "GET / HTTP/1.1\r\nHost: a\r\n" + many(5, "v" * 900) + "\r\n",
    "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n" + many(5) + "\r\n",
])
def test_what_is_just_under_a_limit_passes(limited, text):
    proxy, _ = limited
    with RawClient(proxy.port) as client:
        assert client.request(text).status == 200


def test_400_and_501_are_generated_answers(limited):
    proxy, _ = limited
    with RawClient(proxy.port) as client:
        check_generated(client.request("GET / HTTP/1.1\r\n\r\n"), 400)
    with RawClient(proxy.port) as client:
        check_generated(client.request("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: foo\r\n\r\n"), 501)


def test_404_if_no_route_matches(start_proxy, origin):
    proxy = start_proxy(routed([route("r", "c", path="/known", pathKind="Exact")], [cluster("c", [destination(origin)])]))
    with RawClient(proxy.port) as client:
        check_generated(client.get("/unknown"), 404)
        assert client.get("/known").status == 200, "the connection goes on"
    assert len(origin.requests) == 1


def test_404_drains_the_body_or_closes(start_proxy, origin):
    """The body of a request that nobody wanted must not be taken for the next request."""
    proxy = start_proxy(routed([route("r", "c", path="/known", pathKind="Exact")], [cluster("c", [destination(origin)])]))
    body = b"GET /known HTTP/1.1\r\nHost: a\r\n\r\n"
    with RawClient(proxy.port) as client:
        client.send(b"POST /unknown HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        answer = client.read_response("POST")
        assert answer.status == 404
        if answer.keeps_alive:
            assert client.get("/known").status == 200
        else:
            client.expect_closed()
    assert len(origin.requests) == (1 if answer.keeps_alive else 0)


def test_a_generated_answer_to_head_has_no_body(start_proxy):
    proxy = start_proxy(forward_to(Nowhere()))
    with RawClient(proxy.port) as client:
        assert client.request("HEAD / HTTP/1.1\r\nHost: a\r\n\r\n").status == 502
        assert client.get().status == 502  # Would be garbled by the bytes of a body.


@pytest.mark.parametrize("where", ["listener", "server"])
def test_503_for_a_client_over_the_limit(start_proxy, origin, where):
    if where == "listener":
        config = forward_to(origin, maxConcurrentClients=2)
    else:
        config = forward_to(origin, server={"pooling": {"maxConcurrentClientConnections": 2}})
    proxy = start_proxy(config)
    with RawClient(proxy.port) as one, RawClient(proxy.port) as two:
        assert one.get().status == 200
        assert two.get().status == 200
        with RawClient(proxy.port) as three:
            three.try_send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            check_generated(three.read_response(), 503)
            three.read_to_end()
        assert one.get().status == 200
    # Room again, as soon as the proxy has noticed that they left.
    wait_until(lambda: simple_get(proxy.port).status == 200, "room for a client")


def test_503_or_502_if_no_destination_is_left(start_proxy):
    proxy = start_proxy(to_cluster([destination(Nowhere(), "a"), destination(Nowhere(), "b")]))
    assert simple_get(proxy.port).status in (502, 503)


def test_no_generated_answer_names_the_origin_address(start_proxy):
    """RFC 9209 §3: error details help, but addresses behind the proxy are nobody's business."""
    nowhere = Nowhere()
    answer = simple_get(start_proxy(forward_to(nowhere)).port)
    assert str(nowhere.port) not in answer.fields.only("Proxy-Status")


def test_the_origins_own_errors_pass_untouched(in_front_of):
    proxy = in_front_of(lambda connection: [
        connection.send(response(b"mine", status=int(request.target[1:]), reason="Own"))
        for request in connection.requests_until_end()])
    with RawClient(proxy.port) as client:
        for status in (400, 404, 413, 431, 500, 501, 502, 503, 504, 508):
            answer = client.get(f"/{status}")
            assert (answer.status, answer.reason, answer.body) == (status, "Own", b"mine")
            assert "error=" not in answer.fields.get("Proxy-Status", "")
