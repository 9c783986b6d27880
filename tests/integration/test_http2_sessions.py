# SPDX-License-Identifier: MIT
"""The sessions of both legs of HTTP/2 in rare states: streams that end in an order of their own,
readers that wait, WebSockets that do not come about, and requests that an origin leaves untouched."""

import base64
import hashlib
import socket
import threading
import time

import pytest
from harness import frames as h2
from harness.frames import FrameClient, FrameOrigin, data, frame_origin, goaway, headers, post, rst_stream, window_update
from harness.origin import OriginConnection, replying, response, server_context
from harness.proxy import destination, forward_to, is_sanitized, to_cluster
from harness.raw import RawClient
from harness.talk import talk_origin
from harness.wait import wait_stable, wait_until

WAIT = 15
MIB = 1024 * 1024
EXTENDED = (h2.ENABLE_CONNECT_PROTOCOL, 1)
UPGRADE = ("Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
           "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n")
SWITCH = b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"


def to_h2c(origin, **keys):
    return forward_to(origin, upstreamHttpProtocol="http2", **keys)


def websocket(stream, *, end=False):
    lines = [*h2.request_lines("CONNECT", "/ws"), (":protocol", "websocket"), ("sec-websocket-version", "13")]
    return headers(stream, lines, end_stream=end)


def accept_of(request):
    key = request.fields.only("Sec-WebSocket-Key") + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
    return base64.b64encode(hashlib.sha1(key.encode()).digest()).decode()


def upload(client, stream, most):
    """Sends DATA as the windows allow; ends with the frame that refuses more, None if `most` bytes
    were taken."""
    credit, sent = 256 * 1024, 0  # What the proxy's SETTINGS say.
    while sent < most:
        while credit >= 16384:
            client.send(data(stream, bytes(16384)))
            credit -= 16384
            sent += 16384
        got = client.read_until(lambda got: got.kind in (h2.WINDOW_UPDATE, h2.RST_STREAM) and got.stream == stream)
        if got.kind == h2.RST_STREAM:
            return got
        credit += int.from_bytes(got.payload, "big")
    return None


# ---- WebSockets that do not come about


@pytest.mark.parametrize("client_kind", ["http1", "http2"])
def test_a_refused_websocket_ends_the_stream_of_the_origin(start_proxy, start_origin, client_kind):
    """The direction that was kept open for the tunnel has nothing to carry any more."""
    ended = threading.Event()

    def handle(origin):
        got = origin.next_request()
        assert not got.ends_stream and dict(got.lines)[":protocol"] == "websocket"
        origin.respond(got.stream, 403, b"no")
        origin.read_until(lambda end: end.stream == got.stream and (end.ends_stream or end.kind == h2.RST_STREAM))
        ended.set()
        origin.serve()
    proxy = start_proxy(to_h2c(start_origin(frame_origin(handle, EXTENDED))))
    if client_kind == "http1":
        with RawClient(proxy.port) as client:
            answer = client.get("/ws", fields=UPGRADE)
            assert (answer.status, answer.body) == (403, b"no")
            assert ended.wait(WAIT)
    else:
        with FrameClient(proxy.port) as client:
            client.send(websocket(1))
            head, body, _ = client.wait_message(1)
            assert (head.status, body) == (403, b"no")
            client.send(data(1, b"", True))
            assert ended.wait(WAIT)


@pytest.mark.parametrize("version", ["http1", "http2"])
def test_a_websocket_that_the_client_has_ended_with_its_head_is_ended_at_the_origin(
        start_proxy, start_origin, version):
    """The other direction goes on (RFC 8441 §5: END_STREAM is the FIN of TCP)."""
    def over_http1(connection):
        request = connection.read_request()
        connection.send(SWITCH + f"Sec-WebSocket-Accept: {accept_of(request)}\r\n\r\n".encode())
        assert connection.read_to_end() == (b"", "fin")
        connection.send(b"bye")

    def over_http2(origin):
        got = origin.next_request()
        origin.respond(got.stream, end=False)
        if not got.ends_stream:
            assert origin.wait_kind(h2.DATA, got.stream).ends_stream
        origin.send(data(got.stream, b"bye", True))
        origin.serve()
    origin = start_origin(over_http1 if version == "http1" else frame_origin(over_http2, EXTENDED))
    proxy = start_proxy(forward_to(origin, upstreamHttpProtocol="http11" if version == "http1" else "http2"))
    with FrameClient(proxy.port) as client:
        client.send(websocket(1, end=True))
        head, body, _ = client.wait_message(1)
        assert (head.status, body) == (200, b"bye")


