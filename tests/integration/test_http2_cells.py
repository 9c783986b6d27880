# SPDX-License-Identifier: MIT
"""Everything an exchange can do, in each of the sixteen cells {HTTP/1, HTTP/1 over TLS, h2c,
HTTP/2 over TLS}². The ends are harness/talk.py: python3-h2 and the strict HTTP/1 reader."""

import hashlib
import threading

import pytest
from harness.cells import CELL_IDS, CELLS, Cells, is_http2, is_tls
from harness.talk import TalkReset
from harness.wait import wait_until

BIG = bytes(range(256)) * 1024  # 256 KiB
WAIT = 15


@pytest.fixture(scope="module")
def cells(start_shared_proxy, start_shared_origin, authority, localhost_pair):
    return Cells(start_shared_proxy, start_shared_origin, authority, localhost_pair)


@pytest.fixture(params=CELLS, ids=CELL_IDS)
def cell(request, cells):
    return Cell(cells, *request.param)


class Cell:
    def __init__(self, cells, client_kind, origin_kind):
        self.cells, self.client_kind, self.origin_kind = cells, client_kind, origin_kind

    def client(self, **options):
        return self.cells.client(self.client_kind, **options)

    def serve(self, app):
        return self.cells.serve(self.origin_kind, app)

    @property
    def client_multiplexes(self):
        return is_http2(self.client_kind)

    @property
    def both_http2(self):
        return is_http2(self.client_kind) and is_http2(self.origin_kind)


def echo(talk):
    body = talk.read_all()
    talk.respond(200, [("x-method", talk.method), ("x-authority", talk.authority)], body)


def test_get_with_its_fields(cell):
    seen = []

    def app(talk):
        seen.append(talk)
        talk.respond(200, [("Content-Type", "text/plain"), ("X-A", "1"), ("X-A", "2")], b"hello")
    path = cell.serve(app)
    with cell.client() as client:
        for _ in range(3):
            talk = client.open("GET", path + "?q=1&r=%2F", [("X-Own", "a, b"), ("User-Agent", "cells/1"),
                                                             ("Accept", "*/*")], authority="example.org:81")
            assert talk.finish() == b"hello"
            assert talk.status == 200
            assert talk.fields.only("content-length") == "5"
            assert talk.fields.all("x-a") == ["1", "2"]
            assert talk.fields.only("content-type") == "text/plain"
            assert talk.fields.only("via").endswith("titanium")
            assert "date" in talk.fields
    for talk in seen:
        assert (talk.method, talk.path) == ("GET", path + "?q=1&r=%2F")
        assert talk.authority == "example.org:81"
        assert talk.fields.only("x-own") == "a, b"
        assert talk.fields.only("user-agent") == "cells/1"
        assert talk.fields.only("x-forwarded-proto") == ("https" if is_tls(cell.client_kind) else "http")
        assert talk.fields.only("x-forwarded-for") == "127.0.0.1"
        assert talk.fields.only("via") == ("2 titanium" if is_http2(cell.client_kind) else "1.1 titanium")
        for name in ("connection", "keep-alive", "transfer-encoding", "upgrade", "http2-settings", "content-length"):
            assert name not in talk.fields, name
        if is_http2(cell.origin_kind):
            assert "host" not in talk.fields
            # RFC 9113 §8.3.1: the scheme of the request, whatever lies between us and the origin.
            assert talk.pseudo[":scheme"] == ("https" if is_tls(cell.client_kind) else "http")


def test_head_has_the_length_and_no_body(cell):
    path = cell.serve(lambda talk: talk.respond(200, [("X-A", "1")], b"12345678"))
    with cell.client() as client:
        for _ in range(2):
            talk = client.open("HEAD", path)
            assert talk.finish() == b""
            assert (talk.status, talk.fields.get("content-length")) == (200, "8")


@pytest.mark.parametrize("status", [204, 304])
def test_responses_without_a_body(cell, status):
    path = cell.serve(lambda talk: talk.respond(status, [("ETag", '"a"')]))
    with cell.client() as client:
        for _ in range(2):
            talk = client.open("GET", path)
            assert talk.finish() == b""
            assert (talk.status, talk.fields.only("etag")) == (status, '"a"')
            assert "transfer-encoding" not in talk.fields


