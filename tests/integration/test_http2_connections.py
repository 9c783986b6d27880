# SPDX-License-Identifier: MIT
"""Connections of HTTP/2 and their lives on both legs: GOAWAY and drain, retries of what was not
processed, limits of the origin and growth of the pool, time-outs."""

import pathlib
import signal
import socket
import threading
import time

import pytest
from h2.settings import SettingCodes
from harness import frames as h2
from harness.frames import FrameClient, FrameOrigin, data, goaway, post, rst_stream
from harness.message import ConnectionEnded
from harness.proxy import forward_to
from harness.raw import RawClient
from harness.talk import Http2Client, talk_origin
from harness.wait import is_full_scale, wait_stable, wait_until

WAIT = 15


def h2c_origin(start_origin, app, **settings):
    codes = {SettingCodes[name]: value for name, value in settings.items()}
    peers = []
    origin = start_origin(talk_origin(app, "http2", codes, peers.append))
    origin.peers = peers
    return origin


def to_h2c(origin, **keys):
    return forward_to(origin, upstreamHttpProtocol="http2", **keys)


def process_state(pid):
    return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]


# ---- The end of connections on the client leg


def held(go_on, started=None):
    def app(talk):
        if started:
            started.release()
        assert go_on.wait(WAIT)
        talk.respond(body=talk.path.encode() + talk.read_all())
    return app


@pytest.mark.parametrize("origin_version", ["http1", "http2"])
def test_a_stop_lets_open_streams_finish(start_proxy, start_origin, origin_version):
    go_on, started = threading.Event(), threading.Semaphore(0)
    origin = start_origin(talk_origin(held(go_on, started), origin_version))
    keys = {"upstreamHttpProtocol": "http2"} if origin_version == "http2" else {}
    proxy = start_proxy(forward_to(origin, server={"timeouts": {"drainTimeoutSeconds": 10}}, **keys))
    with FrameClient(proxy.port) as client, FrameClient(proxy.port) as idle:
        client.send(h2.get(1, "/one"), post(3, "/two"))
        client.send(data(3, b"+"))
        assert started.acquire(timeout=WAIT) and started.acquire(timeout=WAIT)
        proxy.signal()
        told = client.read_until(lambda got: got.kind == h2.GOAWAY)
        assert (told.code, told.last_stream) == (h2.NO_ERROR, 3)
        # Nothing was open on the other one.
        assert idle.fate() == ("goaway", h2.NO_ERROR)
        client.send(h2.get(5, "/late"))
        assert client.read_until(lambda got: got.stream == 5).code == h2.REFUSED_STREAM
        client.send(data(3, b"more", True))
        go_on.set()
        got = {1: b"", 3: b""}
        frames, how = client.read_to_end()
        for one in frames:
            assert one.kind != h2.RST_STREAM, one
            if one.kind == h2.DATA:
                got[one.stream] += one.payload
        assert got == {1: b"/one", 3: b"/two+more"}
        assert how == "fin"
    assert proxy.wait() == 0
    proxy.check_end()


def test_a_stop_cuts_streams_that_do_not_finish(start_proxy, start_origin):
    go_on, started = threading.Event(), threading.Semaphore(0)
    origin = start_origin(talk_origin(held(go_on, started), "http2"))
    proxy = start_proxy(to_h2c(origin, server={"timeouts": {"drainTimeoutSeconds": 0.5}}))
    with FrameClient(proxy.port) as client:
        client.send(*(h2.get(stream) for stream in range(1, 40, 2)))
        assert started.acquire(timeout=WAIT)
        begin = time.monotonic()
        proxy.signal()
        assert proxy.wait() == 0
        assert time.monotonic() - begin < 5
        client.read_to_end()
    go_on.set()
    proxy.check_end()


def test_a_client_that_says_goaway_gets_its_answers(start_proxy, start_origin):
    go_on, started = threading.Event(), threading.Semaphore(0)
    origin = start_origin(talk_origin(held(go_on, started)))
    proxy = start_proxy(forward_to(origin))
    with FrameClient(proxy.port) as client:
        client.send(h2.get(1, "/one"), goaway(0))
        assert started.acquire(timeout=WAIT)
        go_on.set()
        assert client.wait_message(1)[1] == b"/one"
        assert client.read_to_end()[1] == "fin"


