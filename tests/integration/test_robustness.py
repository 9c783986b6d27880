# SPDX-License-Identifier: MIT
"""Peers that are slow, leave, die or come in numbers; resources that run out; stopping while busy."""

import contextlib
import hashlib
import os
import resource
import signal
import socket
import threading
import time

import pytest
from harness.message import ConnectionEnded, IncompleteMessage
from harness.origin import chunk, replying, response, server_context
from harness.proxy import destination, forward_to, is_sanitized, to_cluster
from harness.raw import RawClient, client_context, reset_on_close, simple_get
from harness.wait import scaled, wait_until

MEGABYTE = 1 << 20


@pytest.fixture
def serving(start_proxy, start_origin):
    def start(handler=None, **server):
        origin = start_origin(handler)
        return start_proxy(forward_to(origin, server=server)), origin
    return start


# Slow peers -----------------------------------------------------------------------------------

def test_a_head_that_trickles_in_runs_into_the_timeout(serving):
    """One byte at a time is no progress: the time counts for the whole head."""
    proxy, origin = serving(timeouts={"clientHeaderTimeoutSeconds": 0.5})
    pause = threading.Event()
    with RawClient(proxy.port) as client:
        begin = time.monotonic()
        for byte in "GET / HTTP/1.1\r\nHost: a\r\nX-Slow: " + "z" * 200:
            if not client.try_send(byte):
                break
            pause.wait(0.02)
            if time.monotonic() - begin > 2.5:
                break
        data, _ = client.read_to_end()
    assert data == b"" or data.startswith(b"HTTP/1.1 408 ")
    assert time.monotonic() - begin < 4
    assert origin.heads == []


def test_the_second_head_of_a_connection_has_the_same_timeout(serving):
    proxy, _ = serving(timeouts={"clientHeaderTimeoutSeconds": 0.4})
    with RawClient(proxy.port) as client:
        assert client.get().status == 200
        client.send("GET / HTTP/1.1\r\nHost:")
        assert client.read_response().status == 408
        client.expect_closed()


def test_a_body_that_stalls_ends_the_exchange(serving):
    proxy, origin = serving(timeouts={"connectionTimeOutSeconds": 0.5})
    with RawClient(proxy.port) as client:
        client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nsome")
        data, _ = client.read_to_end()
    assert data == b"" or data.startswith(b"HTTP/1.1 408 ")
    assert origin.requests == []
    wait_until(lambda: all(connection.ended.is_set() for connection in origin.connections), "the origin to be released")


def test_a_reader_that_stalls_is_dropped(serving):
    """The client stops reading: after the write time-out both sides are given up."""
    released = threading.Event()

    def handle(connection):
        connection.read_request()
        try:
            connection.send(b"HTTP/1.1 200 OK\r\n\r\n")
            while True:
                connection.send(bytes(65536))
        except OSError:
            released.set()
    proxy, _ = serving(handle, timeouts={"connectionTimeOutSeconds": 0.7})
    with RawClient(proxy.port, receive_buffer=8192) as client:
        client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        assert released.wait(20), "the origin is still held"


def test_an_origin_that_does_not_read_is_given_up(serving):
    def handle(connection):
        connection.read_head()
        connection.wait(done)
    done = threading.Event()
    proxy, _ = serving(handle, timeouts={"idleWriteTimeoutSeconds": 0.5})
    try:
        with RawClient(proxy.port) as client:
            client.send(f"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: {64 * MEGABYTE}\r\n\r\n")
            sender = threading.Thread(target=lambda: client.try_send(bytes(64 * MEGABYTE)), daemon=True)
            sender.start()
            assert client.read_response("POST").status == 504
            client.abandon()
            sender.join(10)
    finally:
        done.set()


# Peers that leave -----------------------------------------------------------------------------

@pytest.mark.parametrize("how", ["close", "reset"])
def test_a_client_that_leaves_before_the_answer_frees_its_origin_connection(serving, how):
    proxy, origin = serving(lambda connection: (connection.read_request(), connection.read_to_end()))
    client = RawClient(proxy.port)
    client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    wait_until(lambda: origin.requests, "the request at the origin")
    before = proxy.descriptors
    getattr(client, how)()
    if how == "close":
        # A FIN alone may be a half-close; the answer that nobody reads is then met by RST.
        origin.connections[0].send(response(bytes(1000)))
        origin.connections[0].send(bytes(1000))
    assert origin.connections[0].ended.wait(15), "the origin connection is kept for nobody"
    proxy.wait_descriptors(before - 2)
    origin.handler = replying(lambda request: response(b"fresh"))
    assert simple_get(proxy.port).body == b"fresh"