@pytest.mark.parametrize("accept", [b"", b"Sec-WebSocket-Accept: AAAAAAAAAAAAAAAAAAAAAAAAAAA=\r\n"],
                         ids=["missing", "wrong"])
def test_a_switch_without_its_proof_is_a_connect_error_and_nothing_else(start_proxy, start_origin, accept):
    """RFC 6455 §4.1, RFC 8441 §5. Neither a head nor what comes right behind the 101 may pass."""
    def handle(connection):
        for request in connection.requests_until_end():
            if request.target != "/ws":
                connection.send(response(b"ok"))
                continue
            connection.send(SWITCH + accept + b"\r\n" + b"not a WebSocket")
            connection.read_to_end()
            return
    origin = start_origin(handle)
    proxy = start_proxy(forward_to(origin))
    with FrameClient(proxy.port) as client:
        client.send(websocket(1))
        client.wait_kind(h2.RST_STREAM, 1)
        assert origin.connections[0].ended.wait(WAIT)
        assert client.get(3)[1] == b"ok"
        of_websocket = [got for got in client.reader.seen if got.stream == 1]
        assert [(got.kind, got.code) for got in of_websocket] == [(h2.RST_STREAM, h2.CONNECT_ERROR)]


def test_the_proxy_proves_nothing_on_behalf_of_an_http1_origin(start_proxy, start_origin):
    """The client decides what to think of a 101 without Sec-WebSocket-Accept: it passes as it is."""
    def handle(connection):
        if connection.read_request() is not None:
            connection.send(SWITCH + b"\r\n")
            connection.read_to_end()
    proxy = start_proxy(forward_to(start_origin(handle)))
    with RawClient(proxy.port) as client:
        client.send(f"GET /ws HTTP/1.1\r\nHost: a\r\n{UPGRADE}\r\n")
        answer = client.read_head()
        assert answer.status == 101
        assert "Sec-WebSocket-Accept" not in answer.fields


@pytest.mark.parametrize("client_kind", ["http1", "http2"])
def test_a_websocket_as_the_first_request_to_an_origin_without_them(start_proxy, start_origin, client_kind):
    """It waits for the SETTINGS that say so, and no longer: 501, and the origin stays in use."""
    origin = start_origin(frame_origin(FrameOrigin.serve))
    proxy = start_proxy(to_h2c(origin, server={"timeouts": {"connectTimeOutSeconds": 3}}))
    if client_kind == "http1":
        with RawClient(proxy.port) as client:
            assert client.get("/ws", fields=UPGRADE).status == 501
            assert client.get().body == b"ok"
    else:
        with FrameClient(proxy.port) as client:
            client.send(websocket(1))
            assert client.wait_message(1)[0].status == 501
            assert client.get(3)[1] == b"ok"
    assert origin.accepted == 1


# ---- Clients that read little


def ask_without_reading(client, origin, most):
    """HEAD after HEAD until the origin gets no more of them, which means that the limit of streams
    was met, or until `most`; returns how many were sent."""
    sent = 0
    while sent < most:
        client.send(*(headers(2 * number + 1, h2.request_lines("HEAD")) for number in range(sent, sent + 50)))
        sent += 50
        try:
            wait_until(lambda: len(origin.heads) >= sent, "the batch at the origin", timeout=2)
        except AssertionError:
            break
    return sent


def with_large_heads(start_origin):
    return start_origin(replying(lambda request: response(fields=[("X-Filler", "~" * 15_000)])))