def test_an_idle_connection_is_closed_with_goaway(start_proxy, origin):
    proxy = start_proxy(forward_to(origin, server={"timeouts": {"connectionTimeOutSeconds": 0.5}}))
    with FrameClient(proxy.port) as client:
        assert client.get(1)[1] == b"ok"
        frames, how = client.read_to_end()
        assert [(got.kind, got.code, got.last_stream) for got in frames if got.kind == h2.GOAWAY] == [
            (h2.GOAWAY, h2.NO_ERROR, 1)]
        assert how == "fin"


@pytest.mark.skipif(not is_full_scale(), reason="takes the ten seconds that it tests")
def test_a_client_without_settings_ack_is_left(start_proxy, origin):
    """RFC 9113 §6.5.3. Ten seconds by default; not worth a key."""
    proxy = start_proxy(forward_to(origin))
    client = FrameClient(proxy.port, handshake=False)
    client.answers = False
    with client:
        begin = time.monotonic()
        client.send(h2.PREFACE, h2.settings())
        assert client.fate() == ("goaway", h2.SETTINGS_TIMEOUT)
        assert 8 < time.monotonic() - begin < 14


# ---- What was not processed is sent again


@pytest.mark.parametrize("request_", [
    h2.get(1, "/again"), h2.headers(1, h2.request_lines("POST", "/again")),
    post(1, "/again", [("content-length", "4")]) + data(1, b"body", True),
    post(1, "/again") + data(1, b"body") + data(1, b"", True)],
    ids=["GET", "POST without a body", "POST with a body", "POST with a stream"])
@pytest.mark.parametrize("how", ["goaway", "refused"])
@pytest.mark.parametrize("fresh", [False, True], ids=["used", "fresh"])
def test_unprocessed_requests_go_to_another_connection(start_proxy, start_origin, how, fresh, request_):
    """RFC 9113 §8.7: GOAWAY below the stream, or REFUSED_STREAM, proves that nothing was processed."""
    connections = []

    def handle(connection):
        origin = FrameOrigin(connection)
        connections.append(origin)
        refuses = len(connections) == 1
        bodies = {}
        try:
            while True:
                got = origin.read()
                if got.kind == h2.DATA:
                    bodies[got.stream] = bodies.get(got.stream, b"") + got.payload
                if not got.ends_stream:
                    continue
                path = dict(next(seen for seen in origin.reader.seen if seen.stream == got.stream
                                 and seen.kind == h2.HEADERS).lines)[":path"]
                if path == "/again" and refuses and how == "goaway":
                    origin.send(goaway(got.stream - 2 if got.stream > 1 else 0))
                elif path == "/again" and refuses:
                    refuses = False
                    origin.send(rst_stream(got.stream, h2.REFUSED_STREAM))
                else:
                    origin.respond(got.stream, body=b"done:" + bodies.get(got.stream, b""))
        except ConnectionEnded:
            pass
    proxy = start_proxy(to_h2c(start_origin(handle)))
    if not fresh:
        with FrameClient(proxy.port) as client:
            assert client.get(1, "/first")[0].status == 200
    with FrameClient(proxy.port) as client:
        client.send(request_)
        head, body, _ = client.wait_message(1)
        assert (head.status, body) == (200, b"done:body" if b"body" in request_ else b"done:")


def test_goaway_lets_processed_streams_finish_and_moves_the_others(start_proxy, start_origin):
    """Eight at a time; the origin takes four of them and leaves."""
    connections = []

    def handle(connection):
        origin = FrameOrigin(connection)
        connections.append(origin)
        first = len(connections) == 1
        streams = []
        try:
            while True:
                got = origin.next_request()
                path = dict(got.lines)[":path"].encode()
                if not first:
                    origin.respond(got.stream, body=b"second:" + path)
                    continue
                streams.append((got.stream, path))
                if len(streams) == 8:
                    origin.send(goaway(streams[3][0]))
                    for stream, path in streams[:4]:
                        origin.respond(stream, body=b"first:" + path)
        except ConnectionEnded:
            pass
    proxy = start_proxy(to_h2c(start_origin(handle)))
    with FrameClient(proxy.port) as client:
        client.send(*(h2.get(stream, f"/{stream}") for stream in range(1, 17, 2)))
        bodies = {}
        while len(bodies) < 8:
            got = client.read_until(lambda got: got.kind in (h2.DATA, h2.RST_STREAM))
            assert got.kind == h2.DATA, got
            if got.payload:
                bodies[got.stream] = got.payload
        assert sorted(bodies.values()) == sorted(
            [b"first:/%d" % stream for stream in (1, 3, 5, 7)] + [b"second:/%d" % stream for stream in (9, 11, 13, 15)])
        assert client.get(99, "/99")[1] == b"second:/99"
    wait_until(lambda: connections[0].connection.ended.is_set(), "the first connection to be closed")
    assert len(connections) == 2


