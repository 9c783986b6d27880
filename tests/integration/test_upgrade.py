# SPDX-License-Identifier: MIT
"""Upgrade (RFC 9110 §7.8): WebSocket with an independent client and server, and raw tunnels."""

import asyncio
import os
import threading
import types

import pytest
from harness.message import ConnectionEnded
from harness.origin import response, server_context
from harness.proxy import destination, forward_to, to_cluster
from harness.raw import RawClient, client_context
from harness.wait import wait_until
from websockets.asyncio.client import connect
from websockets.asyncio.server import serve
from websockets.datastructures import Headers
from websockets.exceptions import InvalidStatus
from websockets.http11 import Response

UPGRADE = b"GET /ws HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: raw/1\r\n\r\n"
SWITCH = b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: raw/1\r\n\r\n"


class WebSocketServer:
    """A server of the websockets library in a thread of its own."""

    def __init__(self, handler, **options):
        self.host = "127.0.0.1"
        self.port = None
        self.handler = handler
        self.options = {"close_timeout": 1} | options
        self.ready = threading.Event()
        self.thread = threading.Thread(target=lambda: asyncio.run(self._run()), daemon=True)

    async def _run(self):
        self.loop = asyncio.get_running_loop()
        self.done = asyncio.Event()
        async with serve(self.handler, self.host, 0, **self.options) as server:
            self.port = server.sockets[0].getsockname()[1]
            self.ready.set()
            await self.done.wait()

    def __enter__(self):
        self.thread.start()
        assert self.ready.wait(10)
        return self

    def __exit__(self, *_):
        self.loop.call_soon_threadsafe(self.done.set)
        self.thread.join(10)


async def echo_messages(socket):
    async for message in socket:
        await socket.send(message)


def test_websocket_messages_come_back(start_proxy):
    async def talk(port):
        async with connect(f"ws://127.0.0.1:{port}/ws?x=1", proxy=None, max_size=None) as socket:
            for message in ("text", "", b"binary", "\N{SNOWMAN}", os.urandom(70_000), b"x" * 3_000_000):
                await socket.send(message)
                assert await socket.recv() == message
            await (await socket.ping())
        assert socket.close_code == 1000
    with WebSocketServer(echo_messages, max_size=None) as server:
        asyncio.run(talk(start_proxy(forward_to(server)).port))


def test_websocket_over_tls_on_both_legs(start_proxy, authority, localhost_pair):
    async def talk(port):
        tls = client_context(authority.certificate)
        async with connect(f"wss://localhost:{port}/", proxy=None, ssl=tls) as socket:
            for size in (0, 1, 126, 65_536, 300_000):
                await socket.send(b"y" * size)
                assert await socket.recv() == b"y" * size
    with WebSocketServer(echo_messages, ssl=server_context(localhost_pair)) as server:
        config = to_cluster([destination(server, address="localhost", useHttps=True)],
                            cluster_keys={"tls": {"caPath": authority.certificate}}, decryptSsl=True)
        config["certificates"] = {"certificatePath": localhost_pair.certificate, "privateKeyPath": localhost_pair.key}
        asyncio.run(talk(start_proxy(config).tls_port))


def test_the_server_may_speak_first_and_close_with_a_code(start_proxy):
    async def greet(socket):
        await socket.send("hello")
        await socket.close(4321, "bye")

    async def talk(port):
        async with connect(f"ws://127.0.0.1:{port}/", proxy=None) as socket:
            assert await socket.recv() == "hello"
            await socket.wait_closed()
            assert (socket.close_code, socket.close_reason) == (4321, "bye")
    with WebSocketServer(greet) as server:
        asyncio.run(talk(start_proxy(forward_to(server)).port))


def test_websocket_subprotocol_and_fields_pass(start_proxy):
    seen = []

    async def record(socket):
        seen.append((socket.subprotocol, socket.request.headers["X-Own"], socket.request.path))

    async def talk(port):
        async with connect(f"ws://127.0.0.1:{port}/chat", proxy=None, subprotocols=["a", "b"],
                           additional_headers={"X-Own": "1"}) as socket:
            assert socket.subprotocol == "b"
            await socket.wait_closed()
    with WebSocketServer(record, subprotocols=["b"]) as server:
        asyncio.run(talk(start_proxy(forward_to(server)).port))
    assert seen == [("b", "1", "/chat")]