def test_heads_do_not_pile_up_for_a_client_that_reads_nothing(start_proxy, start_origin):
    """What the client's kernel does not take stays a stream, and the number of those has a limit."""
    origin = with_large_heads(start_origin)
    proxy = start_proxy(forward_to(origin))
    with FrameClient(proxy.port, receive_buffer=4096) as client:
        before = proxy.rss_bytes
        ask_without_reading(client, origin, 4000)
        taken = len(origin.heads)
        assert taken < 2000, f"{taken} heads of 15 KB were made for nobody"
        assert proxy.rss_bytes - before < (64 if is_sanitized() else 24) * MIB


def test_a_client_that_reads_at_last_gets_all_its_answers(start_proxy, start_origin):
    origin = with_large_heads(start_origin)
    proxy = start_proxy(forward_to(origin))
    with FrameClient(proxy.port, receive_buffer=4096, timeout=5) as client:
        sent = ask_without_reading(client, origin, 4000)
        taken = len(origin.heads)
        answered, refused = set(), set()
        while len(answered) + len(refused) < sent:
            got = client.read_until(lambda got: got.kind in (h2.HEADERS, h2.RST_STREAM))
            assert got.kind == h2.HEADERS or got.code == h2.REFUSED_STREAM
            (answered if got.kind == h2.HEADERS else refused).add(got.stream)
        assert (len(answered), len(refused)) == (taken, sent - taken)