CHUNKED_ANSWER = (b"HTTP/1.1 200 OK\r\nX-A: 1\r\nTransfer-Encoding: chunked\r\n\r\n"
                  b"5\r\nhello\r\n6\r\n world\r\n0\r\nX-Sum: 42\r\nX-End: y\r\n\r\n")
SIZED_ANSWER = b"HTTP/1.1 200 OK\r\nX-A: 1\r\nContent-Length: 11\r\n\r\nhello world"
INTERIM_ANSWER = b"HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\n" + SIZED_ANSWER


@pytest.mark.parametrize("how", ["close", "reset"])
@pytest.mark.parametrize("answer", [CHUNKED_ANSWER, SIZED_ANSWER, INTERIM_ANSWER], ids=["chunked", "sized", "interim"])
def test_an_origin_that_dies_at_any_byte_never_gives_a_complete_answer(serving, answer, how):
    def handle(connection):
        request = connection.read_request()
        if request is None:
            return
        cut = int(request.target[1:])
        connection.send(answer[:cut])
        if cut < len(answer):
            getattr(connection, how)()
        else:
            connection.read_to_end()
    proxy, _ = serving(handle)
    for cut in range(len(answer)):
        try:
            got = simple_get(proxy.port, f"/{cut}")
        except IncompleteMessage as incomplete:
            message = incomplete.message
            assert message is None or b"hello world".startswith(message.body), f"cut at {cut}"
        else:
            assert got.status == 502, f"a complete answer of a part that ends at byte {cut}: {got}"
    whole = simple_get(proxy.port, f"/{len(answer)}")
    assert (whole.status, whole.body) == (200, b"hello world")


REQUEST = (b"POST /up HTTP/1.1\r\nHost: a\r\nX-A: 1\r\nTransfer-Encoding: chunked\r\n\r\n"
           b"5\r\nhello\r\n0\r\nX-Sum: 42\r\n\r\n")


@pytest.mark.parametrize("how", ["half-close", "close", "reset"])
def test_a_client_that_dies_at_any_byte_never_completes_a_request(serving, how):
    proxy, origin = serving()
    simple_get(proxy.port)
    baseline = proxy.descriptors
    origin.forget()
    for cut in range(len(REQUEST)):
        with RawClient(proxy.port) as client:
            if how == "reset":
                reset_on_close(client.sock)
            client.send(REQUEST[:cut])
            if how == "half-close":
                client.half_close()
                data, _ = client.read_to_end()
                assert data == b"" or data.startswith((b"HTTP/1.1 400 ", b"HTTP/1.1 408 ")), f"cut at {cut}: {data[:80]!r}"
    assert origin.requests == []
    proxy.wait_descriptors(baseline)
    with RawClient(proxy.port) as client:
        client.send(REQUEST)
        assert client.read_response("POST").status == 200
    assert [request.body for request in origin.requests] == [b"hello"]


