# SPDX-License-Identifier: MIT
"""Both directions of an exchange are live at once, and a slow reader stops the writer."""

import threading

import pytest
from harness.message import IncompleteMessage
from harness.origin import chunk, response
from harness.proxy import forward_to
from harness.raw import RawClient
from harness.wait import scaled, wait_stable, wait_until

HEAD = b"POST /up HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
STREAMED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
MEGABYTE = 1 << 20
# Kernel buffers of four sockets, with room to spare; far below what is offered.
MOST_IN_FLIGHT = 48 * MEGABYTE
OFFERED = 192 * MEGABYTE
RSS_GROWTH = 16 * MEGABYTE


@pytest.fixture
def serving(start_proxy, start_origin):
    def start(handler, *, origin_options=None, **options):
        origin = start_origin(handler, **(origin_options or {}))
        return start_proxy(forward_to(origin, **options)), origin
    return start


def read_chunk(stream):
    size = int(stream.read_line(), 16)
    data = stream.read_exact(size)
    assert stream.read_exact(2) == b"\r\n"
    return data


def test_a_conversation_within_one_exchange(serving):
    """Each side waits for the other's piece before it sends its next one, as in a gRPC stream."""
    def handle(connection):
        request = connection.read_head()
        assert request.is_chunked
        connection.send(STREAMED)
        while data := read_chunk(connection.stream):
            connection.send(chunk(b"re:" + data))
        connection.send(b"0\r\n\r\n")
        connection.read_to_end()
    proxy, _ = serving(handle)
    with RawClient(proxy.port) as client:
        client.send(HEAD)
        assert client.read_head().status == 200
        for index in range(20):
            client.send(chunk(f"{index}"))
            assert read_chunk(client.stream) == f"re:{index}".encode()
        client.send(b"0\r\n\r\n")
        assert client.read_exact(5) == b"0\r\n\r\n"