@pytest.mark.parametrize("status", [200, 201, 302, 404, 418, 500, 503, 599])
def test_an_empty_body_with_any_status(cell, status):
    path = cell.serve(lambda talk: talk.respond(status, body=b""))
    with cell.client() as client:
        talk = client.open("GET", path)
        assert talk.finish() == b""
        assert (talk.status, talk.fields.get("content-length", "0")) == (status, "0")


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND"])
def test_any_method_with_a_sized_body(cell, method):
    path = cell.serve(echo)
    with cell.client() as client:
        talk = client.open(method, path, [("Content-Length", "4")], body=True)
        talk.send(b"body")
        talk.end()
        assert talk.finish() == b"body"
        assert talk.fields.only("x-method") == method


def test_a_sized_body_keeps_its_length(cell):
    def app(talk):
        assert talk.fields.only("content-length") == "262144"
        echo(talk)
    path = cell.serve(app)
    with cell.client() as client:
        talk = client.open("POST", path, [("Content-Length", str(len(BIG)))], body=True)
        sender = threading.Thread(target=lambda: (talk.send(BIG), talk.end()))
        sender.start()
        assert talk.finish() == BIG
        sender.join(WAIT)


def test_a_streamed_body_of_256_kib_both_ways(cell):
    def app(talk):
        assert "content-length" not in talk.fields
        talk.respond(200, [("Content-Type", "application/octet-stream")])
        while piece := talk.read():
            talk.send(piece)
        talk.end()
    path = cell.serve(app)
    with cell.client() as client:
        talk = client.open("POST", path, body=True)

        def send():
            for at in range(0, len(BIG), 10_000):
                talk.send(BIG[at:at + 10_000])
            talk.end()
        sender = threading.Thread(target=send)
        sender.start()
        assert talk.wait_head() == 200
        assert "content-length" not in talk.fields
        assert hashlib.sha256(talk.read_all()).digest() == hashlib.sha256(BIG).digest()
        sender.join(WAIT)


def test_pieces_arrive_one_by_one_both_ways(cell):
    """Full duplex: each side waits for what the other one has just said."""
    def app(talk):
        talk.respond(200)
        for number in range(5):
            assert talk.read_exactly(5) == b"ask-%d" % number
            talk.send(b"answer-%d" % number)
        assert talk.read() == b""
        talk.end()
    path = cell.serve(app)
    with cell.client() as client:
        talk = client.open("POST", path, body=True)
        for number in range(5):
            talk.send(b"ask-%d" % number)
            if number == 0:
                assert talk.wait_head() == 200
            assert talk.read_exactly(8) == b"answer-%d" % number
        talk.end()
        assert talk.read() == b""


def test_trailers_both_ways(cell):
    seen = []

    def app(talk):
        body = talk.read_all()
        seen.append((body, talk.trailers.get("x-sum"), talk.fields.get("te")))
        talk.respond(200)
        talk.send(b"response")
        talk.end([("x-result", "fine"), ("x-other", "2")])
    path = cell.serve(app)
    with cell.client() as client:
        for _ in range(2):
            talk = client.open("POST", path, [("te", "trailers")], body=True)
            talk.send(b"request")
            talk.end([("x-sum", "abc")])
            assert talk.finish() == b"response"
            assert (talk.trailers.get("x-result"), talk.trailers.get("x-other")) == ("fine", "2")
    assert [one[:2] for one in seen] == [(b"request", "abc")] * 2
    assert all(te == "trailers" for *_, te in seen)


def test_trailers_without_a_body(cell):
    def app(talk):
        talk.respond(200)
        talk.end([("x-result", "empty")])
    path = cell.serve(app)
    with cell.client() as client:
        talk = client.open("GET", path, [("te", "trailers")])
        assert talk.finish() == b""
        assert talk.trailers.get("x-result") == "empty"


def test_interim_responses_come_before_the_final_one(cell):
    def app(talk):
        talk.read_all()
        talk.send_interim(103, [("Link", "</a.css>; rel=preload")])
        talk.send_interim(102)
        talk.respond(200, body=b"final")
    path = cell.serve(app)
    with cell.client() as client:
        talk = client.open("GET", path)
        assert talk.finish() == b"final"
        assert [status for status, _ in talk.interim] == [103, 102]
        assert talk.interim[0][1].get("link") == "</a.css>; rel=preload"


