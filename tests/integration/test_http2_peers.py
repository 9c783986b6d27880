# SPDX-License-Identifier: MIT
"""Other people's programs on both legs: curl, httpx, nghttp and h2load in front, nginx, HAProxy and
nghttpx behind."""

import shutil
import socket
import subprocess

import httpx
import pytest
from harness.cells import KINDS, is_http2, is_tls
from harness.nginx import find_nginx
from harness.proxy import cluster, defaults, destination, listener, merged, route
from harness.wait import free_port, scaled, wait_until

CLIENTS = {"h1": "--http1.1", "h1s": "--http1.1", "h2c": "--http2-prior-knowledge", "h2s": "--http2"}
BIG = bytes(range(256)) * 1024

NGINX = """
daemon off; worker_processes 1; pid {folder}/nginx.pid; error_log {folder}/error.log warn; {user}
events {{ worker_connections 4096; }}
http {{
  access_log off; client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/f; uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
  client_max_body_size 64m; keepalive_requests 1000000; types {{ text/plain txt; }}
  ssl_certificate {certificate}; ssl_certificate_key {key};
  {servers}
}}
"""

NGINX_SERVER = """
  server {{
    listen 127.0.0.1:{port} {options}; http2 {http2}; root {root};
    location / {{ add_header X-Seen "$server_protocol" always; }}
    location = /seen {{ return 200 "$server_protocol $request_method $scheme $http_host $http_cookie\\n"; }}
    location = /empty {{ return 204; }}
    location /put/ {{ dav_methods PUT; create_full_put_path on; }}
  }}
"""

HAPROXY = """
global
  log stderr local0 err
defaults
  mode http
  timeout connect 5s
  timeout client 10s
  timeout server 10s
listen clear
  bind 127.0.0.1:{clear} proto h2
  server origin 127.0.0.1:{origin}
listen tls
  bind 127.0.0.1:{tls} ssl crt {both} alpn h2
  server origin 127.0.0.1:{origin}
"""


class Address:
    def __init__(self, port):
        self.host, self.port = "127.0.0.1", port