def test_the_response_head_arrives_before_the_request_ends(serving):
    def handle(connection):
        request = connection.read_head()
        connection.send(b"HTTP/1.1 202 Accepted\r\nContent-Length: 5\r\n\r\n")
        connection.read_body(request)
        connection.send(request.body)
        connection.read_to_end()
    proxy, origin = serving(handle)
    with RawClient(proxy.port) as client:
        client.send(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nab")
        assert client.read_head().status == 202
        assert origin.requests == []
        client.send(b"cde")
        assert client.read_exact(5) == b"abcde"


def test_a_complete_early_answer_while_the_body_still_flows(serving):
    """The origin answers in full, then reads on: the client gets the answer at once."""
    def handle(connection):
        request = connection.read_head()
        connection.send(response(b"early"))
        connection.read_body(request)
        for request in connection.requests_until_end():
            connection.send(response(request.target))
    proxy, origin = serving(handle)
    with RawClient(proxy.port) as client:
        client.send(HEAD + chunk("one"))
        answer = client.read_response("POST")
        assert answer.body == b"early"
        sent = client.try_send(chunk("two") + b"0\r\n\r\n")
        if sent and answer.keeps_alive and client.is_open():
            assert client.get("/next").text == "/next"
            assert [request.target for request in origin.requests][-1] == "/next"


def test_an_origin_that_answers_and_closes_early_is_heard(serving):
    """A large upload meets an origin that refuses it and closes: the answer must not get lost."""
    def handle(connection):
        connection.read_head()
        connection.send(response(b"too much", status=413, reason="Content Too Large", fields=[("Connection", "close")]))
        connection.half_close()
        connection.read_to_end()
    proxy, _ = serving(handle)
    with RawClient(proxy.port) as client:
        size = 32 * MEGABYTE
        client.send(f"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: {size}\r\n\r\n")
        sender = threading.Thread(target=lambda: client.try_send(bytes(size)), daemon=True)
        sender.start()
        answer = client.read_response("POST")
        assert (answer.status, answer.body) == (413, b"too much")
        client.abandon()
        sender.join(10)


def test_upload_and_download_run_at_the_same_time(serving):
    """Neither side reads before it has sent more than all buffers hold: a half-duplex proxy hangs."""
    size = 24 * MEGABYTE
    block = bytes(range(256)) * 256
    received = []

    def pump(send):
        for _ in range(size // len(block)):
            send(block)

    def handle(connection):
        request = connection.read_head()
        connection.send(f"HTTP/1.1 200 OK\r\nContent-Length: {size}\r\n\r\n")
        sender = threading.Thread(target=pump, args=(connection.send,), daemon=True)
        sender.start()
        connection.read_body(request)
        received.append(request.body)
        sender.join(20)
        connection.read_to_end()
    proxy, _ = serving(handle)
    with RawClient(proxy.port) as client:
        client.send(f"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: {size}\r\n\r\n")
        sender = threading.Thread(target=pump, args=(client.send,), daemon=True)
        sender.start()
        answer = client.read_response("POST")
        sender.join(20)
    wait_until(lambda: received, "the upload")
    whole = block * (size // len(block))
    assert answer.body == whole
    assert received[0] == whole


def test_a_slow_client_stops_the_origin(serving):
    sent = [0]
    resume = threading.Event()

    def handle(connection):
        connection.read_request()
        connection.send(f"HTTP/1.1 200 OK\r\nContent-Length: {OFFERED}\r\n\r\n")
        block = bytes(65536)
        while sent[0] < OFFERED:
            connection.send(block)
            sent[0] += len(block)
        connection.read_to_end()
    proxy, _ = serving(handle)
    with RawClient(proxy.port, receive_buffer=65536) as client:
        before = proxy.rss_bytes
        client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        client.read_head()
        stopped_at = wait_stable(lambda: sent[0], "bytes that the origin could send")
        assert stopped_at < MOST_IN_FLIGHT, "nobody stopped the origin"
        assert proxy.rss_bytes - before < RSS_GROWTH, "the proxy buffers what the client does not read"
        resume.set()
        while sent[0] < stopped_at + 16 * MEGABYTE:
            client.read_exact(MEGABYTE)  # The flow goes on when the client reads again.


def test_a_slow_origin_stops_the_client(serving):
    go = threading.Event()

    def handle(connection):
        head = connection.read_head()
        connection.wait(go)
        connection.send(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n")
        left = int(head.fields.only("Content-Length"))
        while left:
            left -= len(connection.stream.read_exact(min(left, 65536)))
        connection.send(b"ok")
        connection.read_to_end()
    proxy, _ = serving(handle, origin_options={"receive_buffer": 65536})
    sent = [0]

    def pump(client):
        block = bytes(65536)
        while sent[0] < OFFERED:
            client.send(block)
            sent[0] += len(block)
    with RawClient(proxy.port) as client:
        before = proxy.rss_bytes
        client.send(f"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: {OFFERED}\r\n\r\n")
        client.sock.settimeout(40)
        sender = threading.Thread(target=pump, args=(client,), daemon=True)
        sender.start()
        stopped_at = wait_stable(lambda: sent[0], "bytes that the client could send")
        assert stopped_at < MOST_IN_FLIGHT, "nobody stopped the client"
        assert proxy.rss_bytes - before < RSS_GROWTH, "the proxy buffers what the origin does not read"
        go.set()
        assert client.read_response("POST").body == b"ok"
        sender.join(20)


def test_a_slow_client_does_not_hold_up_others(serving):
    def handle(connection):
        for request in connection.requests_until_end():
            connection.send(response(bytes(64 * MEGABYTE) if request.target == "/big" else b"small"))
    proxy, _ = serving(handle)
    with RawClient(proxy.port, receive_buffer=8192) as slow, RawClient(proxy.port) as quick:
        slow.send("GET /big HTTP/1.1\r\nHost: a\r\n\r\n")
        slow.read_head()
        for _ in range(scaled(50, 1000)):
            assert quick.get("/small").body == b"small"


def test_many_slow_clients_keep_memory_bounded(serving):
    count = 32
    body = bytes(8 * MEGABYTE)

    def handle(connection):
        for _ in connection.requests_until_end():
            connection.send(response(body))
    proxy, _ = serving(handle)
    clients = [RawClient(proxy.port, receive_buffer=8192) for _ in range(count)]
    try:
        before = proxy.rss_bytes
        for client in clients:
            client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        for client in clients:
            client.read_head()
        after = wait_stable(lambda: proxy.rss_bytes // MEGABYTE, "memory") * MEGABYTE
        # Of 256 MiB that wait behind 32 readers, at most a window each.
        assert after - before < 32 * MEGABYTE
    finally:
        for client in clients:
            client.close()


def test_a_client_that_leaves_during_a_stream_stops_the_origin(serving):
    stopped = threading.Event()

    def handle(connection):
        connection.read_request()
        connection.send(STREAMED)
        try:
            while True:
                connection.send(chunk(bytes(4096)))
        except OSError:
            stopped.set()
    proxy, _ = serving(handle)
    with RawClient(proxy.port) as client:
        client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        client.read_head()
        client.reset()
    assert stopped.wait(10), "the origin still talks to nobody"


def test_an_origin_that_dies_during_an_upload_ends_the_exchange(serving):
    def handle(connection):
        connection.read_head()
        connection.stream.read_exact(1000)
        connection.reset()
    proxy, _ = serving(handle)
    with RawClient(proxy.port) as client:
        client.send(f"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: {64 * MEGABYTE}\r\n\r\n")
        sender = threading.Thread(target=lambda: client.try_send(bytes(64 * MEGABYTE)), daemon=True)
        sender.start()
        try:
            assert client.read_response("POST").status == 502
        except IncompleteMessage:
            pytest.fail("an answer was possible: nothing had been sent to the client")
        finally:
            client.abandon()
            sender.join(10)


def test_chunk_by_chunk_uploads_are_not_held_back(serving):
    seen = threading.Event()

    def handle(connection):
        connection.read_head()
        assert read_chunk(connection.stream) == b"first"
        seen.set()
        assert read_chunk(connection.stream) == b"second"
        assert read_chunk(connection.stream) == b""
        connection.send(response(b"ok"))
        connection.read_to_end()
    proxy, _ = serving(handle)
    with RawClient(proxy.port) as client:
        client.send(HEAD + chunk("first"))
        assert seen.wait(10)
        client.send(chunk("second") + b"0\r\n\r\n")
        assert client.read_response("POST").body == b"ok"
