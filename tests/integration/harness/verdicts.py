# SPDX-License-Identifier: MIT
"""What has to come of frames that were sent: for tables of cases against the client leg.

A FrameClient with a short time-out makes "in time" part of each verdict.
"""

from . import frames as h2
from .message import ConnectionEnded


def fate(client, stream=None):
    """How the proxy took what was sent, as ("goaway", code), ("reset", code), ("response", status)
    of the stream, or ("fin" or "reset by TCP", None) for a connection that ended without a word.
    A GOAWAY or RST_STREAM without an error is not the end of the story."""
    status = None
    try:
        while True:
            got = client.read()
            if got.kind == h2.GOAWAY and got.code != h2.NO_ERROR:
                return "goaway", got.code
            if stream is None or got.stream != stream:
                continue
            if got.kind == h2.RST_STREAM and got.code != h2.NO_ERROR:
                return "reset", got.code
            if got.kind == h2.HEADERS and status is None and got.status >= 200:
                status = got.status
            if got.ends_stream:
                return "response", status
    except ConnectionEnded as ended:
        return "fin" if ended.how == "fin" else "reset by TCP", None


def check_usable(client):
    client.ping(b"still-up")


def check_fin(client):
    """No word more, and an orderly end: a reset could take the GOAWAY away from its reader."""
    left, how = client.read_to_end()
    assert not left, left
    assert how == "fin", how


class Response:
    """The stream is answered, and the connection goes on."""

    def __init__(self, stream=1, status=200):
        self.stream, self.status = stream, status

    def check(self, client):
        assert fate(client, self.stream) == ("response", self.status)
        check_usable(client)


class StreamFails:
    """RST_STREAM of stream 1 with one of these codes, and the connection goes on. With `also`, a
    connection error of that code is as good: which one it is depends on how far the answer is."""

    def __init__(self, *codes, also=None):
        self.codes, self.also = codes, also

    def check(self, client):
        how, code = fate(client, 1)
        while (how, code) == ("response", 200):  # The answer was faster than the fault.
            how, code = fate(client, 1)
        if how == "goaway" and code == self.also:
            return check_fin(client)
        assert how == "reset" and code in self.codes, (how, code)
        return check_usable(client)


class ConnectionFails:
    """GOAWAY with one of these codes, and the end of the connection."""

    def __init__(self, *codes):
        self.codes = codes

    def check(self, client):
        how, code = fate(client)
        assert how == "goaway" and code in self.codes, (how, code)
        check_fin(client)


class Usable:
    """Nothing comes of it: the connection answers a PING with its payload."""

    def __init__(self, payload=bytes(8)):
        self.payload = payload

    def check(self, client):
        client.send(h2.frame(h2.PING, 0, 0, self.payload))
        got = client.wait_kind(h2.PING)
        assert (got.flags, got.stream, got.payload) == (h2.ACK, 0, self.payload), got


class Gets:
    """The next frame of this kind is like that."""

    def __init__(self, kind, **expected):
        self.kind, self.expected = kind, expected

    def check(self, client):
        got = client.wait_kind(self.kind)
        assert {name: getattr(got, name) for name in self.expected} == self.expected, got