def test_random_bytes_do_no_harm(serving):
    proxy, origin = serving()
    for seed in range(scaled(150, 5000)):
        noise = hashlib.shake_128(str(seed).encode()).digest(10 + seed * 7 % 3000)
        start = (b"", b"GET / HTTP/1.1\r\n", b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")[seed % 3]
        with RawClient(proxy.port) as client:
            client.try_send(start + noise)
            with contextlib.suppress(OSError):
                client.half_close()
            client.read_to_end()
    assert origin.requests == []
    assert simple_get(proxy.port).status == 200


# Numbers --------------------------------------------------------------------------------------

def raise_descriptor_limit(wanted):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = min(wanted, hard)
    if soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    return wanted


def test_exhausted_descriptors_pause_accepting_and_are_said_once(serving):
    proxy, _ = serving()
    simple_get(proxy.port)
    limit = proxy.descriptors + 6
    _, hard = resource.prlimit(proxy.pid, resource.RLIMIT_NOFILE)
    resource.prlimit(proxy.pid, resource.RLIMIT_NOFILE, (limit, hard))
    waiting = [RawClient(proxy.port) for _ in range(40)]
    try:
        wait_until(lambda: proxy.descriptors >= limit, "the descriptors to run out")
        before = cpu_seconds(proxy.pid)
        threading.Event().wait(1.0)  # Time has to pass: is the proxy spinning?
        assert cpu_seconds(proxy.pid) - before < 0.4, "the proxy spins on accept"
        # Who is in can still be served by the pooled origin connection.
        assert waiting[0].get().status == 200
    finally:
        for client in waiting:
            client.close()
    # Recovers by itself, without the limit being lifted.
    wait_until(lambda: simple_get(proxy.port).status == 200, "the proxy to accept again")
    told = [line for line in proxy.errors.splitlines()
            if "descriptor" in line.lower() or "too many open files" in line.lower()]
    assert len(told) == 1, told


def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_no_descriptor_is_left_for_the_origin(serving):
    """The client was accepted with the last descriptor: it gets an answer, not silence."""
    proxy, _ = serving()
    with RawClient(proxy.port) as first:
        assert first.get(fields="Connection: keep-alive\r\n").status == 200
        limit = proxy.descriptors + 1
        _, hard = resource.prlimit(proxy.pid, resource.RLIMIT_NOFILE)
        resource.prlimit(proxy.pid, resource.RLIMIT_NOFILE, (limit, hard))
        with RawClient(proxy.port) as second, RawClient(proxy.port):
            first.send("POST /held HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n")  # Takes the pooled one.
            answer = second.get()
            assert answer.status in (200, 502, 503)
            first.send("12345")
            assert first.read_response("POST").status in (200, 502, 503)


@pytest.mark.timeout(300)  # For the full scale.
@pytest.mark.parametrize("secure", [False, True], ids=["clear", "TLS"])
def test_thousands_of_idle_connections_cost_little_and_stay_usable(start_proxy, origin, localhost_pair, secure):
    count = scaled(300, 4000) if secure else scaled(1500, 20_000)
    count = min(count, raise_descriptor_limit(count + 500) - 400)
    proxy = start_proxy(forward_to(origin, tls_pair=localhost_pair))
    _, hard = resource.prlimit(proxy.pid, resource.RLIMIT_NOFILE)
    resource.prlimit(proxy.pid, resource.RLIMIT_NOFILE, (hard, hard))
    port, tls = (proxy.tls_port, client_context()) if secure else (proxy.port, None)
    clients = []
    try:
        clients += [RawClient(port, tls=tls) for _ in range(20)]
        for client in clients:
            client.get()
        before = proxy.rss_bytes
        for _ in range(count):
            client = RawClient(port, tls=tls)
            clients.append(client)
            assert client.get().status == 200
        each = (proxy.rss_bytes - before) / count
        # A chunk of 16 KiB that an idle connection keeps would show. Sanitizers add to each
        # allocation, of which OpenSSL makes many: it keeps about 30 KiB for a TLS 1.3 connection.
        most = (96 if secure else 12) if is_sanitized() else (36 if secure else 2)
        assert each < most * 1024, f"{each:.0f} bytes for each idle connection"
        for client in clients[:: max(1, count // 200)]:
            assert client.get().status == 200
    finally:
        for client in clients:
            client.close()
    wait_until(lambda: proxy.descriptors < 60, "the descriptors of clients that left")
    assert simple_get(port, tls=tls).status == 200


def blocks(size):
    block = bytes(range(256)) * 1024
    for _ in range(size // len(block)):
        yield block
    yield block[: size % len(block)]


def digest_of(size):
    digest = hashlib.sha256()
    for block in blocks(size):
        digest.update(block)
    return digest.hexdigest()


BODY_BYTES = scaled(64 * MEGABYTE, 1024 * MEGABYTE) + 123


@pytest.mark.timeout(600 if BODY_BYTES > 1024 * MEGABYTE else 60)
@pytest.mark.parametrize("framing", ["sized", "chunked"])
def test_a_big_download_is_unharmed_and_memory_bounded(serving, framing):
    def handle(connection):
        connection.read_request()
        if framing == "sized":
            connection.send(f"HTTP/1.1 200 OK\r\nContent-Length: {BODY_BYTES}\r\n\r\n")
            for block in blocks(BODY_BYTES):
                connection.send(block)
        else:
            connection.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            for block in blocks(BODY_BYTES):
                connection.send(chunk(block))
            connection.send(b"0\r\n\r\n")
        connection.read_to_end()
    proxy, _ = serving(handle)
    simple = hashlib.sha256()
    peak = before = proxy.rss_bytes
    with RawClient(proxy.port) as client:
        client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        head = client.read_head()
        for size, data in enumerate(body_pieces(client.stream, head), 1):
            simple.update(data)
            if size % 64 == 0:
                peak = max(peak, proxy.rss_bytes)
    assert simple.hexdigest() == digest_of(BODY_BYTES)
    assert peak - before < 16 * MEGABYTE


def body_pieces(stream, head):
    """The body in pieces, so that the test does not hold all of it."""
    if "Transfer-Encoding" not in head.fields:
        left = int(head.fields.only("Content-Length"))
        while left:
            data = stream.read_some() if len(stream.buffer) <= left else stream.read_exact(left)
            left -= len(data)
            yield data
        return
    while size := int(stream.read_line(), 16):
        yield stream.read_exact(size)
        assert stream.read_exact(2) == b"\r\n"
    assert stream.read_line() == b""


@pytest.mark.timeout(600 if BODY_BYTES > 1024 * MEGABYTE else 60)
@pytest.mark.parametrize("framing", ["sized", "chunked"])
def test_a_big_upload_is_unharmed_and_memory_bounded(serving, framing):
    def handle(connection):
        head = connection.read_head()
        digest = hashlib.sha256()
        for data in body_pieces(connection.stream, head):
            digest.update(data)
        connection.send(response(digest.hexdigest()))
        connection.read_to_end()
    proxy, _ = serving(handle)
    peak = before = proxy.rss_bytes
    with RawClient(proxy.port) as client:
        kind = f"Content-Length: {BODY_BYTES}" if framing == "sized" else "Transfer-Encoding: chunked"
        client.send(f"POST / HTTP/1.1\r\nHost: a\r\n{kind}\r\n\r\n")
        for number, block in enumerate(blocks(BODY_BYTES)):
            client.send(block if framing == "sized" else chunk(block))
            if number % 32 == 0:
                peak = max(peak, proxy.rss_bytes)
        if framing == "chunked":
            client.send(b"0\r\n\r\n")
        assert client.read_response("POST").text == digest_of(BODY_BYTES)
    assert peak - before < 16 * MEGABYTE


@pytest.mark.timeout(600)
def test_a_big_body_through_tls_on_both_legs(start_proxy, start_origin, localhost_pair):
    size = scaled(24 * MEGABYTE, 1024 * MEGABYTE) + 7

    def handle(connection):
        connection.read_request()
        connection.send(f"HTTP/1.1 200 OK\r\nContent-Length: {size}\r\n\r\n")
        for block in blocks(size):
            connection.send(block)
        connection.read_to_end()
    origin = start_origin(handle, tls=server_context(localhost_pair))
    config = to_cluster([destination(origin, useHttps=True)], decryptSsl=True,
                        cluster_keys={"tls": {"ignoreServerCertificateErrors": True}})
    config["certificates"] = {"certificatePath": localhost_pair.certificate, "privateKeyPath": localhost_pair.key}
    proxy = start_proxy(config)
    digest = hashlib.sha256()
    peak = before = proxy.rss_bytes
    with RawClient(proxy.tls_port, tls=client_context()) as client:
        client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        for number, data in enumerate(body_pieces(client.stream, client.read_head())):
            digest.update(data)
            if number % 64 == 0:
                peak = max(peak, proxy.rss_bytes)
    assert digest.hexdigest() == digest_of(size)
    assert peak - before < 24 * MEGABYTE


@pytest.mark.timeout(600)
def test_many_requests_over_one_connection_do_not_grow_the_process(serving):
    total, batch = scaled(5000, 100_000), 50
    proxy, origin = serving(replying(lambda request: response(request.target)))
    settled = None
    with RawClient(proxy.port) as client:
        for begin in range(0, total, batch):
            client.send("".join(f"GET /{number} HTTP/1.1\r\nHost: a\r\n\r\n" for number in range(begin, begin + batch)))
            for number in range(begin, begin + batch):
                assert client.read_response().text == f"/{number}"
            if begin == 1000:
                settled = proxy.rss_bytes
        assert len(origin.connections) == 1
    assert proxy.rss_bytes - settled < 4 * MEGABYTE


def test_many_connections_in_turn_do_not_grow_the_process(serving):
    proxy, _ = serving()
    for _ in range(200):
        simple_get(proxy.port)
    settled = proxy.rss_bytes
    descriptors = proxy.descriptors
    for _ in range(scaled(1000, 50_000)):
        simple_get(proxy.port)
    assert proxy.rss_bytes - settled < 6 * MEGABYTE
    proxy.wait_descriptors(descriptors + 2)


# Stopping -------------------------------------------------------------------------------------

@pytest.fixture
def gated(serving):
    """A proxy, its origin and the event that lets the origin answer."""
    go = threading.Event()

    def handle(connection):
        for request in connection.requests_until_end():
            if request.target == "/held":
                connection.send(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfirst")
                connection.wait(go)
                connection.send(b"-last")
            else:
                connection.send(response(b"ok"))

    def start(**timeouts):
        return (*serving(handle, timeouts=timeouts), go)
    yield start
    go.set()


def refuses_connections(port):
    try:
        with socket.create_connection(("127.0.0.1", port), 1):
            return False
    except ConnectionRefusedError:
        return True


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_stop_lets_exchanges_finish_and_refuses_new_connections(gated, number):
    proxy, origin, go = gated(drainTimeoutSeconds=20)
    with RawClient(proxy.port) as client:
        client.send("GET /held HTTP/1.1\r\nHost: a\r\n\r\n")
        wait_until(lambda: origin.requests, "the request at the origin")
        proxy.signal(number)
        wait_until(lambda: refuses_connections(proxy.port), "the listener to be closed")
        assert proxy.is_alive()
        go.set()
        assert client.read_response().body == b"first-last"
        client.expect_closed()
    assert proxy.wait() == 0


def test_a_response_that_begins_during_the_drain_says_close(serving):
    go = threading.Event()

    def handle(connection):
        for request in connection.requests_until_end():
            connection.wait(go)
            connection.send(response(b"done"))
    proxy, origin = serving(handle, timeouts={"drainTimeoutSeconds": 20})
    with RawClient(proxy.port) as client:
        client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        wait_until(lambda: origin.requests, "the request at the origin")
        proxy.signal()
        wait_until(lambda: refuses_connections(proxy.port), "the listener to be closed")
        go.set()
        answer = client.read_response()
        assert (answer.body, answer.keeps_alive) == (b"done", False)
        client.expect_closed()
    assert proxy.wait() == 0


def test_a_stop_closes_idle_connections_at_once(gated):
    proxy, _, _ = gated(drainTimeoutSeconds=30)
    with RawClient(proxy.port) as used, RawClient(proxy.port) as unused:
        assert used.get().status == 200
        begin = time.monotonic()
        proxy.signal()
        used.expect_closed()
        unused.expect_closed()
    assert proxy.wait() == 0
    assert time.monotonic() - begin < 10


def test_a_stop_ends_at_the_drain_timeout(gated):
    proxy, origin, _ = gated(drainTimeoutSeconds=0.5)
    with RawClient(proxy.port) as client:
        client.send("GET /held HTTP/1.1\r\nHost: a\r\n\r\n")
        wait_until(lambda: origin.requests, "the request at the origin")
        proxy.signal()
        assert proxy.wait() == 0
        with pytest.raises(IncompleteMessage):
            client.read_response()


def test_a_second_signal_stops_at_once(gated):
    proxy, origin, _ = gated(drainTimeoutSeconds=60)
    with RawClient(proxy.port) as client:
        client.send("GET /held HTTP/1.1\r\nHost: a\r\n\r\n")
        wait_until(lambda: origin.requests, "the request at the origin")
        proxy.signal()
        wait_until(lambda: refuses_connections(proxy.port), "the drain")
        assert proxy.is_alive()
        proxy.signal()
        proxy.wait(10)
        with pytest.raises(IncompleteMessage):
            client.read_response()


def test_a_stop_under_load_completes_every_answer_that_began(serving):
    proxy, _ = serving(replying(lambda request: response(b"x" * 10_000)), timeouts={"drainTimeoutSeconds": 10})
    answered, broken = [0], []

    def load():
        try:
            while True:
                with RawClient(proxy.port) as client:
                    while True:
                        answer = client.get()
                        assert answer.body == b"x" * 10_000
                        answered[0] += 1
                        if not answer.keeps_alive:
                            break
        except IncompleteMessage as error:
            if error.partial or error.message:
                broken.append(error)  # An answer that began and did not end.
        except (ConnectionEnded, OSError):
            pass
    threads = [threading.Thread(target=load, daemon=True) for _ in range(6)]
    for thread in threads:
        thread.start()
    wait_until(lambda: answered[0] > 100, "some load")
    proxy.signal()
    assert proxy.wait() == 0
    for thread in threads:
        thread.join(10)
    assert broken == []


def test_a_stop_right_after_the_start(start_proxy, origin):
    for _ in range(3):
        proxy = start_proxy(forward_to(origin))
        proxy.signal()
        assert proxy.wait() == 0
