# SPDX-License-Identifier: MIT
"""Which requests a route takes, and which destination of a cluster serves them."""

import threading
from collections import Counter

import pytest
from harness.origin import replying, response
from harness.proxy import cluster, destination, forward_to, route, routed, to_cluster
from harness.raw import RawClient, simple_get
from harness.wait import free_port, wait_until


@pytest.fixture
def named_origin(start_origin):
    """named_origin("a") gives an origin whose every answer is "a"."""
    return lambda name: start_origin(replying(lambda request: response(name)))


def answered_by(proxy, text):
    with RawClient(proxy.port) as client:
        answer = client.request(text if text.endswith("\r\n\r\n") else f"GET {text} HTTP/1.1\r\nHost: a\r\n\r\n")
    return answer.text if answer.status == 200 else answer.status


@pytest.fixture(scope="module")
def table(start_shared_proxy, start_shared_origin):
    """One proxy with a route for each kind of match; each route has an origin that says its name."""
    matches = {
        "exact": {"path": "/exact", "pathKind": "Exact"},
        "prefix": {"path": "/prefix", "pathKind": "Prefix"},
        "longer": {"path": "/prefix/longer", "pathKind": "Prefix"},
        "template": {"path": "/users/{id}/posts/{post}", "pathKind": "Template"},
        "host": {"host": "one.example", "path": "/h", "pathKind": "Prefix"},
        "hosts": {"hosts": ["two.example", "three.example"], "path": "/h", "pathKind": "Prefix"},
        "method": {"method": "PUT", "path": "/m", "pathKind": "Prefix"},
        "header": {"headers": {"X-Kind": "beta"}, "path": "/x", "pathKind": "Prefix"},
        "query": {"query": {"v": "2"}, "path": "/q", "pathKind": "Prefix"},
        "both": {"headers": {"X-A": "1", "X-B": "2"}, "query": {"p": "q"}, "path": "/both", "pathKind": "Prefix"},
    }
    origins = {name: start_shared_origin(replying(lambda request, name=name: response(name))) for name in matches}
    return start_shared_proxy(routed(
        [route(name, name, **match) for name, match in matches.items()],
        [cluster(name, [destination(origin)]) for name, origin in origins.items()]))


@pytest.mark.parametrize("target, expected", [
    ("/exact", "exact"), ("/exact?x=y", "exact"), ("/exact/", 404), ("/exact/more", 404), ("/exactly", 404), ("/EXACT", 404),
    ("/prefix", "prefix"), ("/prefix/", "prefix"), ("/prefix/a/b?c", "prefix"), ("/prefix?q=1", "prefix"),
    ("/prefix/longer", "longer"), ("/prefix/longer/x", "longer"), ("/other", 404),
    ("/users/7/posts/9", "template"), ("/users/a%20b/posts/x", "template"), ("/users/7/posts", 404),
    ("/users/7/posts/9/more", 404), ("/users//posts/9", 404),
    # The same path, written differently (RFC 3986 §6.2.2).
    ("/%65xact", "exact"), ("/a/../exact", "exact"), ("/./exact", "exact"),
    ("/prefix/../exact", "exact"), ("/prefix/%2e%2e/exact", "exact"),
])
def test_a_path_finds_its_route(table, target, expected):
    assert answered_by(table, target) == expected


@pytest.mark.parametrize("host, expected", [
    ("one.example", "host"), ("ONE.Example", "host"), ("one.example:8080", "host"), ("one.example.", "host"),
    ("two.example", "hosts"), ("three.example", "hosts"), ("four.example", 404), ("xone.example", 404),
    ("one.example.evil", 404),
])
def test_a_host_finds_its_route(table, host, expected):
    if host == "one.example.":
        assert answered_by(table, f"GET /h HTTP/1.1\r\nHost: {host}\r\n\r\n") in (expected, 404)
    else:
        assert answered_by(table, f"GET /h HTTP/1.1\r\nHost: {host}\r\n\r\n") == expected