def test_an_origin_that_refuses_everything_is_not_asked_for_ever(start_proxy, start_origin):
    asked = []

    def handle(connection):
        origin = FrameOrigin(connection)
        try:
            while True:
                got = origin.next_request()
                asked.append(got)
                origin.send(rst_stream(got.stream, h2.REFUSED_STREAM))
        except ConnectionEnded:
            pass
    proxy = start_proxy(to_h2c(start_origin(handle)))
    with FrameClient(proxy.port) as client:
        assert client.get(1)[0].status in (502, 503)
        assert len(asked) <= 3


def test_a_connection_that_breaks_is_retried_only_if_that_is_safe(start_proxy, start_origin):
    def handle(connection):
        origin = FrameOrigin(connection)
        try:
            while True:
                got = origin.next_request()
                lines = dict(got.lines)
                if lines[":path"] == "/break" and not broken:
                    broken.append(got)
                    connection.close()
                    return
                origin.respond(got.stream, body=b"ok")
        except ConnectionEnded:
            pass
    broken = []
    proxy = start_proxy(to_h2c(start_origin(handle)))
    with FrameClient(proxy.port) as client:
        assert client.get(1)[0].status == 200
        assert client.get(3, "/break")[0].status == 200  # Idempotent, on a connection that was used before.
        broken.clear()
        client.send(h2.headers(5, h2.request_lines("POST", "/break")))
        assert client.wait_message(5)[0].status == 502
        assert client.get(7)[0].status == 200


@pytest.mark.parametrize("request_", [h2.headers(3, h2.request_lines("POST")),
                                      post(3) + data(3, b"body", True)], ids=["no body", "body"])
def test_a_request_that_never_left_is_sent_again(start_proxy, start_origin, request_):
    """The proxy wakes to a request and to the end of the connection that it would have used, in this order."""
    connections = []

    def handle(connection):
        origin = FrameOrigin(connection)
        connections.append(connection)
        try:
            while True:
                got = origin.read()
                if got.ends_stream:
                    origin.respond(got.stream, body=b"%d" % len(connections))
        except ConnectionEnded:
            pass
    proxy = start_proxy(to_h2c(start_origin(handle)))
    with FrameClient(proxy.port) as client:
        assert client.get(1)[1] == b"1"
        proxy.process.send_signal(signal.SIGSTOP)
        try:
            wait_until(lambda: process_state(proxy.process.pid) == "T", "the proxy to stand still")
            client.send(request_)
            connections[0].sock.shutdown(socket.SHUT_RDWR)
        finally:
            proxy.process.send_signal(signal.SIGCONT)
        head, body, _ = client.wait_message(3)
        assert (head.status, body) == (200, b"2")


# ---- Limits of the origin, and the pool


def counting(limit, most, go_on=None, peak=None):
    """An app that notices how many exchanges each of its connections carries at a time."""
    lock = threading.Lock()
    running = {}

    def app(talk):
        key = id(talk.peer)
        with lock:
            running[key] = running.get(key, 0) + 1
            assert running[key] <= limit
            peak["streams"] = max(peak.get("streams", 0), running[key])
            peak["connections"] = max(peak.get("connections", 0), len(running))
            peak["all"] = max(peak.get("all", 0), sum(running.values()))
        assert go_on.wait(WAIT)
        with lock:
            running[key] -= 1
        talk.respond(body=b"ok")
    return app


def test_the_pool_grows_with_the_streams_that_an_origin_takes(start_proxy, start_origin):
    go_on, peak = threading.Event(), {}
    origin = h2c_origin(start_origin, counting(10, 3, go_on, peak), MAX_CONCURRENT_STREAMS=10)
    proxy = start_proxy(to_h2c(origin, server={"limits": {"maxOriginHttp2ConnectionsPerAuthority": 3}}))
    with FrameClient(proxy.port) as client:
        client.send(*(h2.get(stream) for stream in range(1, 128, 2)))
        # Three connections with ten streams each; the rest waits.
        wait_until(lambda: peak.get("all") == 30, f"30 exchanges at the origin {peak}")
        wait_stable(lambda: peak["all"], "streams at the origin")
        assert (peak["connections"], peak["all"]) == (3, 30)
        go_on.set()
        statuses = {}
        while len(statuses) < 64:
            got = client.read_until(lambda got: got.kind == h2.HEADERS)
            statuses[got.stream] = got.status
        assert set(statuses.values()) == {200}
    assert peak["streams"] == 10
    assert origin.accepted == 3


