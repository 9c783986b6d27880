# SPDX-License-Identifier: MIT
"""TLS on both legs: versions, names, resumption, verification of origins, and exact ends."""

import base64
import hashlib
import pathlib
import re
import socket
import ssl
import subprocess
import threading

import pytest
from harness.message import IncompleteMessage
from harness.origin import ScriptedOrigin, chunked_response, echo, replying, response, server_context
from harness.proxy import StartFailed, destination, forward_to, merged, to_cluster
from harness.raw import RawClient, client_context, simple_get
from harness.wait import is_full_scale, wait_until

TLS12, TLS13 = ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3


def der_of(certificate_path):
    text = pathlib.Path(certificate_path).read_text(encoding="ascii")
    body = re.search("-----BEGIN CERTIFICATE-----(.*?)-----END", text, re.DOTALL)[1]
    return base64.b64decode(body)


def with_tls_origin(origin, tls=None, *, server=None, destination_keys=None, **listener_keys):
    keys = {"address": "localhost", "useHttps": True} | (destination_keys or {})
    return to_cluster([destination(origin, **keys)], cluster_keys={} if tls is None else {"tls": tls},
                      server=server, **listener_keys)


@pytest.fixture(scope="module")
def shared(start_shared_proxy, start_shared_origin, localhost_pair, authority):
    """A clear and a TLS listener in front of a clear echo."""
    origin = start_shared_origin(replying(echo))
    other = authority.leaf("other.example", "*.wild.example")
    config = forward_to(origin, tls_pair=localhost_pair)
    config["certificates"]["additional"] = [{"certificatePath": other.certificate, "privateKeyPath": other.key}]
    proxy = start_shared_proxy(config)
    proxy.other = other
    return proxy, origin


@pytest.fixture
def terminating(shared):
    proxy, origin = shared
    origin.forget()
    return proxy, origin


@pytest.fixture
def trusting(authority):
    return client_context(authority.certificate)


# Client leg -----------------------------------------------------------------------------------

def test_a_tls_client_counts_once_against_the_limit(start_proxy, start_origin, localhost_pair):
    """A handshake becomes a session: the connection stays one, and is gone when it is gone."""
    origin = start_origin(replying(echo))
    config = forward_to(origin, tls_pair=localhost_pair, server={"pooling": {"maxConcurrentClientConnections": 2}})
    proxy = start_proxy(config)

    def served():
        """A client that got an answer, or None: the proxy may not have noticed yet that others left."""
        try:
            client = RawClient(proxy.tls_port, tls=client_context())
        except OSError:
            return None
        if client.get().status == 200:
            return client
        client.close()
        return None

    for _ in range(6):
        wait_until(served, "room for one client").close()
    with wait_until(served, "room for a client"), wait_until(served, "room for a second"):
        with pytest.raises(OSError):
            RawClient(proxy.tls_port, tls=client_context())