def test_expect_100_continue_reaches_the_origin_and_back(cell):
    def app(talk):
        assert talk.fields.only("expect").lower() == "100-continue"
        talk.send_interim(100)
        echo(talk)
    path = cell.serve(app)
    with cell.client() as client:
        talk = client.open("POST", path, [("Content-Length", "4"), ("Expect", "100-continue")], body=True)
        assert talk.wait_interim() == 100
        talk.send(b"late")
        talk.end()
        assert talk.finish() == b"late"


def test_expect_that_is_refused_needs_no_body(cell):
    """The final answer instead of 100: the client sends nothing, the connections may go on."""
    def app(talk):
        talk.respond(413, body=b"too large")
        if talk.version == "HTTP/1.1":
            talk.reset()  # Its request will never be complete.
    path, next_path = cell.serve(app), cell.serve(lambda talk: talk.respond(body=b"next"))
    with cell.client() as client:
        talk = client.open("POST", path, [("Content-Length", "4"), ("Expect", "100-continue")], body=True)
        assert talk.finish() == b"too large"
        assert talk.status == 413
    with cell.client() as client:
        assert client.open("GET", next_path).finish() == b"next"


def test_an_early_response_with_the_upload_going_on(cell):
    """The answer is complete before the request; the rest of the request still arrives."""
    got = []
    done = threading.Event()

    def app(talk):
        assert talk.read_exactly(5) == b"first"
        talk.respond(200, body=b"early")
        got.append(talk.read_all())
        done.set()
    path = cell.serve(app)
    with cell.client() as client:
        talk = client.open("POST", path, body=True)
        talk.send(b"first")
        assert talk.finish() == b"early"
        for _ in range(4):
            talk.send(b"x" * 1000)
        talk.end()
        assert done.wait(WAIT)
        assert got == [b"x" * 4000]
        if cell.client_multiplexes:
            assert client.open("GET", cell.serve(lambda talk: talk.respond(body=b"on"))).finish() == b"on"


def test_cookies(cell):
    """RFC 9113 §8.2.3: one line towards HTTP/1, however many came; Set-Cookie stays apart."""
    seen = []

    def app(talk):
        seen.append(talk.fields.all("cookie"))
        talk.respond(200, [("Set-Cookie", "a=1; Path=/"), ("Set-Cookie", "b=2; Expires=Wed, 09 Jun 2021 10:18:14 GMT")],
                     b"")
    path = cell.serve(app)
    lines = [("Cookie", "a=b"), ("Cookie", "c=d"), ("Cookie", "e=f")] if cell.client_multiplexes else [
        ("Cookie", "a=b; c=d; e=f")]
    with cell.client() as client:
        talk = client.open("GET", path, lines)
        talk.finish()
        assert talk.fields.all("set-cookie") == ["a=1; Path=/", "b=2; Expires=Wed, 09 Jun 2021 10:18:14 GMT"]
    assert "; ".join(seen[0]) == "a=b; c=d; e=f"
    if not is_http2(cell.origin_kind):
        assert len(seen[0]) == 1


def test_a_response_without_an_end_that_is_known(cell):
    """HTTP/1.1 without a length ends with the connection; HTTP/2 and chunked say it."""
    def app(talk):
        talk.respond(200)
        talk.send(b"some")
        talk.send(b"more")
        talk.end()
    with cell.client() as client:
        assert client.open("GET", cell.serve(app)).finish() == b"somemore"


def test_large_heads_pass_both_ways(cell):
    big = "v" * 12_000
    seen = []

    def app(talk):
        seen.append(talk.fields)
        talk.respond(200, [("X-Big", big), *((f"X-{i}", str(i)) for i in range(60))], b"ok")
    with cell.client() as client:
        for _ in range(2):
            talk = client.open("GET", cell.serve(app), [("X-Big", big), *((f"X-{i}", str(i)) for i in range(60))])
            assert talk.finish() == b"ok"
            assert talk.fields.only("x-big") == big
            assert talk.fields.only("x-59") == "59"
    assert all(fields.only("x-big") == big and fields.only("x-59") == "59" for fields in seen)


# ---- gRPC, as its wire protocol has it: HEADERS, length-prefixed messages, trailers with the status


def message_of(data):
    return b"\0" + len(data).to_bytes(4, "big") + data


def read_message(talk, buffer):
    """The next message, or None at the end of the body."""
    while len(buffer) < 5 or len(buffer) < 5 + int.from_bytes(buffer[1:5], "big"):
        piece = talk.read()
        if not piece:
            assert not buffer
            return None
        buffer += piece
    size = int.from_bytes(buffer[1:5], "big")
    made = bytes(buffer[5:5 + size])
    del buffer[:5 + size]
    return made