@pytest.mark.parametrize("text, expected", [
    ("PUT /m HTTP/1.1\r\nHost: a\r\n\r\n", "method"), ("GET /m HTTP/1.1\r\nHost: a\r\n\r\n", 404),
    ("GET /x HTTP/1.1\r\nHost: a\r\nX-Kind: beta\r\n\r\n", "header"),
    ("GET /x HTTP/1.1\r\nHost: a\r\nx-kind: beta\r\n\r\n", "header"),
    ("GET /x HTTP/1.1\r\nHost: a\r\nX-Kind: alpha\r\n\r\n", 404), ("GET /x HTTP/1.1\r\nHost: a\r\n\r\n", 404),
    ("GET /q?v=2 HTTP/1.1\r\nHost: a\r\n\r\n", "query"), ("GET /q?a=1&v=2&b HTTP/1.1\r\nHost: a\r\n\r\n", "query"),
    ("GET /q?v=3 HTTP/1.1\r\nHost: a\r\n\r\n", 404), ("GET /q?vv=2 HTTP/1.1\r\nHost: a\r\n\r\n", 404),
    ("GET /q?v=%32 HTTP/1.1\r\nHost: a\r\n\r\n", "query"), ("GET /q HTTP/1.1\r\nHost: a\r\n\r\n", 404),
    ("GET /both?p=q HTTP/1.1\r\nHost: a\r\nX-A: 1\r\nX-B: 2\r\n\r\n", "both"),
    ("GET /both?p=q HTTP/1.1\r\nHost: a\r\nX-A: 1\r\n\r\n", 404),
    ("GET /both HTTP/1.1\r\nHost: a\r\nX-A: 1\r\nX-B: 2\r\n\r\n", 404),
])
def test_method_header_and_query_find_their_route(table, text, expected):
    assert answered_by(table, text) == expected


def test_a_lower_order_wins(start_proxy, named_origin):
    origins = {name: named_origin(name) for name in ("first", "second")}
    proxy = start_proxy(routed(
        [route("b", "second", path="/a/b", pathKind="Exact", order=2), route("a", "first", path="/a", pathKind="Prefix", order=1)],
        [cluster(name, [destination(origin)]) for name, origin in origins.items()]))
    assert answered_by(proxy, "/a/b") == "first"


def test_without_an_order_the_more_specific_route_wins(start_proxy, named_origin):
    kinds = {"all": ("/", "Prefix"), "prefix": ("/a", "Prefix"), "template": ("/a/{x}", "Template"), "exact": ("/a/b", "Exact")}
    origins = {name: named_origin(name) for name in kinds}
    proxy = start_proxy(routed(
        [route(name, name, path=path, pathKind=kind) for name, (path, kind) in kinds.items()],
        [cluster(name, [destination(origin)]) for name, origin in origins.items()]))
    assert [answered_by(proxy, target) for target in ("/a/b", "/a/c", "/a/c/d", "/z")] == ["exact", "template", "prefix", "all"]


def test_requests_of_one_connection_go_to_different_clusters(table):
    with RawClient(table.port) as client:
        for _ in range(3):
            assert client.get("/exact").text == "exact"
            assert client.get("/prefix").text == "prefix"
            assert client.get("/nowhere").status == 404


# Clusters -------------------------------------------------------------------------------------

def counts(proxy, requests):
    with RawClient(proxy.port) as client:
        return Counter(client.get().text for _ in range(requests))


def test_round_robin_takes_turns(start_proxy, named_origin):
    origins = [named_origin(name) for name in "abc"]
    proxy = start_proxy(to_cluster([destination(origin) for origin in origins]))
    with RawClient(proxy.port) as client:
        turns = [client.get().text for _ in range(9)]
    assert Counter(turns) == {"a": 3, "b": 3, "c": 3}
    assert all(one != two for one, two in zip(turns, turns[1:]))


