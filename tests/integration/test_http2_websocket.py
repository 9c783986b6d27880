# SPDX-License-Identifier: MIT
"""WebSockets between every pair of HTTP/1.1 (RFC 6455, the websockets library) and HTTP/2 (RFC 8441,
python3-h2, with the library's frames inside the tunnel)."""

import asyncio
import itertools
import os
import threading

import pytest
from h2.settings import SettingCodes
from harness import frames as h2
from harness.cells import is_http2, is_tls
from harness.frames import FrameClient, FrameOrigin, headers
from harness.message import ConnectionEnded
from harness.origin import response, server_context
from harness.proxy import destination, forward_to, to_cluster
from harness.raw import RawClient, client_context
from harness.talk import Http2Client, TalkReset, talk_origin
from harness.wait import wait_until
from test_upgrade import WebSocketServer, echo_messages
from websockets.asyncio.client import connect
from websockets.frames import Opcode
from websockets.protocol import OPEN, Protocol, Side

WAIT = 15
KINDS = ("h1", "h1s", "h2c", "h2s")
MESSAGES = ["text", "", b"binary", "\N{SNOWMAN}", os.urandom(70_000), b"z" * 700_000]


class Tunnel:
    """Messages of a WebSocket over a stream of HTTP/2."""

    def __init__(self, talk, side):
        self.talk = talk
        self.protocol = Protocol(side, state=OPEN, max_size=None)

    def _flush(self):
        for piece in self.protocol.data_to_send():
            self.talk.send(piece)

    def send(self, message):
        if isinstance(message, str):
            self.protocol.send_text(message.encode())
        else:
            self.protocol.send_binary(message)
        self._flush()

    def close(self, code=1000, reason=""):
        self.protocol.send_close(code, reason)
        self._flush()

    def receive(self):
        """The next message; None at the end."""
        while True:
            for frame in self.protocol.events_received():
                self._flush()  # The answer to a ping or close.
                if frame.opcode is Opcode.TEXT:
                    return frame.data.decode()
                if frame.opcode is Opcode.BINARY:
                    return bytes(frame.data)
                if frame.opcode is Opcode.CLOSE:
                    return None  # RFC 6455 §7.1.1: the server is the first to end the connection.
            piece = self.talk.read()
            if not piece:
                return None
            self.protocol.receive_data(piece)
            self._flush()


class EchoOrigin:
    """An origin of RFC 8441 that records the requests it accepted."""

    def __init__(self):
        self.seen = []

    def __call__(self, talk):
        self.seen.append(talk)
        assert talk.pseudo[":protocol"] == "websocket" and talk.method == "CONNECT"
        talk.peer.call("send_headers", talk.stream_id, [(":status", "200"), ("sec-websocket-protocol", "b")])
        tunnel = Tunnel(talk, Side.SERVER)
        while (message := tunnel.receive()) is not None:
            tunnel.send(message)
        talk.end()


EXTENDED = {SettingCodes.ENABLE_CONNECT_PROTOCOL: 1}


class Origin:
    """Either kind, at host and port."""

    def __init__(self, kind, start_origin, pair):
        self.kind = kind
        tls = server_context(pair, alpn=("h2", "http/1.1") if is_http2(kind) else ("http/1.1",)) if is_tls(kind) else None
        self.server = None
        if is_http2(kind):
            self.app = EchoOrigin()
            self.origin = start_origin(talk_origin(self.app, "http2", EXTENDED), tls=tls)
            self.host, self.port = self.origin.host, self.origin.port
        else:
            self.server = WebSocketServer(echo_messages, max_size=None, ssl=tls, subprotocols=["b"])

    def __enter__(self):
        if self.server:
            self.server.__enter__()
            self.host, self.port = self.server.host, self.server.port
        return self

    def __exit__(self, *error):
        if self.server:
            self.server.__exit__(*error)

    def config(self, authority, pair):
        keys = {"upstreamHttpProtocol": {"h2c": "http2"}.get(self.kind, "auto")}
        where = destination(self)
        if is_tls(self.kind):
            keys["tls"] = {"caPath": authority.certificate}
            where = destination(self, address="localhost", useHttps=True)
        config = to_cluster([where], cluster_keys=keys)
        config["listeners"].append(config["listeners"][0] | {"decryptSsl": True})
        config["certificates"] = {"certificatePath": pair.certificate, "privateKeyPath": pair.key}
        return config


OPENING = [("sec-websocket-version", "13"), ("sec-websocket-protocol", "a, b"), ("origin", "http://localhost")]


def open_http2(client, path="/chat?x=1", fields=OPENING):
    assert client.peer.h2.remote_settings.enable_connect_protocol == 1
    return client.open("CONNECT", path, fields, body=True, protocol="websocket", authority="localhost")