def test_many_websockets_at_once_both_ways(start_proxy):
    async def one(port, index):
        async with connect(f"ws://127.0.0.1:{port}/", proxy=None) as socket:
            for round_ in range(20):
                await socket.send(f"{index}/{round_}")
            assert [await socket.recv() for _ in range(20)] == [f"{index}/{round_}" for round_ in range(20)]

    async def talk(port):
        await asyncio.gather(*(one(port, index) for index in range(40)))
    with WebSocketServer(echo_messages) as server:
        asyncio.run(talk(start_proxy(forward_to(server)).port))


def test_a_refused_websocket_upgrade_stays_http(start_proxy):
    def refuse(_, request):
        return Response(403, "Forbidden", Headers([("Content-Length", "2")]), b"no")

    async def talk(port):
        with pytest.raises(InvalidStatus) as caught:
            async with connect(f"ws://127.0.0.1:{port}/", proxy=None, close_timeout=1):
                pass
        assert caught.value.response.status_code == 403
        assert caught.value.response.body == b"no"
    with WebSocketServer(echo_messages, process_request=refuse) as server:
        asyncio.run(talk(start_proxy(forward_to(server)).port))


# Raw tunnels ----------------------------------------------------------------------------------

@pytest.fixture
def tunnel(start_proxy, start_origin):
    """tunnel(handler): the handler takes over after the 101."""
    def start(handler, **options):
        def handle(connection):
            head = connection.read_head()
            assert "upgrade" in head.fields.tokens("Connection")
            assert head.fields.only("Upgrade") == "raw/1"
            connection.send(SWITCH)
            handler(connection)
        origin = start_origin(handle)
        return types.SimpleNamespace(proxy=start_proxy(forward_to(origin, **options)), origin=origin)
    return start


def upgraded(port):
    client = RawClient(port)
    client.send(UPGRADE)
    answer = client.read_response()
    assert answer.status == 101
    assert "upgrade" in answer.fields.tokens("Connection")
    assert answer.fields.only("Upgrade") == "raw/1"
    return client


def test_all_bytes_pass_both_ways(tunnel):
    every = bytes(range(256)) * 100

    def handle(connection):
        assert connection.stream.read_exact(len(every)) == every
        connection.send(every[::-1])
        connection.read_to_end()
    with upgraded(tunnel(handle).proxy.port) as client:
        client.send(every)
        assert client.read_exact(len(every)) == every[::-1]


def test_the_origin_may_speak_first(tunnel):
    def handle(connection):
        connection.send(b"banner")
        assert connection.stream.read_exact(5) == b"reply"
    with upgraded(tunnel(handle).proxy.port) as client:
        assert client.read_exact(6) == b"banner"
        client.send(b"reply")


def test_bytes_right_behind_the_upgrade_request_reach_the_origin_after_101(tunnel):
    def handle(connection):
        assert connection.stream.read_exact(5) == b"early"
        connection.send(b"got it")
    with RawClient(tunnel(handle).proxy.port) as client:
        client.send(UPGRADE + b"early")
        assert client.read_response().status == 101
        assert client.read_exact(6) == b"got it"


def test_bytes_right_behind_the_101_reach_the_client(start_proxy, start_origin):
    def handle(connection):
        connection.read_head()
        connection.send(SWITCH + b"first bytes")
        connection.read_to_end()
    proxy = start_proxy(forward_to(start_origin(handle)))
    with upgraded(proxy.port) as client:
        assert client.read_exact(11) == b"first bytes"


def test_a_half_close_of_the_client_passes_and_the_other_way_stays_open(tunnel):
    def handle(connection):
        data, how = connection.read_to_end()
        assert (data, how) == (b"request", "fin")
        connection.send(b"answer " * 1000)
    with upgraded(tunnel(handle).proxy.port) as client:
        client.send(b"request")
        client.half_close()
        data, how = client.read_to_end()
    assert (data, how) == (b"answer " * 1000, "fin")


def test_a_half_close_of_the_origin_passes_and_the_other_way_stays_open(tunnel):
    received = []

    def handle(connection):
        connection.send(b"all I have to say")
        connection.half_close()
        received.append(connection.read_to_end())
    made = tunnel(handle)
    with upgraded(made.proxy.port) as client:
        assert client.read_to_end() == (b"all I have to say", "fin")
        client.send(b"but I go on")
        client.half_close()
        wait_until(lambda: received, "the origin's end")
    assert received == [(b"but I go on", "fin")]