def test_round_robin_follows_the_weights(start_proxy, named_origin):
    weights = {"a": 3, "b": 1}
    proxy = start_proxy(to_cluster([destination(named_origin(name), weight=weight) for name, weight in weights.items()]))
    assert counts(proxy, 40) == {"a": 30, "b": 10}


def test_random_uses_all_destinations_by_weight(start_proxy, named_origin):
    weights = {"a": 3, "b": 1}
    proxy = start_proxy(to_cluster([destination(named_origin(name), weight=weight) for name, weight in weights.items()],
                                   cluster_keys={"algorithm": "Random"}))
    seen = counts(proxy, 400)
    # 300 are expected, the standard deviation is 8.7: this fails by chance once in some 10^9 runs.
    assert 245 < seen["a"] < 355
    assert seen["a"] + seen["b"] == 400


def test_least_requests_avoids_the_busy_destination(start_proxy, start_origin):
    go = threading.Event()

    def busy_or(name):
        def handle(connection):
            for request in connection.requests_until_end():
                if request.target == "/hold":
                    connection.wait(go)
                connection.send(response(name))
        return handle
    origins = [start_origin(busy_or(name)) for name in "ab"]
    proxy = start_proxy(to_cluster([destination(origin) for origin in origins], cluster_keys={"algorithm": "LeastRequests"}))
    with RawClient(proxy.port) as holder:
        holder.send("GET /hold HTTP/1.1\r\nHost: a\r\n\r\n")
        wait_until(lambda: any(origin.requests for origin in origins), "the request that is held")
        busy = "a" if origins[0].requests else "b"
        assert counts(proxy, 10) == {"b" if busy == "a" else "a": 10}
        go.set()
        assert holder.read_response().text == busy


def test_the_host_of_the_client_is_kept_or_replaced(start_proxy, start_origin):
    origin = start_origin()
    for replaced in (False, True):
        proxy = start_proxy(to_cluster([destination(origin, address="localhost", useDestinationHost=replaced)]))
        simple_get(proxy.port, host_field="public.example")
    kept, own = (request.fields.only("Host") for request in origin.requests)
    assert kept == "public.example"
    assert own in (f"localhost:{origin.port}", "localhost")


class Refusing:
    host = "127.0.0.1"

    def __init__(self):
        self.port = free_port()


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_destination_that_refuses_is_passed_over(start_proxy, named_origin, method):
    """Nothing was sent, so even a POST with a body may go to the next one."""
    proxy = start_proxy(to_cluster([destination(Refusing(), "dead"), destination(named_origin("alive"), "alive")]))
    with RawClient(proxy.port) as client:
        for _ in range(6):
            answer = client.request(f"{method} / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbody".encode(), method)
            assert (answer.status, answer.text) == (200, "alive")


def test_a_name_with_two_addresses_is_raced(start_proxy, start_origin):
    """localhost may resolve to ::1 and 127.0.0.1; the origin listens on one of them only."""
    origin = start_origin()
    proxy = start_proxy(to_cluster([destination(origin, address="localhost")]))
    assert simple_get(proxy.port).status == 200


def test_an_ipv6_destination(start_proxy, start_origin):
    try:
        origin = start_origin(host="::1")
    except OSError:
        pytest.skip("this machine has no IPv6 loopback")
    proxy = start_proxy(to_cluster([destination(origin)]))
    assert simple_get(proxy.port).status == 200


def test_a_listener_with_forward_host_needs_no_routes(start_proxy, named_origin):
    assert answered_by(start_proxy(forward_to(named_origin("only"))), "/any/path") == "only"


def test_two_listeners_forward_to_two_origins(start_proxy, named_origin):
    config = forward_to(named_origin("a"))
    second = named_origin("b")
    config["listeners"].append(config["listeners"][0] | {"forwardPort": second.port})
    proxy = start_proxy(config)
    ports = [port for _, port in proxy.endpoints]
    assert [simple_get(port).text for port in ports] == ["a", "b"]