def test_one_connection_is_enough_while_the_origin_takes_more(start_proxy, start_origin):
    go_on, peak = threading.Event(), {}
    origin = h2c_origin(start_origin, counting(100, 1, go_on, peak), MAX_CONCURRENT_STREAMS=100)
    proxy = start_proxy(to_h2c(origin))
    with FrameClient(proxy.port) as client:
        client.send(*(h2.get(stream) for stream in range(1, 128, 2)))
        wait_until(lambda: peak.get("all") == 64, "64 exchanges at the origin")
        go_on.set()
        for _ in range(64):
            assert client.wait_kind(h2.HEADERS).status == 200
    assert origin.accepted == 1


@pytest.mark.parametrize("limit", [0, 1])
def test_an_origin_that_changes_its_limit(start_proxy, start_origin, limit):
    """A lower limit holds for what comes; streams above it finish."""
    peers = []

    def handle(connection):
        origin = FrameOrigin(connection, (h2.MAX_CONCURRENT_STREAMS, 4))
        peers.append(origin)
        try:
            origin.serve()
        except ConnectionEnded:
            pass
    proxy = start_proxy(to_h2c(start_origin(handle), server={
        "limits": {"maxOriginHttp2ConnectionsPerAuthority": 1}, "timeouts": {"connectTimeOutSeconds": 1}}))
    with FrameClient(proxy.port) as client:
        assert client.get(1)[0].status == 200
        peers[0].send(h2.settings((h2.MAX_CONCURRENT_STREAMS, limit)))
        wait_until(lambda: len([got for got in peers[0].reader.seen if got.kind == h2.SETTINGS and got.flags & 1]) == 2,
                   "the ACK of the new limit")
        head = client.get(3)[0]
        # Of a limit of nothing the client hears once the time for a connection is over.
        assert head.status == (200 if limit else 504)
        peers[0].send(h2.settings((h2.MAX_CONCURRENT_STREAMS, 10)))
        assert client.get(5)[0].status == 200


def test_clients_share_a_connection_and_authorities_stay_apart(start_proxy, start_origin):
    seen = []

    def app(talk):
        seen.append((talk.authority, id(talk.peer)))
        talk.respond(body=talk.authority.encode())
    proxy = start_proxy(to_h2c(h2c_origin(start_origin, app)))
    for number in range(6):
        with RawClient(proxy.port) as client:
            assert client.get("/", f"host{number}.example").body == b"host%d.example" % number
    assert {name for name, _ in seen} == {f"host{number}.example" for number in range(6)}
    assert len({peer for _, peer in seen}) == 1


def test_an_idle_origin_connection_is_closed(start_proxy, start_origin):
    peers = []

    def handle(connection):
        origin = FrameOrigin(connection)
        peers.append(origin)
        origin.serve()
    origin = start_origin(handle)
    proxy = start_proxy(to_h2c(origin, server={"timeouts": {"connectionTimeOutSeconds": 0.4}}))
    with RawClient(proxy.port) as client:
        assert client.get().body == b"ok"
    assert origin.connections[0].ended.wait(WAIT)
    said = [got for got in peers[0].reader.seen if got.kind == h2.GOAWAY]
    assert [(got.code, got.last_stream) for got in said] == [(h2.NO_ERROR, 0)]
    with RawClient(proxy.port) as client:
        assert client.get().body == b"ok"


def test_an_origin_without_settings_does_not_hang(start_proxy, start_origin):
    """It accepts, and says nothing at all."""
    def handle(connection):
        connection.read_to_end()
    proxy = start_proxy(to_h2c(start_origin(handle), server={"timeouts": {"connectionTimeOutSeconds": 0.5}}))
    with RawClient(proxy.port) as client:
        assert client.get().status in (502, 504)


def test_an_origin_that_answers_nothing_gives_504(start_proxy, start_origin):
    codes = []

    def handle(connection):
        origin = FrameOrigin(connection)
        try:
            while True:
                got = origin.read()
                if got.kind == h2.RST_STREAM:
                    codes.append(got.code)
                elif got.kind == h2.HEADERS and dict(got.lines)[":path"] == "/fine":
                    origin.respond(got.stream, body=b"ok")
        except ConnectionEnded:
            pass
    proxy = start_proxy(to_h2c(start_origin(handle), server={"timeouts": {"responseHeaderTimeoutSeconds": 0.3}}))
    with FrameClient(proxy.port) as client:
        client.send(h2.get(1, "/never"))
        assert client.get(3, "/fine")[1] == b"ok"
        assert client.wait_message(1)[0].status == 504
        assert client.get(5, "/fine")[1] == b"ok"
    wait_until(lambda: codes == [h2.CANCEL], f"CANCEL for the stream: {codes}")


