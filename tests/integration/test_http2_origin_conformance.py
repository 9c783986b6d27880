# SPDX-License-Identifier: MIT
"""RFC 9113 on the origin leg: an origin that breaks a rule costs its own exchange, never the
process, never a hang, and never shows a response to somebody who asked for another one."""

import contextlib
import struct

import pytest
from harness import frames as h2
from harness.frames import FrameClient, FrameOrigin, data, frame, goaway, headers, literal
from harness.frames import rst_stream, settings, window_update
from harness.message import ConnectionEnded, IncompleteMessage
from harness.proxy import forward_to
from harness.raw import RawClient
from harness.wait import wait_until

EH, ES, PAD, PRIO = h2.END_HEADERS, h2.END_STREAM, h2.PADDED, h2.PRIORITY_FLAG
OK = [(":status", "200")]

GOOD, BAD_GATEWAY, CUT = "200", "502", "cut short"


class Case:
    """What the origin sends for stream 1; what the client sees; what the origin is told."""

    def __init__(self, sent, client, told=None):
        self.sent, self.client, self.told = sent, client, told


def reset(code=h2.PROTOCOL_ERROR):
    return ("reset", code)


def closed(code=h2.PROTOCOL_ERROR):
    return ("goaway", code)


def head(*lines, end=False, status="200"):
    return headers(1, [(":status", status), *lines], end_stream=end)