def is_listening(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


class Programs:
    """Origins that are started once for all tests of this file."""

    def __init__(self, folder, pair):
        self.folder, self.pair, self.processes = folder, pair, []
        root = folder / "root"
        root.mkdir()
        (root / "small.txt").write_bytes(b"small\n")
        (root / "big").write_bytes(BIG)
        self.ports = {kind: free_port() for kind in KINDS}
        servers = "".join(NGINX_SERVER.format(
            port=port, options="ssl" if is_tls(kind) else "", http2="on" if is_http2(kind) else "off", root=root)
            for kind, port in self.ports.items())
        config = folder / "nginx.conf"
        config.write_text(NGINX.format(folder=folder, certificate=pair.certificate, key=pair.key, servers=servers,
                                       user="user root;"))
        self.start([find_nginx(), "-p", folder, "-c", config], *self.ports.values())

    def start(self, command, *ports):
        log = open(self.folder / f"log{len(self.processes)}", "wb")
        process = subprocess.Popen(list(map(str, command)), stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        log.close()
        self.processes.append(process)

        def is_up():
            assert process.poll() is None, (self.folder / f"log{len(self.processes) - 1}").read_text()
            return all(map(is_listening, ports))
        wait_until(is_up, f"{command[0]} to listen")

    def haproxy(self):
        both = self.folder / "both.pem"
        both.write_text("".join(open(name, encoding="ascii").read() for name in (self.pair.certificate, self.pair.key)))
        clear, tls = free_port(), free_port()
        config = self.folder / "haproxy.cfg"
        config.write_text(HAPROXY.format(clear=clear, tls=tls, both=both, origin=self.ports["h1"]))
        self.start([shutil.which("haproxy") or "/usr/sbin/haproxy", "-db", "-f", config], clear, tls)
        return {"h2c": Address(clear), "h2s": Address(tls)}

    def nghttpx(self):
        clear, tls = free_port(), free_port()
        self.start([shutil.which("nghttpx") or "/usr/sbin/nghttpx", "--conf=/dev/null", "-b", f"127.0.0.1,{self.ports['h1']}",
                    "-f", f"127.0.0.1,{clear};no-tls", "-f", f"127.0.0.1,{tls}", "--errorlog-file=/dev/null",
                    "-n1", self.pair.key, self.pair.certificate], clear, tls)
        return {"h2c": Address(clear), "h2s": Address(tls)}

    def stop(self):
        for process in self.processes:
            process.terminate()
        for process in self.processes:
            process.wait(10)


def have(*names):
    return all(shutil.which(name) or shutil.which(name, path="/usr/sbin:/usr/local/sbin") for name in names)


@pytest.fixture(scope="module")
def programs(tmp_path_factory, localhost_pair):
    if not have("nginx", "curl"):
        pytest.skip("needs nginx and curl")
    made = Programs(tmp_path_factory.mktemp("programs"), localhost_pair)
    yield made
    made.stop()


def proxy_to(start, origins, authority, pair):
    """The same as harness.cells has it, with the address of each origin in front of the path."""
    clusters, routes = [], []
    for name, (kind, origin) in origins.items():
        keys = {"upstreamHttpProtocol": {"h1": "http11", "h1s": "http11", "h2c": "http2", "h2s": "auto"}[kind]}
        where = destination(origin)
        if is_tls(kind):
            keys["tls"] = {"caPath": authority.certificate}
            where = destination(origin, address="localhost", useHttps=True)
        clusters.append(cluster(name, [where], **keys))
        routes.append(route(name, name, path="/", pathKind="Prefix", hosts=[f"{name}.localhost"]))
    return start(merged(defaults(), {
        "listeners": [listener(), listener(decryptSsl=True)], "routes": routes, "clusters": clusters,
        "certificates": {"certificatePath": pair.certificate, "privateKeyPath": pair.key}}))


@pytest.fixture(scope="module")
def proxy(start_shared_proxy, programs, authority, localhost_pair):
    origins = {f"nginx-{kind}": (kind, Address(port)) for kind, port in programs.ports.items()}
    if have("haproxy"):
        origins |= {f"haproxy-{kind}": (kind, at) for kind, at in programs.haproxy().items()}
    if have("nghttpx"):
        origins |= {f"nghttpx-{kind}": (kind, at) for kind, at in programs.nghttpx().items()}
    made = proxy_to(start_shared_proxy, origins, authority, localhost_pair)
    made.names = list(origins)
    return made


ORIGINS = [f"nginx-{kind}" for kind in KINDS] + [f"{name}-{kind}" for name in ("haproxy", "nghttpx") for kind in ("h2c", "h2s")]


@pytest.fixture(params=ORIGINS)
def behind(request, proxy):
    if request.param not in proxy.names:
        pytest.skip(f"{request.param} is not installed")
    return request.param


def url(proxy, kind, path):
    return f"https://localhost:{proxy.tls_port}{path}" if is_tls(kind) else f"http://localhost:{proxy.port}{path}"


def curl(proxy, kind, behind, path, *options, body=None):
    done = subprocess.run(
        ["curl", "-sS", "-k", "-m", "15", CLIENTS[kind], "-H", f"Host: {behind}.localhost", *options,
         url(proxy, kind, path)], input=body, capture_output=True, check=False)
    assert done.returncode == 0, (done.returncode, done.stderr.decode(), done.stdout[:300])
    return done.stdout


@pytest.mark.parametrize("client", KINDS)
def test_curl(proxy, behind, client):
    expected = b"2" if is_http2(client) else b"1.1"
    said = curl(proxy, client, behind, "/small.txt", "-w", "%{http_version} %{http_code}")
    assert said == b"small\n" + expected + b" 200"
    assert curl(proxy, client, behind, "/big") == BIG
    head = curl(proxy, client, behind, "/big", "-I").lower()
    assert b"content-length: 262144" in head and b" 200" in head.splitlines()[0]
    tag = next(line for line in head.splitlines() if line.startswith(b"etag:")).split(b": ", 1)[1].decode()
    assert curl(proxy, client, behind, "/big", "-H", f"If-None-Match: {tag}", "-w", "%{http_code}") == b"304"
    assert curl(proxy, client, behind, "/big", "-r", "1-3") == BIG[1:4]
    assert curl(proxy, client, behind, "/empty", "-w", "%{http_code}") == b"204"
    assert curl(proxy, client, behind, "/none", "-o", "/dev/null", "-w", "%{http_code}") == b"404"
    seen = curl(proxy, client, behind, "/seen", "-b", "a=b; c=d").decode().split()
    assert seen[1] == "GET" and seen[3] == f"{behind}.localhost" and seen[4:] == ["a=b;", "c=d"]
    if behind.startswith("nginx"):
        assert seen[0] == ("HTTP/2.0" if is_http2(behind[6:]) else "HTTP/1.1")


@pytest.mark.parametrize("client", KINDS)
def test_curl_uploads(proxy, behind, client, programs):
    name = f"/put/{client}-{behind}"
    # Without Expect, as some of them do not answer it, and curl waits a second.
    sized = curl(proxy, client, behind, name, "-H", "Expect:", "-T", str(programs.folder / "root/big"), "-w", "%{http_code}",
                 "-o", "/dev/null")
    assert sized in (b"201", b"204")
    assert curl(proxy, client, behind, name) == BIG
    streamed = curl(proxy, client, behind, name, "-H", "Expect:", "-T", "-", "-w", "%{http_code}", "-o", "/dev/null", body=BIG * 4)
    if b"411" not in streamed:  # nginx's WebDAV may want a length.
        assert streamed in (b"201", b"204")
        assert curl(proxy, client, behind, name) == BIG * 4


def test_curl_many_at_a_time_on_one_connection(proxy, behind):
    done = subprocess.run(
        ["curl", "-sS", "-k", "-m", "20", "--http2", "--parallel", "--parallel-max", "40", "-H", f"Host: {behind}.localhost",
         "-o", "/dev/null", "-w", "%{http_code} %{size_download}\n", f"https://localhost:{proxy.tls_port}/big?[1-80]"],
        capture_output=True, check=False, text=True)
    assert done.stdout.split("\n")[:-1] == ["200 262144"] * 80, done.stderr[-500:]


@pytest.mark.parametrize("tls", [False, True])
def test_httpx(proxy, behind, tls):
    with httpx.Client(http1=not tls, http2=tls, verify=False, timeout=15, trust_env=False) as client:
        base = f"https://localhost:{proxy.tls_port}" if tls else f"http://localhost:{proxy.port}"
        for _ in range(3):
            answer = client.get(base + "/big", headers={"Host": f"{behind}.localhost"})
            assert (answer.status_code, answer.content) == (200, BIG)
            assert answer.http_version == ("HTTP/2" if tls else "HTTP/1.1")


@pytest.mark.skipif(not have("nghttp"), reason="needs nghttp")
def test_nghttp(proxy, behind):
    done = subprocess.run(
        ["nghttp", "-nv", "-m", "20", "-t", "15", "-H", f":authority: {behind}.localhost", "-H", "te: trailers",
         url(proxy, "h2c", "/big")], capture_output=True, check=False, text=True)
    assert done.returncode == 0, done.stdout[-2000:]
    assert done.stdout.count(":status: 200") == 20
    assert "error_code=NO_ERROR" in done.stdout or "GOAWAY" not in done.stdout


@pytest.mark.skipif(not have("h2load"), reason="needs h2load")
@pytest.mark.parametrize("client", ["h2c", "h2s"])
def test_h2load(proxy, behind, client):
    count = scaled(400, 20_000)
    done = subprocess.run(
        ["h2load", "-n", str(count), "-c", "4", "-m", "32", "-H", f":authority: {behind}.localhost",
         url(proxy, client, "/small.txt")], capture_output=True, check=False, text=True, timeout=60)
    assert f"{count} succeeded, 0 failed, 0 errored, 0 timeout" in done.stdout, done.stdout[-1500:]
    assert f"status codes: {count} 2xx" in done.stdout
