# SPDX-License-Identifier: MIT
"""The harness against itself, without the proxy: an oracle that is wrong would hide mistakes."""

import socket
import ssl
import threading

import pytest
from harness.message import BadMessage, ConnectionEnded, IncompleteMessage, Stream, read_request_head, read_response
from harness.origin import BlackHole, ScriptedOrigin, chunked_response, replying, response, server_context
from harness.raw import RawClient, client_context, simple_get


def stream_of(data):
    """A stream that yields these bytes and then a FIN."""
    ours, theirs = socket.socketpair()
    with theirs:
        theirs.sendall(data)
    ours.settimeout(5)
    return Stream(ours)


def test_client_and_origin_exchange_requests_over_one_connection(start_origin):
    origin = start_origin(replying(lambda request: response(request.target)))
    with RawClient(origin.port) as client:
        assert client.get("/a").text == "/a"
        assert client.get("/b").text == "/b"
    assert [request.target for request in origin.requests] == ["/a", "/b"]
    assert len(origin.connections) == 1


@pytest.mark.parametrize("size", [1, 2, 3, 7])
def test_a_message_in_pieces_is_read_like_one_in_one_piece(start_origin, size):
    origin = start_origin(replying(lambda request: chunked_response([b"ab", request.body], [("T", "1")])))
    with RawClient(origin.port) as client:
        client.send_pieces(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nxyz", size)
        answer = client.read_response()
    assert (answer.body, answer.chunks, answer.trailers.lines) == (b"abxyz", [2, 3], [("T", "1")])


@pytest.mark.parametrize("text", [
    b"HTTP/1.1 200 OK\nContent-Length: 0\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nContent-Length : 0\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nContent-Length: +1\r\n\r\nx",
    b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\nx",
    b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    b"HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    b"HTTP/1.1 204 No\r\nContent-Length: 0\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1 \r\nx\r\n0\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nxx\r\n0\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nA: b\x00\r\n\r\n",
    b"HTTP/2 200 OK\r\n\r\n",
])
def test_the_reader_refuses_an_ambiguous_response(text):
    with pytest.raises(BadMessage):
        read_response(stream_of(text))


@pytest.mark.parametrize("text", [
    b"GET  / HTTP/1.1\r\nHost: a\r\n\r\n", b"GET / HTTP/1.1\r\n\r\n", b"GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: a\r\n b: c\r\n\r\n", b"G\x00T / HTTP/1.1\r\nHost: a\r\n\r\n",
])
def test_the_reader_refuses_an_ambiguous_request(text):
    with pytest.raises(BadMessage):
        read_request_head(stream_of(text))


def test_every_cut_of_a_response_is_incomplete():
    whole = chunked_response([b"hello", b"world"], [("T", "1")])
    for cut in range(len(whole)):
        with pytest.raises(IncompleteMessage):
            read_response(stream_of(whole[:cut]))
    assert read_response(stream_of(whole)).body == b"helloworld"


def test_interim_responses_are_kept_beside_the_final_one():
    answer = read_response(stream_of(b"HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\n" + response(b"x")))
    assert [interim.status for interim in answer.interim] == [103]
    assert answer.body == b"x"


def test_a_reset_is_told_from_an_orderly_end(start_origin):
    origin = start_origin(lambda connection: (connection.read_request(), connection.reset()))
    with RawClient(origin.port) as client:
        with pytest.raises(IncompleteMessage) as caught:
            client.get()
    assert caught.value.how == "reset"


def test_the_origin_waits_for_the_test(start_origin):
    go = threading.Event()

    def handle(connection):
        connection.read_request()
        connection.wait(go)
        connection.send(response(b"late"))
    origin = start_origin(handle)
    with RawClient(origin.port) as client:
        client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        assert client.is_open()
        go.set()
        assert client.read_response().body == b"late"


def test_a_failed_assertion_in_a_handler_fails_the_test():
    def handle(connection):
        assert connection.read_request().target == "/expected"
    origin = ScriptedOrigin(handle)
    with pytest.raises(ConnectionEnded):
        simple_get(origin.port, "/other")
    origin.stop()
    with pytest.raises(AssertionError, match="/expected"):
        origin.check()


def test_tls_reports_protocol_version_and_truncation(start_origin, authority, localhost_pair):
    def handle(connection):
        connection.read_request()
        connection.send(b"HTTP/1.1 200 OK\r\n\r\nhalf")  # And then no close_notify.
    origin = start_origin(handle, tls=server_context(localhost_pair))
    context = client_context(authority.certificate, version=ssl.TLSVersion.TLSv1_2)
    with RawClient(origin.port, tls=context) as client:
        assert client.sock.selected_alpn_protocol() == "http/1.1"
        assert client.sock.version() == "TLSv1.2"
        with pytest.raises(IncompleteMessage) as caught:
            client.get()
    assert caught.value.how == "truncated"


def test_a_black_hole_lets_nobody_connect():
    with BlackHole() as hole, pytest.raises(TimeoutError):
        RawClient(hole.port, timeout=0.2)
