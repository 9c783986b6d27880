# SPDX-License-Identifier: MIT
"""A client that sends exactly the bytes it is told to, and reads strictly."""

import socket
import ssl
import struct

from .message import (ConnectionEnded, Stream, read_response,
                      read_response_head)

TIMEOUT_SECONDS = 15.0


def reset_on_close(sock):
    """close() then sends RST instead of FIN and drops what is unsent."""
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


class RawClient:
    """One connection. Use as a context manager."""

    def __init__(self, port, *, host="127.0.0.1", receive_buffer=None, timeout=TIMEOUT_SECONDS,
                 tls=None, server_name="localhost", session=None):
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self.tcp = socket.socket(family, socket.SOCK_STREAM)
        if receive_buffer:
            # Before connect(), as it limits the window that is offered in the handshake.
            self.tcp.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.tcp.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.tcp.settimeout(timeout)
        self.sock = self.tcp
        try:
            self.tcp.connect((host, port))
            if tls is not None:
                self.sock = tls.wrap_socket(self.tcp, server_hostname=server_name, session=session,
                                            suppress_ragged_eofs=False)
        except BaseException:
            self.tcp.close()
            raise
        self.stream = Stream(self.sock)
        self.local_port = self.sock.getsockname()[1]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def send(self, data):
        self.sock.sendall(data if isinstance(data, (bytes, bytearray, memoryview)) else data.encode())

    def try_send(self, data):
        """Sends what the peer may have stopped listening to. True if the kernel took it all."""
        try:
            self.send(data)
            return True
        except (ConnectionError, ssl.SSLError):
            return False

    def send_pieces(self, data, size=1):
        """Each piece in a segment of its own (TCP_NODELAY is on)."""
        for begin in range(0, len(data), size):
            self.send(data[begin:begin + size])

    def read_exact(self, size):
        return self.stream.read_exact(size)

    def read_head(self):
        return read_response_head(self.stream)

    def read_response(self, method="GET"):
        return read_response(self.stream, method)

    def read_to_end(self):
        return self.stream.read_to_end()

    def request(self, data, method=None):
        """Sends one request and reads its response."""
        data = data if isinstance(data, bytes) else data.encode()
        self.send(data)
        return self.read_response(method or data.split(b" ", 1)[0].decode())

    def get(self, target="/", host="localhost", fields=""):
        return self.request(f"GET {target} HTTP/1.1\r\nHost: {host}\r\n{fields}\r\n")

    def expect_closed(self):
        """The peer has to end the connection without another byte. Returns how."""
        rest, how = self.read_to_end()
        assert rest == b"", f"bytes after the end: {rest[:300]!r}"
        return how

    def is_open(self):
        """True if the peer has not ended the connection so far, and sent nothing unread."""
        self.sock.settimeout(0.05)
        try:
            self.stream.buffer += self.stream._receive()
            raise AssertionError(f"unexpected bytes {bytes(self.stream.buffer)[:300]!r}")
        except ConnectionEnded:
            return False
        except AssertionError as error:
            if "nothing received" not in str(error):
                raise
            return True
        finally:
            self.sock.settimeout(TIMEOUT_SECONDS)

    def half_close(self):
        self.sock.shutdown(socket.SHUT_WR)

    def close_notify(self):
        """TLS only: says that no more data follows and waits for the same from the peer."""
        return self.sock.unwrap()

    def abandon(self):
        """Ends both directions, which wakes a thread that still sends."""
        try:
            self.tcp.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass  # Ended already.

    def reset(self):
        reset_on_close(self.sock)
        self.sock.close()

    def close(self):
        self.sock.close()
        self.tcp.close()


def client_context(ca_path=None, *, alpn=("http/1.1",), version=None, certificate=None):
    """A verifying TLS context (or one that accepts everything, without ca_path)."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    if ca_path is None:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    else:
        context.load_verify_locations(ca_path)
    if certificate is not None:
        context.load_cert_chain(*certificate)
    if alpn:
        context.set_alpn_protocols(list(alpn))
    if version is not None:
        context.minimum_version = context.maximum_version = version
    return context


def simple_get(port, target="/", **options):
    """One GET over a connection of its own."""
    fields = options.pop("fields", "")
    host = options.pop("host_field", "localhost")
    with RawClient(port, **options) as client:
        return client.get(target, host, fields)