def talk_http2(port, tls):
    with Http2Client(port, tls) as client:
        talks = [open_http2(client) for _ in range(3)]
        tunnels = [Tunnel(talk, Side.CLIENT) for talk in talks]
        for talk in talks:
            assert talk.wait_head() == 200
            assert talk.fields.only("sec-websocket-protocol") == "b"
            assert "sec-websocket-accept" not in talk.fields and "upgrade" not in talk.fields
        for message in MESSAGES:
            for tunnel in tunnels:
                tunnel.send(message)
                assert tunnel.receive() == message
        tunnels[0].close()
        talks[0].end()
        while tunnels[0].talk.read():
            pass
        tunnels[1].send("still there")
        assert tunnels[1].receive() == "still there"


def talk_http1(port, tls):
    async def run():
        scheme = "wss" if tls else "ws"
        async with connect(f"{scheme}://localhost:{port}/chat?x=1", proxy=None, max_size=None, ssl=tls,
                           subprotocols=["a", "b"]) as socket:
            assert socket.subprotocol == "b"
            for message in MESSAGES:
                await socket.send(message)
                assert await socket.recv() == message
            await (await socket.ping())
        assert socket.close_code == 1000
    asyncio.run(run())


@pytest.mark.parametrize("client, origin", list(itertools.product(KINDS, KINDS)),
                         ids=["-".join(pair) for pair in itertools.product(KINDS, KINDS)])
def test_messages_come_back(start_proxy, start_origin, authority, localhost_pair, client, origin):
    with Origin(origin, start_origin, localhost_pair) as behind:
        proxy = start_proxy(behind.config(authority, localhost_pair))
        tls = None
        if is_tls(client):
            tls = client_context(authority.certificate, alpn=("h2",) if is_http2(client) else ("http/1.1",))
        port = proxy.tls_port if is_tls(client) else proxy.port
        (talk_http2 if is_http2(client) else talk_http1)(port, tls)
        if is_http2(origin):
            for talk in behind.app.seen:
                assert talk.path == "/chat?x=1"
                assert talk.fields.only("sec-websocket-version") == "13"
                for name in ("sec-websocket-key", "connection", "upgrade"):
                    assert name not in talk.fields, name


def test_an_origin_that_refuses_over_http1(start_proxy, start_origin):
    origin = start_origin(lambda connection: [
        connection.send(response(b"no", 403, "Forbidden")) for _ in connection.requests_until_end()])
    proxy = start_proxy(forward_to(origin))
    with Http2Client(proxy.port) as client:
        talk = open_http2(client)
        assert talk.finish() == b"no"
        assert talk.status == 403


def test_an_origin_of_http1_that_does_not_switch(start_proxy, start_origin):
    """RFC 8441 §5: a 2xx would open a tunnel that nobody is at the other end of."""
    origin = start_origin()
    proxy = start_proxy(forward_to(origin))
    with Http2Client(proxy.port) as client:
        talk = open_http2(client)
        assert talk.wait_head() == 502
        # And the connection is still good for others.
        assert client.open("GET", "/").finish() == b"ok"


def test_an_origin_with_a_wrong_answer_to_the_key(start_proxy, start_origin):
    """RFC 6455 §4.1: it has not understood what it switches to."""
    def handle(connection):
        if connection.read_request() is not None:
            connection.send(b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                            b"Sec-WebSocket-Accept: AAAAAAAAAAAAAAAAAAAAAAAAAAA=\r\n\r\n")
            connection.read_to_end()
    proxy = start_proxy(forward_to(start_origin(handle)))
    with Http2Client(proxy.port) as client:
        talk = open_http2(client)
        try:
            assert talk.wait_head() == 502
        except TalkReset as reset:
            assert reset.code == h2.CONNECT_ERROR


@pytest.mark.parametrize("protocol", ["auto", "http2"])
def test_an_http2_origin_without_extended_connect(start_proxy, start_origin, authority, localhost_pair, protocol):
    """With a choice the proxy takes HTTP/1.1 to it; without one the client hears so at once."""
    def app(talk):
        talk.respond(body=talk.version.encode())
    origin = start_origin(talk_origin(app, "alpn"), tls=server_context(localhost_pair, alpn=("h2", "http/1.1")))
    proxy = start_proxy(to_cluster([destination(origin, address="localhost", useHttps=True)], cluster_keys={
        "tls": {"caPath": authority.certificate}, "upstreamHttpProtocol": protocol}))
    with RawClient(proxy.port) as client:
        assert client.get().body == b"HTTP/2"
        answer = client.get("/ws", fields="Connection: Upgrade\r\nUpgrade: websocket\r\n"
                            "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n")
        if protocol == "auto":
            assert (answer.status, answer.body) == (200, b"HTTP/1.1")
        else:
            assert answer.status == 501
            assert client.get().status == 200  # The origin is as good as before.