def test_an_origin_that_takes_no_body_times_out_alone(start_proxy, start_origin):
    def handle(connection):
        origin = FrameOrigin(connection, (h2.INITIAL_WINDOW_SIZE, 0))
        try:
            while True:
                got = origin.next_request()
                if dict(got.lines)[":method"] == "GET":
                    origin.respond(got.stream, body=b"ok")
        except ConnectionEnded:
            pass
    proxy = start_proxy(to_h2c(start_origin(handle), server={"timeouts": {"idleWriteTimeoutSeconds": 0.4}}))
    with FrameClient(proxy.port) as client:
        assert client.get(1)[1] == b"ok"  # From now on the proxy knows of the window.
        client.send(post(3) + data(3, b"x" * 1000, True))
        assert client.wait_message(3)[0].status in (502, 504)
        assert client.get(5)[1] == b"ok"


# ---- Codes that are passed on


@pytest.mark.parametrize("code", [h2.CANCEL, h2.INTERNAL_ERROR, h2.NO_ERROR, h2.REFUSED_STREAM, h2.ENHANCE_YOUR_CALM, 77])
def test_whatever_a_client_resets_with_is_a_cancel_for_the_origin(start_proxy, start_origin, code):
    codes, ready = [], threading.Event()

    def handle(connection):
        origin = FrameOrigin(connection)
        try:
            while True:
                got = origin.read()
                if got.kind == h2.HEADERS:
                    ready.set()
                if got.kind == h2.RST_STREAM:
                    codes.append(got.code)
        except ConnectionEnded:
            pass
    proxy = start_proxy(to_h2c(start_origin(handle)))
    with FrameClient(proxy.port) as client:
        client.send(h2.get(1))
        assert ready.wait(WAIT)
        client.send(rst_stream(1, code))
        wait_until(lambda: codes, "the reset to arrive")
        assert codes == [h2.CANCEL]


def test_a_client_connection_that_breaks_cancels_all_its_streams(start_proxy, start_origin):
    cancelled, seen = [], []

    def handle(connection):
        origin = FrameOrigin(connection)
        try:
            while True:
                got = origin.read()
                if got.kind == h2.HEADERS:
                    seen.append(got)
                    if dict(got.lines)[":path"] == "/fine":
                        origin.respond(got.stream, body=b"ok")
                if got.kind == h2.RST_STREAM:
                    cancelled.append(got.code)
        except ConnectionEnded:
            pass
    proxy = start_proxy(to_h2c(start_origin(handle)))
    with FrameClient(proxy.port) as client:
        client.send(*(h2.get(stream) for stream in range(1, 40, 2)))
        wait_until(lambda: len(seen) == 20, "20 requests at the origin")
        client.connection.reset()
    wait_until(lambda: cancelled == [h2.CANCEL] * 20, "20 resets")
    with FrameClient(proxy.port) as client:
        assert client.get(1, "/fine")[1] == b"ok"


def test_an_early_response_followed_by_no_error(start_proxy, start_origin):
    """RFC 9113 §8.1: the response counts; the client is told to stop, and keeps its connection."""
    def handle(connection):
        origin = FrameOrigin(connection)
        try:
            while True:
                got = origin.next_request()
                origin.respond(got.stream, body=b"enough")
                if not got.ends_stream:
                    origin.send(rst_stream(got.stream, h2.NO_ERROR))
        except ConnectionEnded:
            pass
    proxy = start_proxy(to_h2c(start_origin(handle)))
    with FrameClient(proxy.port) as client:
        client.send(post(1), data(1, b"x" * 100))
        head, body, _ = client.wait_message(1)
        assert (head.status, body) == (200, b"enough")
        client.try_send(data(1, b"x" * 100, True))
        assert client.get(3)[1] == b"enough"


def test_a_grpc_like_client_over_both_legs_survives_a_restart_of_the_origin(start_proxy, start_origin):
    def app(talk):
        talk.respond(body=talk.read_all())
    origin = h2c_origin(start_origin, app)
    proxy = start_proxy(to_h2c(origin))
    with Http2Client(proxy.port) as client:
        for number in range(4):
            talk = client.open("POST", "/x", body=True)
            talk.send(b"%d" % number)
            talk.end()
            assert talk.finish() == b"%d" % number
            origin.peers[-1].call("close_connection")
            origin.peers[-1].close()
            assert origin.connections[-1].ended.wait(WAIT)
