# SPDX-License-Identifier: MIT
"""`titanium run` without a file: the embedded default with its demo origin, as a new user meets it."""

import asyncio
import json
import ssl
import stat
import subprocess

import pytest
from harness.raw import RawClient, client_context, simple_get
from harness.wait import free_port
from websockets.asyncio.client import connect


@pytest.fixture(scope="module")
def demo(start_shared_proxy):
    return start_shared_proxy(arguments=["--port", "0", "--tls-port", "0"])


@pytest.fixture(params=["clear", "tls"])
def client(request, demo):
    secure = request.param == "tls"
    with RawClient(demo.tls_port if secure else demo.port, tls=client_context() if secure else None) as made:
        yield made


def curl_lines(proxy):
    return [line.strip().removeprefix("$ ") for line in proxy.lines if line.strip().removeprefix("$ ").startswith("curl ")]


def test_it_says_what_listens_and_three_commands_to_try(demo):
    assert [scheme for scheme, _ in demo.endpoints] == ["http", "https"]
    assert len(curl_lines(demo)) == 3


@pytest.mark.parametrize("index", range(3))
def test_the_printed_commands_work_when_pasted(demo, index):
    done = subprocess.run(["sh", "-c", curl_lines(demo)[index]], capture_output=True, text=True, timeout=30,
                          env=demo.environment, cwd="/", check=False)
    assert done.returncode == 0, (curl_lines(demo)[index], done.stderr)
    assert done.stdout


def test_the_root_is_a_small_json(client):
    answer = client.get("/")
    assert answer.status == 200
    assert answer.fields.only("Content-Type").startswith("application/json")
    assert json.loads(answer.body)
    assert len(answer.body) < 2000


@pytest.mark.parametrize("size", [0, 1, 1000, 100_000])
def test_echo_sends_the_body_back(client, size):
    body = bytes(index % 256 for index in range(size))
    head = b"POST /echo HTTP/1.1\r\nHost: a\r\nContent-Type: application/x-test\r\nContent-Length: %d\r\n\r\n" % size
    answer = client.request(head + body)
    assert (answer.status, answer.body) == (200, body)


def test_echo_of_a_chunked_body(client):
    answer = client.request(b"POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n")
    assert answer.body == b"abcde"


@pytest.mark.parametrize("size", [0, 1, 56, 65_536, 1_000_000])
def test_bytes_has_the_size_that_was_asked_for(client, size):
    answer = client.get(f"/bytes/{size}")
    assert (answer.status, len(answer.body)) == (200, size)
    assert answer.fields.only("Content-Length") == str(size)


@pytest.mark.parametrize("size", ["x", "-1", "", "99999999999999999999999"])
def test_bytes_refuses_what_is_not_a_size(client, size):
    assert client.get(f"/bytes/{size}").status in (400, 404)


def test_slow_answers_in_the_end(client):
    assert client.get("/slow").status == 200


def test_chunked_has_several_chunks(client):
    answer = client.get("/chunked")
    assert answer.framing == "chunked"
    assert len(answer.chunks) > 1


def test_events_is_a_stream_of_server_sent_events(client):
    client.send("GET /events HTTP/1.1\r\nHost: a\r\n\r\n")
    head = client.read_head()
    assert head.fields.only("Content-Type").startswith("text/event-stream")
    for _ in range(2):
        assert b"data:" in client.stream.read_until(b"\n\n")


def test_head_has_the_length_of_get(client):
    assert client.request("HEAD /bytes/123 HTTP/1.1\r\nHost: a\r\n\r\n").fields.only("Content-Length") == "123"
    assert client.get("/").status == 200


def test_an_unknown_path_is_404(client):
    assert client.get("/no/such/thing").status == 404
    assert client.get("/").status == 200


@pytest.mark.parametrize("secure", [False, True], ids=["clear", "TLS"])
def test_ws_sends_messages_back(demo, secure):
    async def talk():
        url = f"wss://localhost:{demo.tls_port}/ws" if secure else f"ws://127.0.0.1:{demo.port}/ws"
        async with connect(url, proxy=None, ssl=client_context() if secure else None, max_size=None) as socket:
            for message in ("hello", b"\x00\x01", "x" * 200, b"y" * 70_000, ""):
                await socket.send(message)
                assert await socket.recv() == message
            await (await socket.ping(b"?"))
        assert socket.close_code == 1000
    asyncio.run(talk())


def test_the_ca_is_kept_in_a_private_folder_of_the_user(demo):
    keys = [path for path in demo.folder.rglob("*") if path.is_file() and b"PRIVATE KEY" in path.read_bytes()]
    assert keys, f"no key below {demo.folder}"
    for key in keys:
        assert stat.S_IMODE(key.parent.stat().st_mode) == 0o700
        assert stat.S_IMODE(key.stat().st_mode) & 0o077 == 0


def test_a_client_that_trusts_the_ca_of_the_user_can_verify(demo):
    """One of the certificates below the user's folder is the root that signed what we serve."""
    for path in demo.folder.rglob("*"):
        if path.suffix not in (".pem", ".crt", ".cer") or b"BEGIN CERTIFICATE" not in path.read_bytes():
            continue
        try:
            with RawClient(demo.tls_port, tls=client_context(str(path)), server_name="localhost") as client:
                assert client.get("/").status == 200
                return
        except ssl.SSLError:
            continue
    pytest.fail("no certificate in the user's folder verifies the listener")


def test_the_ca_survives_a_restart(start_proxy, tmp_path):
    def start():
        return start_proxy(arguments=["--port", "0", "--tls-port", "0"], env={"HOME": str(tmp_path)})

    def files():
        return {path: path.read_bytes() for path in tmp_path.rglob("*")
                if path.is_file() and "proxy" not in path.relative_to(tmp_path).parts[0]}
    start().stop()
    before = files()
    assert before
    start().stop()
    roots = [path for path, data in before.items() if b"CERTIFICATE" in data and files().get(path) == data]
    assert roots, "the root was made anew: everybody who trusted it has to do so again"


def test_the_ports_can_be_chosen(start_proxy):
    port, tls_port = free_port(), free_port()
    proxy = start_proxy(arguments=["--port", str(port), "--tls-port", str(tls_port)])
    assert proxy.endpoints == [("http", port), ("https", tls_port)]
    assert simple_get(port).status == 200