GRPC = [("content-type", "application/grpc"), ("te", "trailers")]
HEAD = [("content-type", "application/grpc")]
FINE = [("grpc-status", "0"), ("grpc-message", "")]


def open_call(client, path):
    return client.open("POST", path, [*GRPC, ("grpc-timeout", "10S")], body=True)


def test_grpc_unary(cell):
    def app(talk):
        assert talk.fields.only("te") == "trailers" and talk.fields.only("grpc-timeout") == "10S"
        buffer = bytearray()
        asked = read_message(talk, buffer)
        assert read_message(talk, buffer) is None
        talk.respond(200, HEAD)
        talk.send(message_of(asked.upper()))
        talk.end(FINE)
    path = cell.serve(app)
    with cell.client() as client:
        for _ in range(3):
            call = open_call(client, path)
            call.send(message_of(b"hello"))
            call.end()
            assert call.wait_head() == 200
            assert read_message(call, buffer := bytearray()) == b"HELLO"
            assert read_message(call, buffer) is None
            assert call.trailers.only("grpc-status") == "0"


def test_grpc_trailers_only(cell):
    """An error without a message: everything is in the head, which ends the stream."""
    def app(talk):
        talk.read_all()
        talk.respond(200, [*HEAD, ("grpc-status", "12"), ("grpc-message", "no such method")], b"")
    with cell.client() as client:
        call = open_call(client, cell.serve(app))
        call.send(message_of(b"x"))
        call.end()
        assert call.finish() == b""
        assert (call.fields.only("grpc-status"), call.fields.only("grpc-message")) == ("12", "no such method")


def test_grpc_status_after_messages_may_be_an_error(cell):
    def app(talk):
        talk.read_all()
        talk.respond(200, HEAD)
        talk.send(message_of(b"one"))
        talk.end([("grpc-status", "8"), ("grpc-message", "out of luck")])
    with cell.client() as client:
        call = open_call(client, cell.serve(app))
        call.end()
        assert call.finish() == message_of(b"one")
        assert call.trailers.only("grpc-status") == "8"


def test_grpc_server_streaming(cell):
    go_on = threading.Semaphore(1)

    def app(talk):
        asked = read_message(talk, bytearray())
        talk.respond(200, HEAD)
        for number in range(20):
            assert go_on.acquire(timeout=WAIT)
            talk.send(message_of(asked + b"%d" % number))
        talk.end(FINE)
    with cell.client() as client:
        call = open_call(client, cell.serve(app))
        call.send(message_of(b"n"))
        call.end()
        assert call.wait_head() == 200
        buffer = bytearray()
        for number in range(20):
            assert read_message(call, buffer) == b"n%d" % number
            go_on.release()
        assert read_message(call, buffer) is None
        assert call.trailers.only("grpc-status") == "0"


def test_grpc_client_streaming(cell):
    def app(talk):
        buffer, total = bytearray(), 0
        while (piece := read_message(talk, buffer)) is not None:
            total += len(piece)
        talk.respond(200, HEAD)
        talk.send(message_of(b"%d" % total))
        talk.end(FINE)
    with cell.client() as client:
        call = open_call(client, cell.serve(app))
        for number in range(20):
            call.send(message_of(b"x" * number * 100))
        call.end()
        assert call.finish() == message_of(b"19000")
        assert call.trailers.only("grpc-status") == "0"


def test_grpc_bidirectional_streaming(cell):
    def app(talk):
        talk.respond(200, HEAD)
        buffer = bytearray()
        while (piece := read_message(talk, buffer)) is not None:
            talk.send(message_of(piece[::-1]))
        talk.end(FINE)
    with cell.client() as client:
        call = open_call(client, cell.serve(app))
        assert call.wait_head() == 200  # Before the first message.
        buffer = bytearray()
        for number in range(20):
            call.send(message_of(b"%05d" % number))
            assert read_message(call, buffer) == (b"%05d" % number)[::-1]
        call.end()
        assert read_message(call, buffer) is None
        assert call.trailers.only("grpc-status") == "0"


# ---- Ends that come too early


