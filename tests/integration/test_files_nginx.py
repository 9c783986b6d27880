# SPDX-License-Identifier: MIT
"""A real tree of files: nginx behind titanium, curl and httpx in front, hashes compared."""

import asyncio
import hashlib
import subprocess
import urllib.parse

import httpx
import pytest
from harness.nginx import Nginx, find_nginx
from harness.proxy import cluster, defaults, destination, listener, merged, route
from harness.raw import client_context
from harness.wait import is_full_scale, scaled

KIB, MIB = 1 << 10, 1 << 20
SIZES = [0, 1, 2, 100, 1459, 1460, 4095, 4096, 4097, 8191, 8192, 16 * KIB - 1, 16 * KIB, 16 * KIB + 1, 65_535, 65_536,
         65_537, 100_000, MIB - 1, MIB, 3 * MIB + 17, 8 * MIB] + ([1024 * MIB] if is_full_scale() else [])
NAMES = ["plain.txt", "with space.bin", "percent%41.bin", "plus+and&and=.bin", "unicode-\N{GREEK SMALL LETTER OMEGA}.bin",
         "semi;colon.bin", "hash#question?.bin", "deep/er/and/deep/er/file.html", "tilde~$!'(),.bin"]
SECONDS = scaled(60, 900)
pytestmark = [pytest.mark.timeout(SECONDS), pytest.mark.skipif(find_nginx() is None, reason="nginx is not installed")]


def write_file(path, size, seed):
    """A file of reproducible bytes; returns their hash."""
    path.parent.mkdir(parents=True, exist_ok=True)
    block = hashlib.shake_128(seed.encode()).digest(MIB)
    digest = hashlib.sha256()
    with open(path, "wb") as file:
        while size > 0:
            part = block[: min(size, len(block))]
            file.write(part)
            digest.update(part)
            size -= len(part)
    return digest.hexdigest()


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """The folder and {path: hash}."""
    root = tmp_path_factory.mktemp("tree")
    files = {f"size/{size}.bin": size for size in SIZES} | {name: 1000 + index for index, name in enumerate(NAMES)}
    return root, {name: write_file(root / name, size, name) for name, size in files.items()}


@pytest.fixture(scope="module")
def nginx(tree, tmp_path_factory, localhost_pair):
    made = Nginx(tmp_path_factory.mktemp("nginx"), tree[0], localhost_pair)
    yield made
    made.stop()


@pytest.fixture(scope="module")
def urls(start_shared_proxy, nginx, authority, localhost_pair):
    """{(client leg, origin leg): URL}: two listeners, and the origin leg is chosen by the Host."""
    config = merged(defaults(), {
        "listeners": [listener(), listener(decryptSsl=True)],
        "certificates": {"certificatePath": localhost_pair.certificate, "privateKeyPath": localhost_pair.key},
        "routes": [route("tls", "tls", host="localhost", path="/", pathKind="Prefix"),
                   route("clear", "clear", host="127.0.0.1", path="/", pathKind="Prefix")],
        "clusters": [cluster("clear", [destination(nginx.clear)]),
                     cluster("tls", [destination(nginx.tls, address="localhost", useHttps=True)],
                             tls={"caPath": authority.certificate})],
    })
    proxy = start_shared_proxy(config)
    hosts = {"clear": "127.0.0.1", "tls": "localhost"}
    return {(client, origin): f"{scheme}://{host}:{port}"
            for client, scheme, port in (("clear", "http", proxy.port), ("tls", "https", proxy.tls_port))
            for origin, host in hosts.items()}


LEGS = [(client, origin) for client in ("clear", "tls") for origin in ("clear", "tls")]


def quoted(name):
    return urllib.parse.quote(name)