def test_other_protocols_are_refused(start_proxy, origin):
    proxy = start_proxy(forward_to(origin))
    with FrameClient(proxy.port) as client:
        for stream, protocol in ((1, "h2c"), (3, "web socket"), (5, "")):
            client.send(headers(stream, [*h2.request_lines("CONNECT"), (":protocol", protocol)], end_stream=False))
            assert client.fate(stream) == ("reset", h2.PROTOCOL_ERROR)
        assert client.get(7)[1] == b"ok"


def test_extended_connect_can_be_switched_off(start_proxy, origin):
    proxy = start_proxy(forward_to(origin, server={"enableRfc8441": False}))
    with FrameClient(proxy.port, handshake=False) as client:
        client.send(h2.PREFACE, h2.settings())
        said = client.wait_kind(h2.SETTINGS).payload
        assert h2.ENABLE_CONNECT_PROTOCOL not in [int.from_bytes(said[at:at + 2], "big") for at in range(0, len(said), 6)]
        client.send(headers(1, [*h2.request_lines("CONNECT"), (":protocol", "websocket")], end_stream=False))
        assert client.fate(1) == ("reset", h2.PROTOCOL_ERROR)


@pytest.mark.parametrize("client_kind", ["h1", "h2c"])
def test_a_reset_tunnel_ends_at_the_other_side(start_proxy, start_origin, client_kind):
    """From the client to the origin: CANCEL."""
    codes = []

    def handle(connection):
        origin = FrameOrigin(connection, (h2.ENABLE_CONNECT_PROTOCOL, 1))
        try:
            while True:
                got = origin.read()
                if got.kind == h2.HEADERS:
                    origin.respond(got.stream, end=False)
                if got.kind == h2.RST_STREAM:
                    codes.append(got.code)
                if got.ends_stream:
                    codes.append("end")
        except ConnectionEnded:
            pass
    proxy = start_proxy(forward_to(start_origin(handle), upstreamHttpProtocol="http2"))
    if client_kind == "h2c":
        with Http2Client(proxy.port) as client:
            talk = open_http2(client)
            assert talk.wait_head() == 200
            talk.reset()
            wait_until(lambda: codes, "the end to arrive")
            assert codes == [h2.CANCEL]
    else:
        with RawClient(proxy.port) as client:
            client.send(b"GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                        b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n")
            assert client.read_response().status == 101
            client.reset()
        wait_until(lambda: codes, "the end to arrive")
        assert codes == [h2.CANCEL]


@pytest.mark.parametrize("client_kind", ["h1", "h2c"])
def test_an_origin_that_resets_a_tunnel(start_proxy, start_origin, client_kind):
    def app(talk):
        talk.peer.call("send_headers", talk.stream_id, [(":status", "200")])
        talk.send(b"some")
        talk.reset()
    proxy = start_proxy(forward_to(start_origin(talk_origin(app, "http2", EXTENDED)), upstreamHttpProtocol="http2"))
    if client_kind == "h2c":
        with Http2Client(proxy.port) as client:
            talk = open_http2(client)
            assert talk.wait_head() == 200
            with pytest.raises(TalkReset):
                talk.read_all()
    else:
        with RawClient(proxy.port) as client:
            client.send(b"GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                        b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n")
            assert client.read_response().status == 101
            said, _ = client.read_to_end()
            assert b"some".startswith(said)


def test_each_direction_may_end_alone(start_proxy, start_origin):
    """8441 on both legs: the client's END_STREAM passes, and the origin goes on for a while."""
    ended = threading.Event()

    def app(talk):
        talk.peer.call("send_headers", talk.stream_id, [(":status", "200")])
        assert talk.read_all() == b"ask"
        ended.set()
        talk.send(b"answer")
        talk.end()
    proxy = start_proxy(forward_to(start_origin(talk_origin(app, "http2", EXTENDED)), upstreamHttpProtocol="http2"))
    with Http2Client(proxy.port) as client:
        talk = open_http2(client)
        assert talk.wait_head() == 200
        talk.send(b"ask")
        talk.end()
        assert ended.wait(WAIT)
        assert talk.read_all() == b"answer"


def test_bytes_before_the_switch_wait_for_it(start_proxy, start_origin):
    """A client may send before the answer; the origin sees it after it has accepted (RFC 8441 §5)."""
    go_on = threading.Event()

    def app(talk):
        assert go_on.wait(WAIT)
        talk.peer.call("send_headers", talk.stream_id, [(":status", "200")])
        assert talk.read_all() == b"early"
        talk.send(b"late")
        talk.end()
    proxy = start_proxy(forward_to(start_origin(talk_origin(app, "http2", EXTENDED)), upstreamHttpProtocol="http2"))
    with Http2Client(proxy.port) as client:
        talk = open_http2(client)
        talk.send(b"early")
        talk.end()
        go_on.set()
        assert talk.wait_head() == 200
        assert talk.read_all() == b"late"