def test_both_ends_close_at_the_proxy_when_the_client_resets(tunnel):
    ended = threading.Event()

    def handle(connection):
        connection.read_to_end()
        ended.set()
    made = tunnel(handle)
    client = upgraded(made.proxy.port)
    before = made.proxy.descriptors
    client.reset()
    assert ended.wait(10)
    made.proxy.wait_descriptors(before - 2)


def test_a_reset_of_the_origin_ends_the_client(tunnel):
    made = tunnel(lambda connection: (connection.stream.read_exact(2), connection.reset()))
    with upgraded(made.proxy.port) as client:
        client.send(b"go")
        client.expect_closed()


def test_an_upgrade_that_the_origin_ignores_stays_http(start_proxy, start_origin):
    def handle(connection):
        for request in connection.requests_until_end():
            connection.send(response(request.target))
    origin = start_origin(handle)
    proxy = start_proxy(forward_to(origin))
    with RawClient(proxy.port) as client:
        answer = client.request(UPGRADE)
        assert (answer.status, answer.text) == (200, "/ws")
        assert "Upgrade" not in answer.fields
        assert client.get("/next").text == "/next"
    assert len(origin.connections) == 1


def test_426_passes_with_its_upgrade_field(start_proxy, start_origin):
    def handle(connection):
        connection.read_request()
        connection.send(response(b"", 426, "Upgrade Required", [("Upgrade", "websocket"), ("Connection", "Upgrade")]))
        connection.read_to_end()
    proxy = start_proxy(forward_to(start_origin(handle)))
    with RawClient(proxy.port) as client:
        assert client.get().status == 426


def test_an_upgraded_connection_is_never_pooled(tunnel, start_proxy):
    made = tunnel(lambda connection: connection.read_to_end())
    with upgraded(made.proxy.port):
        with upgraded(made.proxy.port):
            assert len(made.origin.connections) == 2
    with upgraded(made.proxy.port):
        assert len(made.origin.connections) == 3


def test_upgrade_from_an_http10_client_is_ignored(start_proxy, start_origin):
    origin = start_origin()
    proxy = start_proxy(forward_to(origin))
    with RawClient(proxy.port) as client:
        assert client.request(UPGRADE.replace(b"HTTP/1.1", b"HTTP/1.0")).status == 200
    assert "Upgrade" not in origin.requests[0].fields  # RFC 9110 §7.8.


def test_h2c_upgrade_is_not_offered_to_the_origin(start_proxy, start_origin):
    origin = start_origin()
    proxy = start_proxy(forward_to(origin))
    with RawClient(proxy.port) as client:
        answer = client.get(fields="Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n")
    assert answer.status == 200
    # Whoever lets h2c through loses sight of what follows (request smuggling by h2c).
    assert "Upgrade" not in origin.requests[0].fields
    assert "HTTP2-Settings" not in origin.requests[0].fields


def test_a_slow_tunnel_reader_stops_the_other_side(tunnel):
    sent = [0]

    def handle(connection):
        block = b"z" * 65536
        connection.sock.settimeout(1)
        try:
            while sent[0] < 256 << 20:
                connection.send(block)
                sent[0] += len(block)
        except TimeoutError:
            pass
    made = tunnel(handle)
    with upgraded(made.proxy.port) as client:
        before = made.proxy.rss_bytes
        made.origin.connections[0].ended.wait(30)
        assert sent[0] < 64 << 20, "nobody stopped the origin"
        assert made.proxy.rss_bytes - before < 16 << 20
        assert client.read_exact(1 << 20) == b"z" * (1 << 20)


def test_a_tunnel_outlives_the_request_timeout(tunnel, start_proxy):
    """Deadlines of requests do not apply to tunnels (FEATURES: WebSocket, SSE and tunnels are exempt)."""
    def handle(connection):
        while True:
            try:
                connection.send(connection.stream.read_some())
            except ConnectionEnded:
                return
    made = tunnel(handle, server={"timeouts": {"responseHeaderTimeoutSeconds": 0.3, "clientHeaderTimeoutSeconds": 0.3}})
    with upgraded(made.proxy.port) as client:
        go = threading.Event()
        for _ in range(3):
            go.wait(0.25)  # Time has to pass here; nothing else is waited for.
            client.send(b"tick")
            assert client.read_exact(4) == b"tick"