def test_a_client_that_leaves_is_noticed_by_the_origin(cell):
    started, ended, codes = threading.Event(), threading.Event(), []

    def app(talk):
        talk.respond(200)
        talk.send(b"begin")
        started.set()
        try:
            talk.read_all()
        except TalkReset as reset:
            codes.append(reset.code)
        finally:
            ended.set()
    with cell.client() as client:
        talk = client.open("POST", cell.serve(app), body=True)
        talk.send(b"x")
        assert talk.wait_head() == 200 and started.wait(WAIT)
        talk.reset()
        assert ended.wait(WAIT)
        if is_http2(cell.origin_kind):
            assert codes == [8]  # CANCEL
        else:
            assert len(codes) == 1
        if cell.client_multiplexes:
            assert client.open("GET", cell.serve(lambda talk: talk.respond(body=b"on"))).finish() == b"on"


def test_an_origin_that_gives_up_is_noticed_by_the_client(cell):
    go_on = threading.Event()

    def app(talk):
        talk.read_all()
        talk.respond(200)
        talk.send(b"begin")
        assert go_on.wait(WAIT)
        talk.reset()
    with cell.client() as client:
        talk = client.open("GET", cell.serve(app))
        assert talk.wait_head() == 200
        assert talk.read_exactly(5) == b"begin"
        go_on.set()
        with pytest.raises(TalkReset):
            talk.read_all()
        if cell.client_multiplexes:
            assert talk.code == 2  # INTERNAL_ERROR
            assert client.open("GET", cell.serve(lambda talk: talk.respond(body=b"on"))).finish() == b"on"


def test_an_origin_that_gives_up_before_its_head(cell):
    def app(talk):
        talk.read_all()
        talk.reset()
    with cell.client() as client:
        talk = client.open("POST", cell.serve(app), [("Content-Length", "0")])
        talk.finish()
        assert talk.status == 502


# ---- Many at a time


def test_64_at_a_time(cell):
    """Over one connection where the client's version can do that; none gets another one's answer."""
    together = threading.Barrier(64)

    def app(talk):
        body = talk.read_all()
        together.wait(WAIT)
        talk.respond(200, [("x-number", talk.fields.only("x-number"))])
        for _ in range(4):
            talk.send(body)
        talk.end([("x-end", talk.fields.only("x-number"))])
    path = cell.serve(app)
    shared = cell.client() if cell.client_multiplexes else None
    clients = [shared or cell.client() for _ in range(64)]
    try:
        talks = []
        for number, client in enumerate(clients):
            talk = client.open("POST", path, [("X-Number", str(number)), ("te", "trailers")], body=True)
            talk.send(b"%04d" % number * 1000)
            talk.end()
            talks.append(talk)
        for number, talk in enumerate(talks):
            assert talk.finish() == b"%04d" % number * 4000
            assert talk.fields.only("x-number") == str(number) == talk.trailers.only("x-end")
    finally:
        for client in set(clients):
            client.close()


def test_a_slow_reader_beside_fast_ones(cell):
    """The slow one stops its own origin, and nobody else."""
    size, sent = 24 * 1024 * 1024, []
    gave_up = threading.Event()

    def endless(talk):
        talk.respond(200)
        try:
            for _ in range(size // 65536):
                talk.send(b"s" * 65536)
                sent.append(65536)
            talk.end()
        except (TalkReset, AssertionError, TimeoutError):
            pass
        gave_up.set()
    slow_path, fast_path = cell.serve(endless), cell.serve(lambda talk: talk.respond(body=b"f" * 50_000))
    with cell.client() as client:
        slow = client.open("GET", slow_path)
        assert slow.wait_head() == 200
        others = client if cell.client_multiplexes else cell.client()
        for _ in range(12):
            assert others.open("GET", fast_path).finish() == b"f" * 50_000
        # What lies between the two ends is bounded: windows and kernel buffers.
        assert sum(sent) < size
        slow.reset()
        assert gave_up.wait(WAIT)
        if cell.client_multiplexes:
            assert others.open("GET", fast_path).finish() == b"f" * 50_000
        else:
            others.close()


def test_the_last_check_of_what_the_proxy_sent(cells):
    """Nothing above made python3-h2 or the HTTP/1 reader refuse it."""
    for peer in cells.peers:
        assert peer.error is None, peer.error
    for origin in cells.origins.values():
        origin.check()
    wait_until(lambda: cells.proxy.descriptors < 200, "connections of earlier tests to be closed")
