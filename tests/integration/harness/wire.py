# SPDX-License-Identifier: MIT
"""A socket, clear or TLS, that one thread may read while another one writes."""

import select
import socket
import ssl
import threading
import time

TIMEOUT_SECONDS = 15.0
WANTS_READ = (ssl.SSLWantReadError, BlockingIOError)
WANTS_WRITE = (ssl.SSLWantWriteError,)


class Wire:
    """Looks like a blocking socket to message.Stream. OpenSSL allows one call at a time, so the
    socket does not block, calls are short, and waiting is done outside the lock."""

    def __init__(self, sock, timeout=TIMEOUT_SECONDS):
        sock.setblocking(False)
        self.sock = sock
        self.timeout = timeout
        self._lock = threading.Lock()

    def _wait(self, event, end):
        poller = select.poll()
        descriptor = self.sock.fileno()
        if descriptor < 0:
            raise ConnectionResetError("closed by ourselves")
        poller.register(descriptor, event)
        if not poller.poll(max(0, (end - time.monotonic()) * 1000)):
            raise TimeoutError

    def recv(self, size):
        end = time.monotonic() + self.timeout
        while True:
            try:
                with self._lock:
                    return self.sock.recv(size)
            except WANTS_READ:
                event = select.POLLIN
            except WANTS_WRITE:
                event = select.POLLOUT
            except ssl.SSLError as error:
                if isinstance(error, ssl.SSLEOFError):
                    raise
                raise ConnectionResetError(str(error)) from None
            except OSError as error:
                raise ConnectionResetError(str(error)) from None
            self._wait(event, end)

    def sendall(self, data):
        end = time.monotonic() + self.timeout
        view = memoryview(data).cast("B")
        while view:
            try:
                with self._lock:
                    # OpenSSL wants the same buffer again after "want write".
                    sent = self.sock.send(view[:65536])
                view = view[sent:]
                continue
            except BlockingIOError:
                event = select.POLLOUT
            except WANTS_WRITE:
                event = select.POLLOUT
            except WANTS_READ:
                event = select.POLLIN
            except OSError as error:
                raise BrokenPipeError(str(error)) from None
            self._wait(event, end)

    def shutdown(self, how=socket.SHUT_RDWR):
        try:
            self.sock.shutdown(how)
        except (OSError, ValueError):
            pass  # Ended already.

    def close(self):
        self.shutdown()
        self.sock.close()


def connect(port, tls=None, server_name="localhost", timeout=TIMEOUT_SECONDS):
    sock = socket.create_connection(("127.0.0.1", port), timeout)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if tls is not None:
        sock = tls.wrap_socket(sock, server_hostname=server_name, suppress_ragged_eofs=False)
    return Wire(sock, timeout)
