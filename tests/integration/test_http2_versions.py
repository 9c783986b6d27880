# SPDX-License-Identifier: MIT
"""Which version is spoken: to an origin (configured, or found out by ALPN), and by a client."""

import pytest
from harness import frames as h2
from harness.frames import FrameClient
from harness.origin import response, server_context
from harness.proxy import destination, forward_to, listener, merged, to_cluster
from harness.raw import RawClient, client_context
from harness.talk import talk_origin

WAIT = 15


# ---- Which version is spoken to an origin


def either(talk):
    talk.respond(body=talk.version.encode())


def to_tls(origin, authority, **keys):
    return to_cluster([destination(origin, address="localhost", useHttps=True)],
                      cluster_keys={"tls": {"caPath": authority.certificate}} | keys)


@pytest.mark.parametrize("protocol, alpn, spoken", [
    ("auto", ("h2", "http/1.1"), b"HTTP/2"), ("auto", ("h2",), b"HTTP/2"), ("auto", ("http/1.1",), b"HTTP/1.1"),
    ("auto", (), b"HTTP/1.1"), ("http11", ("h2", "http/1.1"), b"HTTP/1.1"), ("http11", (), b"HTTP/1.1"),
    ("http2", ("h2", "http/1.1"), b"HTTP/2"), ("http2", ("http/1.1",), None), ("http2", (), None)])
def test_alpn_decides(start_proxy, start_origin, authority, localhost_pair, protocol, alpn, spoken):
    origin = start_origin(talk_origin(either, "alpn"), tls=server_context(localhost_pair, alpn=alpn))
    proxy = start_proxy(to_tls(origin, authority, upstreamHttpProtocol=protocol))
    for ask in (lambda: RawClient(proxy.port), lambda: FrameClient(proxy.port)):
        for _ in range(3):
            with ask() as client:
                if isinstance(client, RawClient):
                    answer = client.get()
                    status, body = answer.status, answer.body
                else:
                    head, body, _ = client.get(1)
                    status = head.status
                assert (status, body) == (200, spoken) if spoken else status == 502
    if spoken == b"HTTP/2":
        assert origin.accepted == 1


def test_many_first_requests_share_what_discovery_finds(start_proxy, start_origin, authority, localhost_pair):
    """40 at a time to an origin that nobody has asked yet: one connection, if it speaks HTTP/2."""
    origin = start_origin(talk_origin(either, "alpn"), tls=server_context(localhost_pair, alpn=("h2", "http/1.1")))
    proxy = start_proxy(to_tls(origin, authority))
    with FrameClient(proxy.port) as client:
        client.send(*(h2.get(stream) for stream in range(1, 80, 2)))
        for _ in range(40):
            assert client.wait_kind(h2.HEADERS).status == 200
    assert origin.accepted == 1


def test_many_first_requests_to_an_origin_of_http1(start_proxy, start_origin, authority, localhost_pair):
    origin = start_origin(talk_origin(either, "alpn"), tls=server_context(localhost_pair, alpn=("http/1.1",)))
    proxy = start_proxy(to_tls(origin, authority))
    with FrameClient(proxy.port) as client:
        client.send(*(h2.get(stream) for stream in range(1, 80, 2)))
        for _ in range(40):
            assert client.wait_kind(h2.HEADERS).status == 200


def test_http2_without_tls_to_an_origin_of_http1_is_502(start_proxy, origin):
    def bad_request(connection):
        connection.stream.read_until(b"\r\n\r\n")
        connection.send(response(b"", 400, "Bad Request", [("Connection", "close")]))
    origin.handler = bad_request
    proxy = start_proxy(forward_to(origin, upstreamHttpProtocol="http2"))
    with RawClient(proxy.port) as client:
        assert client.get().status == 502
        assert client.get().status == 502


def test_an_origin_that_changes_its_version(start_proxy, start_origin, authority, localhost_pair):
    """An HTTP/2 origin that comes back with HTTP/1 only, and the other way round."""
    origin = start_origin(talk_origin(either, "alpn"), tls=server_context(localhost_pair, alpn=("h2", "http/1.1")))
    proxy = start_proxy(to_tls(origin, authority))
    for alpn, spoken in ((("h2",), b"HTTP/2"), (("http/1.1",), b"HTTP/1.1"), (("h2", "http/1.1"), b"HTTP/2")):
        for connection in origin.connections:
            if not connection.ended.is_set():
                connection.sock.shutdown(2)
                assert connection.ended.wait(WAIT)
        origin.forget()
        origin.tls = server_context(localhost_pair, alpn=alpn)
        answer = None
        for _ in range(2):
            with RawClient(proxy.port) as client:
                answer = client.get()
                assert answer.status == 200
        assert answer.body == spoken


# ---- Which version a client may speak


def test_upgrade_to_h2c_is_ignored(start_proxy, start_origin):
    origin = start_origin()
    proxy = start_proxy(forward_to(origin))
    with RawClient(proxy.port) as client:
        fields = "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n"
        answer = client.get("/", fields=fields)
        assert (answer.status, answer.body) == (200, b"ok")
        assert client.get().status == 200
    seen = origin.requests[0].fields
    assert "HTTP2-Settings" not in seen
    assert "h2c" not in seen.tokens("Upgrade")


@pytest.mark.parametrize("where", ["listener", "server"])
def test_http2_can_be_switched_off(start_proxy, origin, authority, localhost_pair, where):
    config = forward_to(origin, tls_pair=localhost_pair)
    if where == "server":
        config = merged(config, {"server": {"enableHttp2": False}})
    else:
        for one in config["listeners"]:
            one["enableHttp2"] = False
        keys = {"forwardHost": origin.host, "forwardPort": origin.port}
        config["listeners"].append(listener(**keys))
    proxy = start_proxy(config)
    with RawClient(proxy.port) as client:
        client.send(h2.PREFACE + h2.settings() + h2.get(1))
        said, _ = client.read_to_end()
        assert said.startswith((b"HTTP/1.1 400", b"HTTP/1.1 505"))
    tls = client_context(authority.certificate, alpn=("h2", "http/1.1"))
    with RawClient(proxy.tls_port, tls=tls) as client:
        assert client.sock.selected_alpn_protocol() == "http/1.1"
        assert client.get().status == 200
    if where == "listener":  # And stays on elsewhere.
        other = [port for scheme, port in proxy.endpoints if scheme == "http"][1]
        with FrameClient(other) as client:
            assert client.get(1)[0].status == 200


def test_http1_and_http2_on_one_listener(start_proxy, origin, authority, localhost_pair):
    proxy = start_proxy(forward_to(origin, tls_pair=localhost_pair))
    for port, options in ((proxy.port, lambda alpn: {}),
                          (proxy.tls_port, lambda alpn: {"tls": client_context(authority.certificate, alpn=alpn)})):
        with RawClient(port, **options(("http/1.1",))) as client:
            assert client.get().status == 200
        with FrameClient(port, **options(("h2",))) as client:
            assert client.get(1)[0].status == 200