def test_a_stream_that_waits_behind_more_urgent_ones_is_not_stalled(start_proxy, start_origin):
    """The client reads all the time, but nothing of the last stream is due for several time-outs."""
    streams, size = range(1, 65, 2), 2 * MIB
    sent = {}

    def handle(connection):
        for request in connection.requests_until_end():
            if request.target == "/small":
                connection.send(response(b"small"))
                continue
            connection.send(f"HTTP/1.1 200 OK\r\nContent-Length: {size}\r\n\r\n")
            for _ in range(size // 16384):
                connection.send(bytes(16384))
                sent[connection.number] = sent.get(connection.number, 0) + 16384
    origin = start_origin(handle)
    proxy = start_proxy(forward_to(origin, server={"timeouts": {"connectionTimeOutSeconds": 1}}))
    with FrameClient(proxy.port, (h2.INITIAL_WINDOW_SIZE, 1 << 30), receive_buffer=65536) as client:
        client.send(window_update(0, 1 << 30), *(h2.get(stream, "/large", [("priority", "u=0")]) for stream in streams))
        wait_until(lambda: len(sent) == len(streams), "all responses to begin")
        wait_stable(lambda: sum(sent.values()), "bytes of the origin", quiet=0.2)
        client.send(h2.get(99, "/small", [("priority", "u=7")]))
        wait_until(lambda: any(head.target == "/small" for head in origin.heads), "the last request at the origin")
        begin = time.monotonic()
        while time.monotonic() - begin < 3.5:  # It is time that is tested.
            for _ in range(16):
                got = client.read()
                assert got.stream != 99 or got.kind == h2.HEADERS, f"too early for the test: {got}"
            time.sleep(0.05)
        bodies = dict.fromkeys([*streams, 99], 0)
        for got in client.reader.seen:
            bodies[got.stream] = bodies.get(got.stream, 0) + (len(got.payload) if got.kind == h2.DATA else 0)
        open_streams = {*streams, 99} - {got.stream for got in client.reader.seen if got.ends_stream}
        while open_streams:
            got = client.read()
            assert got.kind not in (h2.RST_STREAM, h2.GOAWAY), got
            if got.kind == h2.DATA:
                bodies[got.stream] += len(got.payload)
            if got.ends_stream:
                open_streams.discard(got.stream)
        assert bodies[99] == 5 and {bodies[stream] for stream in streams} == {size}


def test_a_first_byte_has_a_time_limit_even_if_heads_have_none(start_proxy, origin):
    """clientHeaderTimeoutSeconds: 0 leaves the general time-out, also before the version is known."""
    proxy = start_proxy(forward_to(origin, server={
        "timeouts": {"connectionTimeOutSeconds": 0.5, "clientHeaderTimeoutSeconds": 0}}))
    with RawClient(proxy.port, timeout=8) as client:
        client.send(h2.PREFACE[:5])
        client.read_to_end()


# ---- The order in which the two directions end


def test_a_reset_behind_a_kept_response_stops_the_upload(start_proxy, start_origin):
    """RFC 9113 §8.1: the response arrives whole, and the client hears that the rest is of no use."""
    kept, has_read, over = threading.Event(), threading.Event(), threading.Event()
    size = 15 * 16384  # More than the proxy takes for a client that does not read; within our window.

    def handle(origin):
        got = origin.next_request()
        origin.respond(got.stream, end=False)
        origin.send(*(data(got.stream, bytes(16384), number == 14) for number in range(15)))
        origin.ping()
        kept.set()
        assert has_read.wait(WAIT)
        origin.send(rst_stream(got.stream, h2.NO_ERROR))
        origin.ping()
        over.set()
        origin.serve()
    proxy = start_proxy(to_h2c(start_origin(frame_origin(handle))))
    with FrameClient(proxy.port, (h2.INITIAL_WINDOW_SIZE, 0)) as client:
        client.send(post(1))
        client.wait_head(1)
        assert kept.wait(WAIT)
        client.send(window_update(1, MIB), window_update(0, MIB))
        body = 0
        while True:
            got = client.wait_kind(h2.DATA, 1)
            body += len(got.payload)
            if got.ends_stream:
                break
        assert body == size
        has_read.set()
        assert over.wait(WAIT)
        stopped = upload(client, 1, 4 * MIB)
        assert stopped is not None and stopped.code == h2.NO_ERROR, "4 MiB were taken for nothing"
        client.ping()


def test_what_an_origin_does_not_take_after_its_response_is_given_up(start_proxy, start_origin):
    """The exchange is over, but the body still waits for a window of the origin."""
    codes = []

    def handle(origin):
        while True:
            got = origin.read()
            if got.kind == h2.HEADERS:
                origin.respond(got.stream, body=b"ok")
            if got.kind == h2.RST_STREAM:
                codes.append((got.stream, got.code))
    origin = start_origin(frame_origin(handle, (h2.INITIAL_WINDOW_SIZE, 0)))
    proxy = start_proxy(to_h2c(origin, server={"timeouts": {"connectionTimeOutSeconds": 0.5}}))
    with FrameClient(proxy.port) as client:
        assert client.get(1)[1] == b"ok"  # From now on the proxy knows of the window.
        client.send(post(3), data(3, bytes(1000), True))
        assert client.wait_message(3)[1] == b"ok"
    wait_until(lambda: codes, "the reset of the second stream", timeout=8)
    assert codes == [(3, h2.CANCEL)]


def test_the_least_rate_of_a_body_holds_until_the_response_begins(start_proxy, start_origin):
    """As with HTTP/1: a conversation may be slow. Before the response the same client gets 408."""
    def handle(origin):
        taken = {}
        while True:
            got = origin.read()
            if got.kind == h2.HEADERS and dict(got.lines)[":path"] == "/talk":
                origin.respond(got.stream, end=False)
            if got.kind == h2.DATA:
                taken[got.stream] = taken.get(got.stream, 0) + len(got.payload)
            if got.ends_stream:
                origin.send(data(got.stream, b"%d" % taken[got.stream], True))
    proxy = start_proxy(to_h2c(start_origin(frame_origin(handle)), server={
        "timeouts": {"connectionTimeOutSeconds": 1}, "limits": {"minRequestBodyBytesPerSecond": 100_000}}))
    with FrameClient(proxy.port) as client:
        client.send(post(1, "/talk"), post(3, "/silence"))
        client.wait_head(1)
        begin, sent = time.monotonic(), 0
        while time.monotonic() - begin < 3.5:  # It is time that is tested.
            client.send(data(1, b"x"), data(3, b"x"))
            sent += 1
            time.sleep(0.02)
        client.send(data(1, b"", True))
        heads = {}
        while True:
            got = client.read_until(lambda got: got.stream in (1, 3))
            if got.kind == h2.HEADERS:
                heads[got.stream] = got.status
            if got.stream == 1:
                assert got.kind == h2.DATA and got.payload == b"%d" % sent, got
                break
        assert heads == {3: 408}


@pytest.mark.parametrize("alpn", ["http/1.1", "h2"])
def test_trailers_wait_for_an_origin_that_is_still_connecting(
        start_proxy, start_origin, authority, localhost_pair, alpn):
    """There is no body that would hold them back."""
    go_on, seen = threading.Event(), []
    context = server_context(localhost_pair, alpn=(alpn,))

    def app(talk):
        assert talk.read_all() == b""
        seen.append(talk.trailers.lines)
        talk.respond(body=b"ok")

    def handle(connection):
        connection.wait(go_on)
        sock = context.wrap_socket(connection.sock, server_side=True, suppress_ragged_eofs=False)
        connection.origin.open.add(sock)
        talk_origin(app, "alpn")(OriginConnection(connection.origin, sock, connection.number))
    origin = start_origin(handle)
    proxy = start_proxy(to_cluster([destination(origin, address="localhost", useHttps=True)], cluster_keys={
        "tls": {"caPath": authority.certificate}, "upstreamHttpProtocol": "auto"}))
    with FrameClient(proxy.port) as client:
        client.send(post(1, extra=[("te", "trailers")]), headers(1, [("x-sum", "42")]))
        client.ping()
        go_on.set()
        assert client.wait_message(1)[1] == b"ok"
    assert [("x-sum", "42")] == [(name.lower(), value) for name, value in seen[0]]


# ---- What an origin leaves untouched


@pytest.mark.parametrize("how", ["goaway", "refused"])
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_what_one_destination_leaves_goes_to_the_other_and_is_no_failure(start_proxy, start_origin, how, method):
    """Three failures in a row would put the first one aside; it is asked as often as before."""
    left = []

    def leave(origin):
        got = origin.next_request()
        left.append(got)
        # GOAWAY in both cases, so that each request finds a connection that nobody has used.
        if how == "goaway":
            origin.send(goaway(0))
        else:
            origin.send(rst_stream(got.stream, h2.REFUSED_STREAM), goaway(got.stream))
        origin.read_to_end()
    leaving, taking = start_origin(frame_origin(leave)), start_origin(frame_origin(FrameOrigin.serve))
    proxy = start_proxy(to_cluster([destination(leaving), destination(taking)],
                                   cluster_keys={"upstreamHttpProtocol": "http2"}))
    with FrameClient(proxy.port) as client:
        for stream in range(1, 33, 2):
            client.send(headers(stream, h2.request_lines(method)))
            head, body, _ = client.wait_message(stream)
            assert (head.status, body) == (200, b"ok")
    assert len(left) > 5


def test_what_never_left_for_the_network_is_sent_again(start_proxy, start_origin):
    """An upload that its origin does not read blocks the connection. A POST behind it is known to
    be unsent when the connection breaks; the upload is not."""
    broken = threading.Event()

    def handle(origin):
        origin.send(window_update(0, 1 << 30))
        if origin.connection.number > 0:
            return origin.serve()
        while dict((got := origin.next_request()).lines)[":path"] != "/large":
            origin.respond(got.stream, body=b"first")
        assert broken.wait(WAIT)
        return origin.connection.reset()
    origin = start_origin(frame_origin(handle, (h2.INITIAL_WINDOW_SIZE, 1 << 30)), receive_buffer=16384)
    proxy = start_proxy(to_h2c(origin))
    with RawClient(proxy.port) as large, FrameClient(proxy.port) as client:
        assert client.get(1)[1] == b"first"
        large.send(b"POST /large HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000000\r\n\r\n")
        large.sock.settimeout(1)
        try:
            for _ in range(1000):
                large.send(bytes(65536))
            raise AssertionError("64 MB were buffered for an origin that does not read")
        except socket.timeout:
            pass  # All buffers on the way are full.
        large.sock.settimeout(WAIT)
        client.send(headers(3, h2.request_lines("POST", "/small")))
        client.ping()
        broken.set()
        head, body, _ = client.wait_message(3)
        assert (head.status, body) == (200, b"ok")
        assert large.read_head().status == 502
    assert origin.accepted == 2