@pytest.mark.parametrize("version, name", [(TLS12, "TLSv1.2"), (TLS13, "TLSv1.3")])
def test_both_tls_versions_are_served(terminating, authority, version, name):
    proxy, _ = terminating
    with RawClient(proxy.tls_port, tls=client_context(authority.certificate, version=version)) as client:
        assert client.sock.version() == name
        assert client.request(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi").body == b"hi"
        assert client.get().status == 200


@pytest.mark.parametrize("allowed, refused", [("Tls12", TLS13), ("Tls13", TLS12)])
def test_a_version_that_is_switched_off_is_refused(start_proxy, origin, localhost_pair, allowed, refused):
    proxy = start_proxy(forward_to(origin, tls_pair=localhost_pair, server={"tls": {"supportedSslProtocols": [allowed]}}))
    with pytest.raises((ssl.SSLError, ConnectionError)):
        RawClient(proxy.tls_port, tls=client_context(version=refused))
    assert simple_get(proxy.tls_port, tls=client_context()).status == 200


@pytest.mark.parametrize("flag", ["-tls1", "-tls1_1"])
def test_old_versions_are_refused(terminating, flag):
    proxy, _ = terminating
    done = subprocess.run(["openssl", "s_client", "-connect", f"127.0.0.1:{proxy.tls_port}", flag, "-cipher", "ALL:@SECLEVEL=0"],
                          input=b"", capture_output=True, timeout=20, check=False)
    assert done.returncode != 0


def test_the_hybrid_post_quantum_group_is_offered(terminating):
    proxy, _ = terminating
    done = subprocess.run(["openssl", "s_client", "-connect", f"127.0.0.1:{proxy.tls_port}", "-groups", "X25519MLKEM768"],
                          input="", capture_output=True, text=True, timeout=20, check=False)
    if "unknown group" in done.stderr.lower() or "Cannot set groups" in done.stderr.replace("'", ""):
        pytest.skip("this openssl command does not know the group")
    assert "X25519MLKEM768" in done.stdout, done.stdout[-1500:] + done.stderr


@pytest.mark.parametrize("name, index", [
    ("localhost", 0), ("other.example", 1), ("OTHER.example", 1), ("a.wild.example", 1),
    ("unknown.example", 0), ("a.b.wild.example", 0), ("wild.example", 0), (None, 0),
])
def test_the_name_of_the_client_selects_the_certificate(terminating, localhost_pair, name, index):
    proxy, _ = terminating
    expected = [localhost_pair, proxy.other][index]
    with RawClient(proxy.tls_port, tls=client_context(), server_name=name) as client:
        assert client.sock.getpeercert(binary_form=True) == der_of(expected.certificate)
        assert client.get().status == 200


@pytest.mark.parametrize("offered, selected", [
    (["http/1.1"], "http/1.1"), (["h2", "http/1.1"], "h2"), (["http/1.1", "h2"], "h2"),
    (["foo", "http/1.1"], "http/1.1"), ([], None),
])
def test_alpn_prefers_http2(terminating, offered, selected):
    proxy, _ = terminating
    with RawClient(proxy.tls_port, tls=client_context(alpn=offered)) as client:
        assert client.sock.selected_alpn_protocol() == selected
        if selected != "h2":
            assert client.get().status == 200


def test_alpn_without_anything_in_common_selects_nothing(terminating):
    proxy, _ = terminating
    try:
        with RawClient(proxy.tls_port, tls=client_context(alpn=["foo"])) as client:
            assert client.sock.selected_alpn_protocol() is None
    except (ssl.SSLError, ConnectionError):
        pass  # A fatal alert, as RFC 7301 §3.2 asks for.


@pytest.mark.parametrize("version", [TLS12, TLS13])
@pytest.mark.parametrize("workers", [1, 3])
def test_a_session_is_resumed_on_whichever_worker(start_proxy, origin, localhost_pair, version, workers):
    proxy = start_proxy(forward_to(origin, tls_pair=localhost_pair,
                                   server={"pooling": {"threadPoolWorkerThread": workers}}))
    context = client_context(version=version)
    with RawClient(proxy.tls_port, tls=context) as client:
        client.get()  # TLS 1.3 sends tickets after the handshake.
        assert not client.sock.session_reused
        session = client.sock.session
    for _ in range(6):
        with RawClient(proxy.tls_port, tls=context, session=session) as client:
            assert client.sock.session_reused
            assert client.get().status == 200
            session = client.sock.session


def test_a_response_that_closes_ends_with_close_notify(terminating, trusting):
    proxy, _ = terminating
    with RawClient(proxy.tls_port, tls=trusting) as client:
        client.get(fields="Connection: close\r\n")
        assert client.expect_closed() == "fin", "the end was not authenticated"


def test_an_idle_connection_ends_with_close_notify(start_proxy, origin, localhost_pair, trusting):
    proxy = start_proxy(forward_to(origin, tls_pair=localhost_pair, server={"timeouts": {"connectionTimeOutSeconds": 0.4}}))
    with RawClient(proxy.tls_port, tls=trusting) as client:
        client.get()
        assert client.expect_closed() == "fin"


def test_close_notify_of_the_client_is_answered(terminating, trusting):
    proxy, _ = terminating
    with RawClient(proxy.tls_port, tls=trusting) as client:
        client.get()
        client.close_notify()  # Raises if the connection ends without the peer's close_notify.


def test_close_notify_right_behind_a_request_does_not_lose_the_answer(start_proxy, start_origin, localhost_pair):
    """RFC 8446 §6.1: the other direction stays open."""
    go = threading.Event()

    def handle(connection):
        connection.read_request()
        connection.wait(go)
        connection.send(response(b"late"))
        connection.read_to_end()
    origin = start_origin(handle)
    proxy = start_proxy(forward_to(origin, tls_pair=localhost_pair))
    with MemoryTls(proxy.tls_port, client_context(version=TLS13)) as client:
        client.write(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        client.send_close_notify()
        wait_until(lambda: origin.requests, "the request at the origin")
        go.set()
        assert client.read_to_end().endswith(b"late")


class MemoryTls:
    """TLS without the socket, so that one direction can be closed and bytes be held back."""

    def __init__(self, port, context):
        self.incoming, self.outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.tls = context.wrap_bio(self.incoming, self.outgoing, server_hostname="localhost")
        self.tcp = socket.create_connection(("127.0.0.1", port), 15)
        self._drive(self.tls.do_handshake)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.tcp.close()

    def _flush(self):
        if data := self.outgoing.read():
            self.tcp.sendall(data)

    def _drive(self, step):
        while True:
            try:
                result = step()
                self._flush()
                return result
            except ssl.SSLWantReadError:
                self._flush()
                data = self.tcp.recv(65536)
                if data:
                    self.incoming.write(data)
                else:
                    self.incoming.write_eof()

    def write(self, data):
        self.tls.write(data)
        self._flush()

    def send_close_notify(self):
        try:
            self.tls.unwrap()
        except ssl.SSLWantReadError:
            pass
        self._flush()

    def read_to_end(self):
        """Application data until close_notify; after ours, OpenSSL only reads through unwrap()."""
        pieces = []
        while True:
            try:
                data = self._drive(lambda: self.tls.read(65536))
            except (ssl.SSLZeroReturnError, ssl.SSLEOFError):
                return b"".join(pieces)
            if not data:
                return b"".join(pieces)
            pieces.append(data)


def test_records_in_single_bytes_are_understood(terminating):
    proxy, _ = terminating
    with MemoryTls(proxy.tls_port, client_context()) as client:
        client.tls.write(b"POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello")
        client.tcp.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for byte in client.outgoing.read():
            client.tcp.sendall(bytes([byte]))
        assert client.read_to_end().endswith(b"hello")


def test_an_unfinished_handshake_holds_up_nobody(terminating, trusting):
    proxy, _ = terminating
    idle = [socket.create_connection(("127.0.0.1", proxy.tls_port)) for _ in range(20)]
    hello = ssl.MemoryBIO()
    tls = client_context().wrap_bio(ssl.MemoryBIO(), hello, server_hostname="localhost")
    with pytest.raises(ssl.SSLWantReadError):
        tls.do_handshake()
    half = hello.read()[:100]
    try:
        for sock in idle:
            sock.sendall(half)
        assert simple_get(proxy.tls_port, tls=trusting).status == 200
    finally:
        for sock in idle:
            sock.close()


@pytest.mark.skipif(not is_full_scale(), reason="takes the 10 s of the handshake")
def test_a_handshake_has_to_be_done_in_time(start_proxy, origin, localhost_pair):
    proxy = start_proxy(forward_to(origin, tls_pair=localhost_pair, server={"timeouts": {"clientHeaderTimeoutSeconds": 0.4}}))
    with RawClient(proxy.tls_port) as client:
        client.send(b"\x16\x03\x01")
        client.read_to_end()  # An alert may come; then the end.


@pytest.mark.parametrize("text", [
    b"GET / HTTP/1.1\r\nHost: a\r\n\r\n", b"\x00" * 100, b"\x16\x03\x01\xff\xff" + b"\x41" * 200, b"\x15\x03\x01\x00\x02\x02\x00", b"",
], ids=["clear HTTP", "zeros", "over-long record", "alert", "nothing"])
def test_what_is_not_tls_is_refused(terminating, trusting, text):
    proxy, origin = terminating
    with RawClient(proxy.tls_port) as client:
        client.try_send(text)
        client.half_close()
        data, _ = client.read_to_end()
    # An alert, nothing, or a clear 400 that tells a human what is wrong.
    assert data == b"" or data[0] == 0x15 or data.startswith(b"HTTP/1.1 400 ")
    assert origin.heads == []
    assert simple_get(proxy.tls_port, tls=trusting).status == 200


def test_a_client_that_is_cut_off_never_completes_a_request(terminating, trusting):
    """A FIN without close_notify in the middle of a body."""
    proxy, origin = terminating
    with RawClient(proxy.tls_port, tls=trusting) as client:
        client.send(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nhalf")
        wait_until(lambda: origin.heads, "the head at the origin")
    assert origin.heads[0].link.ended.wait(10), "the origin waits for the rest"
    assert origin.requests == []


@pytest.mark.parametrize("size", [1, 16_384, 16_385, 5_000_000])
@pytest.mark.parametrize("version", [TLS12, TLS13])
def test_bodies_pass_unharmed_through_tls(terminating, size, version):
    proxy, _ = terminating
    body = hashlib.shake_128(str(size).encode()).digest(size)
    with RawClient(proxy.tls_port, tls=client_context(version=version)) as client:
        client.sock.settimeout(30)
        sender = threading.Thread(target=client.send, daemon=True,
                                  args=(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n" % size + body,))
        sender.start()
        sender.join(30)
        assert client.read_response("POST").body == body


def test_a_slow_tls_reader_stops_the_origin(start_proxy, start_origin, localhost_pair):
    sent = [0]

    def handle(connection):
        connection.read_request()
        connection.sock.settimeout(1)
        connection.send(b"HTTP/1.1 200 OK\r\n\r\n")
        try:
            while sent[0] < 192 << 20:
                connection.send(bytes(65536))
                sent[0] += 65536
        except TimeoutError:
            pass
    origin = start_origin(handle)
    proxy = start_proxy(forward_to(origin, tls_pair=localhost_pair))
    with RawClient(proxy.tls_port, tls=client_context(), receive_buffer=65536) as client:
        before = proxy.rss_bytes
        client.send(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        client.read_head()
        origin.connections[0].ended.wait(30)
        assert sent[0] < 48 << 20
        assert proxy.rss_bytes - before < 16 << 20


def test_key_material_is_logged_where_the_configuration_says(start_proxy, start_origin, localhost_pair, tmp_path):
    origin = start_origin(tls=server_context(localhost_pair))
    log = tmp_path / "keys.log"
    config = with_tls_origin(origin, {"ignoreServerCertificateErrors": True}, decryptSsl=True,
                             server={"tls": {"keyLogPath": str(log)}})
    config["certificates"] = {"certificatePath": localhost_pair.certificate, "privateKeyPath": localhost_pair.key}
    proxy = start_proxy(config)
    assert simple_get(proxy.tls_port, tls=client_context(version=TLS13)).status == 200
    lines = wait_until(lambda: log.exists() and log.read_text(encoding="ascii").splitlines(), "the key log")
    assert all(re.fullmatch(r"[A-Z_0-9]+ [0-9a-f]{64} [0-9a-f]+", line) for line in lines if not line.startswith("#"))
    randoms = {line.split()[1] for line in lines if line.startswith("CLIENT_TRAFFIC_SECRET_0")}
    assert len(randoms) == 2, "both legs"
    assert log.stat().st_mode & 0o077 == 0, "key material is nobody else's business"


def test_sslkeylogfile_is_honoured(start_proxy, origin, localhost_pair, tmp_path):
    log = tmp_path / "keys.log"
    proxy = start_proxy(forward_to(origin, tls_pair=localhost_pair), env={"SSLKEYLOGFILE": str(log)})
    simple_get(proxy.tls_port, tls=client_context())
    wait_until(lambda: log.exists() and "CLIENT_TRAFFIC_SECRET_0" in log.read_text(encoding="ascii"), "the key log")


def test_a_pkcs12_file_with_a_password_from_the_environment(start_proxy, origin, localhost_pair, tmp_path, trusting):
    bundle = tmp_path / "pair.p12"
    subprocess.run(["openssl", "pkcs12", "-export", "-in", localhost_pair.certificate, "-inkey", localhost_pair.key,
                    "-out", str(bundle), "-passout", "pass:secret"], check=True, capture_output=True)
    config = forward_to(origin, tls_pair=localhost_pair)
    config["certificates"] = {"certificatePath": str(bundle)}
    proxy = start_proxy(config, env={"TITANIUM_CERT_PASSWORD": "secret"})
    assert simple_get(proxy.tls_port, tls=trusting).status == 200
    with pytest.raises(StartFailed) as caught:
        start_proxy(config, env={"TITANIUM_CERT_PASSWORD": "wrong"})
    assert caught.value.code == 1


def test_a_key_that_does_not_belong_to_the_certificate_is_reported(start_proxy, origin, authority, localhost_pair):
    config = forward_to(origin, tls_pair=localhost_pair)
    config["certificates"]["privateKeyPath"] = authority.leaf("stranger.example").key
    with pytest.raises(StartFailed) as caught:
        start_proxy(config)
    assert caught.value.code == 1
    assert "key" in caught.value.errors.lower()


# Origin leg -----------------------------------------------------------------------------------

def test_an_origin_is_verified_against_the_cas_of_its_cluster(start_proxy, start_origin, authority, localhost_pair):
    origin = start_origin(replying(echo), tls=server_context(localhost_pair))
    proxy = start_proxy(with_tls_origin(origin, {"caPath": authority.certificate}))
    with RawClient(proxy.port) as client:
        for index in range(3):
            body = b"%d" % index
            assert client.request(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\n" + body).body == body
    assert len(origin.connections) == 1, "TLS connections are pooled, too"


BAD_ORIGINS = {
    "unknown CA": lambda good, bad: (good, bad.leaf("localhost")),
    "another name": lambda good, bad: (good, good.leaf("elsewhere.example")),
    "expired": lambda good, bad: (good, good.leaf("localhost", days=-1)),
}


@pytest.mark.parametrize("name", BAD_ORIGINS)
def test_an_origin_with_a_bad_certificate_is_refused(start_proxy, start_origin, authority, other_authority, name):
    trusted, pair = BAD_ORIGINS[name](authority, other_authority)
    origin = start_origin(tls=server_context(pair))
    proxy = start_proxy(with_tls_origin(origin, {"caPath": trusted.certificate}))
    answer = simple_get(proxy.port)
    assert answer.status == 502
    assert "error=tls_certificate_error" in answer.fields.only("Proxy-Status")
    assert origin.requests == []
    ignoring = start_proxy(with_tls_origin(origin, {"caPath": trusted.certificate, "ignoreServerCertificateErrors": True}))
    assert simple_get(ignoring.port).status == 200


def test_without_a_configured_ca_the_system_store_decides(start_proxy, start_origin, localhost_pair):
    origin = start_origin(tls=server_context(localhost_pair))
    assert simple_get(start_proxy(with_tls_origin(origin)).port).status == 502
    assert origin.requests == []


def test_an_origin_without_tls_is_reported(start_proxy, start_origin):
    origin = start_origin(lambda connection: (connection.stream.read_some(), connection.send(b"HTTP/1.1 400 Bad Request\r\n\r\n")))
    answer = simple_get(start_proxy(with_tls_origin(origin, {"ignoreServerCertificateErrors": True})).port)
    assert answer.status == 502
    assert "tls" in answer.fields.only("Proxy-Status")


@pytest.mark.parametrize("address, server_name, expected", [
    ("localhost", None, "localhost"), ("127.0.0.1", "named.example", "named.example"), ("127.0.0.1", None, None),
])
def test_the_server_name_that_the_origin_sees(start_proxy, start_origin, authority, address, server_name, expected):
    seen = []
    tls = server_context(authority.leaf("localhost", "named.example", "127.0.0.1"))
    tls.sni_callback = lambda sock, name, context: seen.append(name)
    origin = start_origin(tls=tls)
    keys = {"caPath": authority.certificate} | ({"serverName": server_name} if server_name else {})
    proxy = start_proxy(with_tls_origin(origin, keys, destination_keys={"address": address}))
    assert simple_get(proxy.port, host_field="public.example").status == 200
    assert seen == [expected]


def test_the_server_name_is_what_is_verified(start_proxy, start_origin, authority):
    origin = start_origin(tls=server_context(authority.leaf("named.example")))
    for name, status in (("named.example", 200), ("other.example", 502)):
        proxy = start_proxy(with_tls_origin(origin, {"caPath": authority.certificate, "serverName": name}))
        assert simple_get(proxy.port).status == status


def test_a_client_certificate_is_shown_to_the_origin(start_proxy, start_origin, authority, localhost_pair):
    names = []

    def handle(connection):
        for _ in connection.requests_until_end():
            names.append(connection.sock.getpeercert()["subject"][0][0][1])
            connection.send(response())
    origin = start_origin(handle, tls=server_context(localhost_pair, client_ca=authority.certificate))
    mine = authority.leaf("proxy.example")
    tls = {"caPath": authority.certificate, "clientCertificatePath": mine.certificate, "clientPrivateKeyPath": mine.key}
    assert simple_get(start_proxy(with_tls_origin(origin, tls)).port).status == 200
    assert names == ["proxy.example"]
    without = start_proxy(with_tls_origin(origin, {"caPath": authority.certificate}))
    assert simple_get(without.port).status == 502


@pytest.mark.parametrize("version", [TLS12, TLS13])
def test_sessions_with_an_origin_are_resumed(start_proxy, start_origin, authority, localhost_pair, version):
    reused = []

    def handle(connection):
        for _ in connection.requests_until_end():
            reused.append(connection.sock.session_reused)
            connection.send(response())
    origin = start_origin(handle, tls=server_context(localhost_pair, version=version))
    proxy = start_proxy(with_tls_origin(origin, {"caPath": authority.certificate},
                                        server={"pooling": {"enableConnectionPool": False}}))
    with RawClient(proxy.port) as client:
        for _ in range(4):
            assert client.get().status == 200
    assert reused[0] is False
    assert any(reused[1:]), reused


# Exact ends -----------------------------------------------------------------------------------

def truncated_origin(start_origin, pair, text, *, notify=False):
    """Sends `text` and ends; without close_notify unless asked for."""
    def handle(connection):
        if connection.read_request() is not None:
            connection.send(text)
            if notify:
                connection.sock.unwrap()
    return start_origin(handle, tls=server_context(pair))


CLOSE_DELIMITED = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nthe first half"


@pytest.mark.parametrize("client_tls", [False, True], ids=["clear client", "TLS client"])
@pytest.mark.parametrize("version", ["HTTP/1.1", "HTTP/1.0"])
@pytest.mark.parametrize("notify", [False, True], ids=["truncated", "complete"])
def test_only_close_notify_completes_a_close_delimited_answer(start_proxy, start_origin, localhost_pair, client_tls, version, notify):
    origin = truncated_origin(start_origin, localhost_pair, CLOSE_DELIMITED, notify=notify)
    config = with_tls_origin(origin, {"ignoreServerCertificateErrors": True})
    config = merged(config, {"certificates": {"certificatePath": localhost_pair.certificate, "privateKeyPath": localhost_pair.key}})
    config["listeners"].append(config["listeners"][0] | {"decryptSsl": True})
    proxy = start_proxy(config)
    port = proxy.tls_port if client_tls else proxy.port
    with RawClient(port, tls=client_context() if client_tls else None) as client:
        client.send(f"GET / {version}\r\nHost: a\r\n\r\n")
        if notify:
            assert client.read_response().body == b"the first half"
        else:
            with pytest.raises(IncompleteMessage):
                client.read_response()


@pytest.mark.parametrize("text", [
    b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n",
])
def test_a_truncated_answer_with_framing_is_incomplete(start_proxy, start_origin, localhost_pair, text):
    origin = truncated_origin(start_origin, localhost_pair, text)
    proxy = start_proxy(with_tls_origin(origin, {"ignoreServerCertificateErrors": True}))
    with pytest.raises(IncompleteMessage):
        simple_get(proxy.port)


@pytest.mark.parametrize("text", [response(b"whole"), chunked_response([b"whole"])], ids=["sized", "chunked"])
def test_a_missing_close_notify_behind_a_complete_answer_does_no_harm(start_proxy, start_origin, localhost_pair, text):
    origin = truncated_origin(start_origin, localhost_pair, text)
    proxy = start_proxy(with_tls_origin(origin, {"ignoreServerCertificateErrors": True}))
    with RawClient(proxy.port) as client:
        for _ in range(3):
            assert client.get().body == b"whole"
    assert len(origin.connections) == 3


def test_an_origin_that_breaks_off_the_handshake_means_502(start_proxy, start_origin):
    origin = start_origin(lambda connection: connection.reset())
    answer = simple_get(start_proxy(with_tls_origin(origin, {"ignoreServerCertificateErrors": True})).port)
    assert answer.status == 502


def test_a_handshake_with_an_origin_counts_as_connecting(start_proxy, start_origin):
    origin = start_origin(lambda connection: connection.read_to_end())
    proxy = start_proxy(with_tls_origin(origin, {"ignoreServerCertificateErrors": True},
                                        server={"timeouts": {"connectTimeOutSeconds": 0.4}}))
    assert simple_get(proxy.port).status == 504


def test_an_origin_connection_ends_with_close_notify(start_proxy, localhost_pair):
    """An idle origin connection that expires is closed in an orderly way."""
    ends = []

    def handle(connection):
        connection.read_request()
        connection.send(response())
        ends.append(connection.read_to_end())
    with ScriptedOrigin(handle, tls=server_context(localhost_pair)) as origin:
        proxy = start_proxy(with_tls_origin(origin, {"ignoreServerCertificateErrors": True},
                                            server={"timeouts": {"connectionTimeOutSeconds": 0.4}}))
        assert simple_get(proxy.port).status == 200
        wait_until(lambda: ends, "the end of the idle connection")
    assert ends == [(b"", "fin")]