CASES = {
    # Good ones, so that a table of refusals does not prove that everything is refused.
    "response": Case(head() + data(1, b"ok", True), GOOD),
    "response with padding": Case(head() + frame(h2.DATA, ES | PAD, 1, b"\x05ok" + bytes(5)), GOOD),
    "head with padding and priority": Case(
        frame(h2.HEADERS, EH | PAD | PRIO, 1, b"\x03\0\0\0\0\x10" + h2.block_of(OK) + bytes(3))
        + data(1, b"ok", True), GOOD),
    "head in pieces": Case(
        headers(1, literal(":status", "200"), end_stream=False, end_headers=False)
        + frame(h2.CONTINUATION, 0, 1, literal("x-a", "b")) + frame(h2.CONTINUATION, EH, 1, b"")
        + data(1, b"ok", True), GOOD),
    "unknown frames": Case(frame(77, 0xFF, 1, b"x") + head() + frame(78, 0, 0, b"y") + data(1, b"ok", True), GOOD),
    "interim response": Case(head(status="103") + head() + data(1, b"ok", True), GOOD),
    "trailers": Case(head() + data(1, b"ok") + headers(1, [("x-t", "1")]), GOOD),
    "content-length that is true": Case(head(("content-length", "2")) + data(1, b"ok", True), GOOD),
    "RST_STREAM(NO_ERROR) after the response": Case(
        head() + data(1, b"ok", True) + rst_stream(1, h2.NO_ERROR), GOOD),
    "GOAWAY that includes the stream": Case(goaway(1) + head() + data(1, b"ok", True), GOOD),
    "unknown setting": Case(settings((0xF0, 7)) + head() + data(1, b"ok", True), GOOD),
    "PRIORITY": Case(frame(h2.PRIORITY, 0, 1, bytes(5)) + head() + data(1, b"ok", True), GOOD),

    # The message is malformed: a stream error (RFC 9113 §8.1.1).
    "no :status": Case(headers(1, [("x-a", "b")], end_stream=False), BAD_GATEWAY, reset()),
    "empty head": Case(headers(1, b"", end_stream=False), BAD_GATEWAY, reset()),
    ":status twice": Case(headers(1, OK + OK), BAD_GATEWAY, reset()),
    ":status of two digits": Case(head(status="20"), BAD_GATEWAY, reset()),
    ":status of four digits": Case(head(status="2000"), BAD_GATEWAY, reset()),
    ":status 600": Case(head(status="600"), BAD_GATEWAY, reset()),
    ":status 099": Case(head(status="099"), BAD_GATEWAY, reset()),
    ":status with a sign": Case(head(status="+20"), BAD_GATEWAY, reset()),
    ":status with a blank": Case(head(status="200 "), BAD_GATEWAY, reset()),
    ":status 101": Case(head(status="101"), BAD_GATEWAY, reset()),
    "pseudo-field of requests": Case(headers(1, [*OK, (":path", "/")]), BAD_GATEWAY, reset()),
    "unknown pseudo-field": Case(headers(1, [*OK, (":x", "y")]), BAD_GATEWAY, reset()),
    "pseudo-field after a regular one": Case(headers(1, [("x-a", "b"), *OK]), BAD_GATEWAY, reset()),
    "upper case": Case(head(("X-A", "b"), end=True), BAD_GATEWAY, reset()),
    "name with a blank": Case(head(("x a", "b"), end=True), BAD_GATEWAY, reset()),
    "name with CRLF": Case(head(("x-a\r\nset-cookie", "b"), end=True), BAD_GATEWAY, reset()),
    "empty name": Case(head(("", "b"), end=True), BAD_GATEWAY, reset()),
    "value with CRLF": Case(head(("x-a", "b\r\nSet-Cookie: evil=1"), end=True), BAD_GATEWAY, reset()),
    "value with LF": Case(head(("x-a", "b\nc"), end=True), BAD_GATEWAY, reset()),
    "value with CR": Case(head(("x-a", "b\rc"), end=True), BAD_GATEWAY, reset()),
    "value with NUL": Case(head(("x-a", "b\0c"), end=True), BAD_GATEWAY, reset()),
    "value with a blank at its end": Case(head(("x-a", "b "), end=True), BAD_GATEWAY, reset()),
    "connection": Case(head(("connection", "close"), end=True), BAD_GATEWAY, reset()),
    "transfer-encoding": Case(head(("transfer-encoding", "chunked")), BAD_GATEWAY, reset()),
    "upgrade": Case(head(("upgrade", "h2c"), end=True), BAD_GATEWAY, reset()),
    "keep-alive": Case(head(("keep-alive", "timeout=5"), end=True), BAD_GATEWAY, reset()),
    "two content-lengths": Case(head(("content-length", "2"), ("content-length", "3")), BAD_GATEWAY, reset()),
    "content-length with a sign": Case(head(("content-length", "+2")), BAD_GATEWAY, reset()),
    "content-length of a list": Case(head(("content-length", "2, 2")), BAD_GATEWAY, reset()),
    "content-length over 2^63": Case(head(("content-length", str(1 << 63))), BAD_GATEWAY, reset()),
    "content-length without a body": Case(head(("content-length", "2"), end=True), BAD_GATEWAY, reset()),
    "interim response that ends the stream": Case(head(status="103", end=True), BAD_GATEWAY, reset()),
    "DATA before the head": Case(data(1, b"ok", True), BAD_GATEWAY, reset()),
    "DATA after an interim response": Case(head(status="100") + data(1, b"ok", True), BAD_GATEWAY, reset()),
    "depends on itself": Case(
        frame(h2.HEADERS, EH | ES | PRIO, 1, struct.pack(">IB", 1, 1) + h2.block_of(OK)), BAD_GATEWAY, reset()),

    # The same after the head has gone on: all that is left is to end the stream visibly.
    "body longer than content-length": Case(head(("content-length", "2")) + data(1, b"oki", True), CUT, reset()),
    "body shorter than content-length": Case(head(("content-length", "3")) + data(1, b"ok", True), CUT, reset()),
    "body to a 204": Case(head(status="204") + data(1, b"ok", True), None, reset()),
    "body to a 304": Case(head(status="304") + data(1, b"ok", True), None, reset()),
    "trailers that do not end the stream": Case(
        head() + data(1, b"ok") + headers(1, [("x-t", "1")], end_stream=False), CUT, reset()),
    "pseudo-field in trailers": Case(head() + data(1, b"ok") + headers(1, OK), CUT, reset()),
    "connection-specific trailer": Case(
        head() + data(1, b"ok") + headers(1, [("connection", "x")]), CUT, reset()),
    "trailer with CRLF": Case(
        head() + data(1, b"ok") + headers(1, [("x-t", "a\r\nb: c")]), CUT, reset()),
    "WINDOW_UPDATE by zero after the head": Case(head() + window_update(1, 0), CUT, reset()),
    "window of the stream over 2^31-1": Case(
        head() + window_update(1, 0x7FFFFFFF) * 2, CUT, reset(h2.FLOW_CONTROL_ERROR)),
    "reset after the head": Case(head() + data(1, b"ok") + rst_stream(1, h2.INTERNAL_ERROR), CUT),
    "reset before the head": Case(rst_stream(1, h2.INTERNAL_ERROR), BAD_GATEWAY),
    "reset after an interim response": Case(head(status="103") + rst_stream(1, h2.CANCEL), BAD_GATEWAY),

    # The connection can not go on (RFC 9113 §5.4.1).
    "DATA on stream 0": Case(data(0, b"x"), BAD_GATEWAY, closed()),
    "HEADERS on stream 0": Case(headers(0, OK), BAD_GATEWAY, closed()),
    "HEADERS on an idle stream": Case(headers(99, OK), BAD_GATEWAY, closed()),
    "HEADERS on an even stream": Case(headers(2, OK), BAD_GATEWAY, closed()),
    "DATA on an idle stream": Case(data(99, b"x"), BAD_GATEWAY, closed()),
    "RST_STREAM on an idle stream": Case(rst_stream(99), BAD_GATEWAY, closed()),
    "RST_STREAM on stream 0": Case(rst_stream(0), BAD_GATEWAY, closed()),
    "RST_STREAM of 5 bytes": Case(frame(h2.RST_STREAM, 0, 1, bytes(5)), BAD_GATEWAY, closed(h2.FRAME_SIZE_ERROR)),
    "WINDOW_UPDATE on an idle stream": Case(window_update(99, 1), BAD_GATEWAY, closed()),
    "WINDOW_UPDATE by zero": Case(window_update(0, 0), BAD_GATEWAY, closed()),
    "WINDOW_UPDATE of 3 bytes": Case(frame(h2.WINDOW_UPDATE, 0, 1, bytes(3)), BAD_GATEWAY, closed(h2.FRAME_SIZE_ERROR)),
    "window of the connection over 2^31-1": Case(
        window_update(0, 0x7FFFFFFF) * 2, BAD_GATEWAY, closed(h2.FLOW_CONTROL_ERROR)),
    "PUSH_PROMISE": Case(
        frame(h2.PUSH_PROMISE, EH, 1, struct.pack(">I", 2) + h2.block_of(h2.request_lines())), BAD_GATEWAY, closed()),
    "PRIORITY_UPDATE from a server": Case(
        frame(h2.PRIORITY_UPDATE, 0, 0, struct.pack(">I", 1) + b"u=1"), BAD_GATEWAY, closed()),
    "PRIORITY on stream 0": Case(frame(h2.PRIORITY, 0, 0, bytes(5)), BAD_GATEWAY, closed()),
    "SETTINGS on a stream": Case(frame(h2.SETTINGS, 0, 1), BAD_GATEWAY, closed()),
    "SETTINGS of 5 bytes": Case(frame(h2.SETTINGS, 0, 0, bytes(5)), BAD_GATEWAY, closed(h2.FRAME_SIZE_ERROR)),
    "SETTINGS ACK with a payload": Case(
        frame(h2.SETTINGS, h2.ACK, 0, bytes(6)), BAD_GATEWAY, closed(h2.FRAME_SIZE_ERROR)),
    "ENABLE_PUSH 1": Case(settings((h2.ENABLE_PUSH, 1)), BAD_GATEWAY, closed()),
    "INITIAL_WINDOW_SIZE over 2^31-1": Case(
        settings((h2.INITIAL_WINDOW_SIZE, 1 << 31)), BAD_GATEWAY, closed(h2.FLOW_CONTROL_ERROR)),
    "MAX_FRAME_SIZE below 2^14": Case(settings((h2.MAX_FRAME_SIZE, 100)), BAD_GATEWAY, closed()),
    "PING of 7 bytes": Case(frame(h2.PING, 0, 0, bytes(7)), BAD_GATEWAY, closed(h2.FRAME_SIZE_ERROR)),
    "PING on a stream": Case(frame(h2.PING, 0, 1, bytes(8)), BAD_GATEWAY, closed()),
    "GOAWAY on a stream": Case(frame(h2.GOAWAY, 0, 1, bytes(8)), BAD_GATEWAY, closed()),
    "GOAWAY of 4 bytes": Case(frame(h2.GOAWAY, 0, 0, bytes(4)), BAD_GATEWAY, closed(h2.FRAME_SIZE_ERROR)),
    "frame over 2^14": Case(frame(h2.DATA, 0, 1, bytes(16385)), BAD_GATEWAY, closed(h2.FRAME_SIZE_ERROR)),
    "CONTINUATION without HEADERS": Case(frame(h2.CONTINUATION, EH, 1, b""), BAD_GATEWAY, closed()),
    "block that is interrupted": Case(
        headers(1, OK, end_headers=False) + data(1, b"x"), BAD_GATEWAY, closed()),
    "block for another stream": Case(
        headers(1, OK, end_headers=False) + frame(h2.CONTINUATION, EH, 3, b""), BAD_GATEWAY, closed()),
    "block that can not be decoded": Case(headers(1, b"\x80"), BAD_GATEWAY, closed(h2.COMPRESSION_ERROR)),
    "padding that exceeds its frame": Case(
        head() + frame(h2.DATA, PAD, 1, b"\x09ok"), CUT, closed()),
    "HTTP/1 response": Case(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", BAD_GATEWAY, closed(h2.FRAME_SIZE_ERROR)),

    # After its end, a stream gets no more.
    "DATA after the end": Case(head() + data(1, b"ok", True) + data(1, b"more", True), GOOD, reset(h2.STREAM_CLOSED)),
    "HEADERS after the end": Case(head() + data(1, b"ok", True) + headers(1, OK), GOOD, closed(h2.STREAM_CLOSED)),
}


def script(case, results):
    """Answers /bad as the case says, and all else with its own path."""
    def handle(connection):
        origin = FrameOrigin(connection)
        try:
            while True:
                got = origin.read()
                if got.kind == h2.HEADERS and dict(got.lines)[":path"] == "/bad":
                    # Cases speak of stream 1: the proxy is on a new connection then.
                    assert got.stream == 1, got
                    results.append(origin)
                    origin.try_send(case.sent)
                elif got.ends_stream:
                    origin.respond(got.stream, body=dict(got.lines).get(":path", "?").encode())
        except ConnectionEnded:
            pass
    return handle


def told(origin):
    found = [("goaway" if got.kind == h2.GOAWAY else "reset", got.code) for got in origin.reader.seen
             if got.kind == h2.GOAWAY or (got.kind == h2.RST_STREAM and got.stream == 1)]
    return found[0] if found else None


def ask_http1(port, path):
    with RawClient(port) as client:
        try:
            answer = client.get(path)
            return str(answer.status), answer.body
        except IncompleteMessage:
            return CUT, b""


def ask_http2(port, path):
    with FrameClient(port) as client:
        client.send(h2.get(1, path))
        how, what = client.fate(1)
        body = b"".join(got.payload for got in client.reader.seen if got.kind == h2.DATA)
        return (str(what), body) if how == "response" else (CUT if how == "reset" else how, b"")


@pytest.mark.parametrize("ask", [ask_http1, ask_http2])
@pytest.mark.parametrize("name", CASES)
def test_origin_leg(shared, name, ask):
    case = CASES[name]
    results = []
    origin, proxy = shared
    origin.handler = script(case, results)
    drop_connections(origin)
    seen, body = ask(proxy.port, "/bad")
    if case.client is not None:
        assert seen == case.client
        assert body == b"ok" or case.client != GOOD
    if case.told is not None:
        wait_until(lambda: told(results[0]) is not None, "the proxy to say what is wrong")
        assert told(results[0]) == case.told
    # Whoever comes next gets an answer of his own, on this connection or on a new one.
    assert ask(proxy.port, "/next") == ("200", b"/next")
    origin.check()


def drop_connections(origin):
    """Makes the proxy open a new connection for the next request."""
    for connection in origin.connections:
        if not connection.ended.is_set():
            with contextlib.suppress(OSError):  # It may end by itself at this moment.
                connection.sock.shutdown(2)
            connection.ended.wait(10)
    origin.forget()


@pytest.fixture(scope="module")
def shared(start_shared_origin, start_shared_proxy):
    origin = start_shared_origin()
    proxy = start_shared_proxy(forward_to(origin, upstreamHttpProtocol="http2"))
    return origin, proxy
