# SPDX-License-Identifier: MIT
"""The access log: one JSON object in one line for each exchange."""

import datetime
import json
import os
import threading

import pytest
from harness.origin import replying, response
from harness.proxy import cluster, destination, forward_to, route, routed
from harness.raw import RawClient, client_context, simple_get
from harness.wait import wait_until

KEYS = {"ts", "method", "url", "host", "status", "durationMs", "clientIp"}


@pytest.fixture
def logged(start_proxy, start_origin, tmp_path):
    """logged(handler) gives a proxy whose entries() are those of its log."""
    def start(handler=None, **log):
        path = tmp_path / "access.ndjson"
        origin = start_origin(handler)
        proxy = start_proxy(forward_to(origin, server={"accessLog": {"path": str(path)} | log}))
        proxy.entries = lambda count: wait_entries(path, count)
        proxy.log_path = path
        return proxy, origin
    return start


def read_entries(path):
    if not path.exists():
        return []
    text = path.read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()] if text.endswith("\n") else []


def wait_entries(path, count):
    entries = wait_until(lambda: (found := read_entries(path)) and len(found) >= count and found, f"{count} log entries")
    assert len(entries) == count
    return entries


def test_an_exchange_is_one_line_with_all_keys(logged):
    proxy, _ = logged()
    before = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(seconds=1)
    simple_get(proxy.port, "/path?query=1", host_field="name.example:8080")
    entry, = proxy.entries(1)
    assert set(entry) >= KEYS
    assert (entry["method"], entry["status"], entry["clientIp"]) == ("GET", 200, "127.0.0.1")
    assert entry["url"].endswith("/path?query=1")
    assert entry["host"] in ("name.example:8080", "name.example")
    assert 0 <= entry["durationMs"] < 10_000
    stamp = datetime.datetime.fromisoformat(entry["ts"])
    assert before <= stamp <= datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=1)


def test_each_request_of_a_connection_has_its_line_in_order(logged):
    proxy, _ = logged()
    with RawClient(proxy.port) as client:
        for index in range(30):
            client.get(f"/{index}")
    assert [entry["url"].rsplit("/", 1)[1] for entry in proxy.entries(30)] == [str(index) for index in range(30)]