@pytest.mark.parametrize("legs", LEGS, ids="-".join)
def test_curl_gets_the_whole_tree_unharmed(urls, tree, authority, tmp_path, legs):
    _, hashes = tree
    names = list(hashes)
    config = tmp_path / "curl.txt"
    config.write_text("".join(f'url = "{urls[legs]}/{quoted(name)}"\noutput = "{tmp_path}/{index}"\n'
                              for index, name in enumerate(names)), encoding="ascii")
    done = subprocess.run(["curl", "-q", "--silent", "--show-error", "--fail", "--noproxy", "*", "--ipv4", "--http1.1",
                           "--cacert", authority.certificate, "--config", str(config)],
                          capture_output=True, text=True, timeout=SECONDS, check=False)
    assert done.returncode == 0, done.stderr
    for index, name in enumerate(names):
        with open(tmp_path / str(index), "rb") as file:
            assert hashlib.file_digest(file, "sha256").hexdigest() == hashes[name], name
        (tmp_path / str(index)).unlink()


@pytest.mark.parametrize("legs", LEGS, ids="-".join)
def test_httpx_gets_many_files_at_once(urls, tree, authority, legs):
    _, hashes = tree
    small = [name for name in hashes if not name.startswith("size/") or int(name[5:-4]) <= MIB]

    async def fetch(client, name):
        answer = await client.get(f"/{quoted(name)}")
        assert answer.status_code == 200
        assert hashlib.sha256(answer.content).hexdigest() == hashes[name], name

    async def fetch_all():
        transport = httpx.AsyncHTTPTransport(verify=client_context(authority.certificate), local_address="0.0.0.0",
                                             limits=httpx.Limits(max_connections=8))
        async with httpx.AsyncClient(base_url=urls[legs], transport=transport, timeout=30) as client:
            await asyncio.gather(*(fetch(client, name) for name in small * 4))
    asyncio.run(fetch_all())


@pytest.fixture
def client(urls, authority):
    with httpx.Client(base_url=urls["tls", "clear"], verify=client_context(authority.certificate), trust_env=False) as made:
        yield made


@pytest.mark.parametrize("size", [0, 1, 4096, 65_537, 8 * MIB])
def test_head_tells_the_length_without_a_body(client, size):
    for _ in range(2):
        answer = client.head(f"/size/{size}.bin")
        assert (answer.status_code, answer.headers["content-length"], answer.content) == (200, str(size), b"")
    assert client.get("/size/100.bin").status_code == 200


@pytest.mark.parametrize("text, begin, end", [
    ("bytes=0-0", 0, 1), ("bytes=10-99", 10, 100), ("bytes=16383-16385", 16383, 16386), ("bytes=-500", 65_037, 65_537),
    ("bytes=65536-", 65_536, 65_537), ("bytes=0-99999999", 0, 65_537),
])
def test_a_range_is_the_part_that_was_asked_for(client, tree, text, begin, end):
    whole = (tree[0] / "size/65537.bin").read_bytes()
    answer = client.get("/size/65537.bin", headers={"Range": text})
    assert answer.status_code == 206
    assert answer.headers["content-range"] == f"bytes {begin}-{end - 1}/65537"
    assert answer.content == whole[begin:end]


def test_several_ranges_come_as_multipart(client, tree):
    whole = (tree[0] / "size/65537.bin").read_bytes()
    answer = client.get("/size/65537.bin", headers={"Range": "bytes=0-9,100-109"})
    assert answer.headers["content-type"].startswith("multipart/byteranges")
    assert whole[:10] in answer.content
    assert whole[100:110] in answer.content


def test_an_impossible_range_is_refused_by_the_origin(client):
    assert client.get("/size/100.bin", headers={"Range": "bytes=200-"}).status_code == 416


def test_validators_work_through_the_proxy(client):
    first = client.get("/size/4096.bin")
    again = client.get("/size/4096.bin", headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert client.get("/size/4096.bin", headers={"If-None-Match": '"other"'}).status_code == 200


def test_errors_of_nginx_pass(client):
    assert client.get("/no/such/file").status_code == 404
    assert client.post("/size/100.bin", content=b"x" * 100_000).status_code == 405
    assert client.get("/size/100.bin").status_code == 200