def test_the_duration_covers_the_whole_answer(logged):
    pause = threading.Event()

    def handle(connection):
        connection.read_request()
        connection.send(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\na")
        pause.wait(0.3)
        connection.send(b"b")
        connection.read_to_end()
    proxy, _ = logged(handle)
    simple_get(proxy.port)
    assert 290 <= proxy.entries(1)[0]["durationMs"] < 5000


def test_generated_answers_are_logged(logged):
    proxy, origin = logged()
    origin.stop_listening()
    assert simple_get(proxy.port, "/gone").status == 502
    entry, = proxy.entries(1)
    assert (entry["status"], entry["method"]) == (502, "GET")


def test_a_route_that_is_missing_is_logged(start_proxy, origin, tmp_path):
    path = tmp_path / "access.ndjson"
    proxy = start_proxy(routed([route("r", "c", path="/known", pathKind="Exact")], [cluster("c", [destination(origin)])],
                               server={"accessLog": {"path": str(path)}}))
    simple_get(proxy.port, "/unknown")
    assert wait_entries(path, 1)[0]["status"] == 404


def test_a_client_that_left_is_logged(logged):
    proxy, origin = logged(lambda connection: (connection.read_request(), connection.read_to_end()))
    client = RawClient(proxy.port)
    client.send("GET /left HTTP/1.1\r\nHost: a\r\n\r\n")
    wait_until(lambda: origin.requests, "the request at the origin")
    client.reset()
    entry, = proxy.entries(1)
    assert entry["url"].endswith("/left")
    assert entry["status"] in (0, 499)


@pytest.mark.parametrize("target", ["/%22quoted%22", "/back%5Cslash", "/" + "x" * 5000, "/%e2%98%83?a=%0d%0a"])
def test_no_request_can_break_a_line(logged, target):
    proxy, _ = logged()
    simple_get(proxy.port, target)
    assert proxy.entries(1)[0]["url"].endswith(target)


def test_bytes_beyond_ascii_stay_valid_json(logged):
    proxy, _ = logged()
    with RawClient(proxy.port) as client:
        client.send(b"GET /caf\xe9 HTTP/1.1\r\nHost: a\r\n\r\n")
        status = client.read_response().status
    if status == 200:  # If the target is refused, there may be no line.
        assert proxy.entries(1)[0]["status"] == 200


@pytest.mark.parametrize("rate, low, high", [(1.0, 400, 400), (0.0, 0, 0), (0.5, 140, 260)])
def test_the_sample_rate_is_the_share_that_is_logged(logged, rate, low, high):
    proxy, _ = logged(sampleRate=rate)
    with RawClient(proxy.port) as client:
        for _ in range(400):
            client.get()
    proxy.signal()
    assert proxy.wait() == 0  # All lines are written at the end.
    assert low <= len(read_entries(proxy.log_path)) <= high


def test_all_lines_are_written_when_the_process_stops(logged):
    proxy, _ = logged()
    with RawClient(proxy.port) as client:
        for _ in range(200):
            client.get()
    proxy.signal()
    assert proxy.wait() == 0
    assert len(read_entries(proxy.log_path)) == 200


def test_a_second_run_appends(start_proxy, origin, tmp_path):
    path = tmp_path / "access.ndjson"
    for count in (1, 2):
        proxy = start_proxy(forward_to(origin, server={"accessLog": {"path": str(path)}}))
        simple_get(proxy.port)
        proxy.stop()
        assert len(read_entries(path)) == count


def test_a_slow_disk_does_not_hold_up_traffic(start_proxy, origin, tmp_path):
    """The log is a pipe that nobody reads: its 64 KiB are full after some hundred lines."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        proxy = start_proxy(forward_to(origin, server={"accessLog": {"path": str(path)}}))
        with RawClient(proxy.port) as client:
            for begin in range(0, 2000, 50):
                client.send(f"GET /{'x' * 200} HTTP/1.1\r\nHost: a\r\n\r\n" * 50)
                for _ in range(50):
                    assert client.read_response().status == 200
        os.set_blocking(reader, True)
        text = bytearray()

        def drain():
            while data := os.read(reader, 65536):
                text.extend(data)
        thread = threading.Thread(target=drain, daemon=True)
        thread.start()
        proxy.stop()
        thread.join(10)
    finally:
        os.close(reader)
    assert all(json.loads(line) for line in text.decode().splitlines())


def test_requests_over_tls_are_logged(start_proxy, origin, tmp_path, localhost_pair):
    path = tmp_path / "access.ndjson"
    proxy = start_proxy(forward_to(origin, tls_pair=localhost_pair, server={"accessLog": {"path": str(path)}}))
    simple_get(proxy.tls_port, "/secure", tls=client_context())
    assert wait_entries(path, 1)[0]["url"].endswith("/secure")


def test_concurrent_exchanges_of_several_workers_keep_lines_whole(start_proxy, start_origin, tmp_path):
    path = tmp_path / "access.ndjson"
    origin = start_origin(replying(lambda request: response()))
    proxy = start_proxy(forward_to(origin, server={"accessLog": {"path": str(path)}, "pooling": {"threadPoolWorkerThread": 3}}))

    def load(name):
        with RawClient(proxy.port) as client:
            for index in range(100):
                client.get(f"/{name}-{index}")
    threads = [threading.Thread(target=load, args=(name,)) for name in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    urls = {entry["url"].rsplit("/", 1)[1] for entry in wait_entries(path, 600)}
    assert urls == {f"{name}-{index}" for name in range(6) for index in range(100)}
