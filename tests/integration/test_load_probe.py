# SPDX-License-Identifier: MIT
"""rps-load-probe as a whole: every mode runs, with windows so short that they measure nothing.

No figure is asserted; that every arm gets answers through its product, and that nothing is lost or
left behind, is. TITANIUM_PROBE names the program, else it is the one in build/dev.
"""

import csv
import json
import os
import pathlib
import signal
import subprocess
import time

import pytest

from harness.proxy import find_binary

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROBE = pathlib.Path(os.environ.get("TITANIUM_PROBE") or ROOT / "build/dev/bench/rps-load-probe")

HEADER = (
    "timestamp_utc,arm,generator,concurrency,duration_s,ok,errors,rps,error_rate_pct,p50_ms,p99_ms,"
    "max_ms,meets_slo,nginx_version,haproxy_version,envoy_version,yarp_version,http_versions,"
    "max_cached_connections,method,response_bytes,request_bytes,delay_ms,loss_percent,keepalive,"
    "proxy_rss_peak_bytes,proxy_cpu_avg_pct,row_key,product,product_version,repeat,"
    "cpu_us_per_request,cpu_user_us_per_request,voluntary_ctx_per_request,rate,note")

SHORT = ["--duration-sec", "0.3", "--warmup-sec", "0.1", "--concurrency", "2", "--repeats", "1"]

# Each product and each control comes at least once, each row once. All arms of all modes
# would take minutes.
MODES = {
    "compare": "twp",
    "compare-matrix": "haproxy-reverse-http1$,twp-reverse-http1-mitm",
    "compare-http2": "twp",
    "compare-tls": "haproxy",
    "compare-same": "nghttpx-reverse-h2c,nghttpx-reverse-http2",
    "compare-bridges": "nginx-reverse-h2c,nginx-reverse-http2",
    "compare-terminate": "nghttpx,twp",
    "compare-saturation": "origin-direct,bare,nginx,haproxy,nghttpx,twp",
    "compare-ceiling": "bare-reverse-http1-tls,origin-direct-tls,bare-relay",
    "compare-tls-cost": "nginx,twp",
    "compare-bodies": "nginx-reverse-http1,twp",
    "compare-post": "bare,twp",
    "compare-lossy": "twp",
    "compare-arch": "twp",
    "compare-ws-h1tls": "haproxy,nginx",
    "compare-ws-h2": "twp,haproxy,nghttpx",
    "compare-grpc": "twp,nginx,haproxy,nghttpx",
    "compare-spot": "twp,bare",
}
# Their arms wait for wires that do not exist yet.
MODES_WITHOUT_ARMS = {"compare-http3-cleartext"}

pytestmark = pytest.mark.timeout(90)


@pytest.fixture(scope="module")
def probe():
    if not os.access(PROBE, os.X_OK):
        pytest.exit(f"no {PROBE}: build it, or name it in TITANIUM_PROBE", returncode=3)
    return str(PROBE)


@pytest.fixture
def run(probe, tmp_path):
    """run(*arguments) gives the finished process; temporary files go below tmp_path."""
    scratch = tmp_path / "scratch"
    scratch.mkdir()

    def start(*arguments, wait=True, **options):
        command = [probe, *arguments]
        if "report" not in arguments and "gates" not in arguments:
            command += ["--results-dir", str(tmp_path / "results")]
            if "--titanium-path" not in arguments:
                command += ["--titanium-path", find_binary()]
        environment = {**os.environ, "TMPDIR": str(scratch)}
        if wait:
            return subprocess.run(command, capture_output=True, text=True, env=environment,
                                  timeout=80, **options)
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                env=environment, **options)
    start.scratch = scratch
    start.results = tmp_path / "results"
    return start


def rows_of(folder):
    files = list(folder.glob("rps-ramp-*.csv"))
    assert len(files) == 1, files
    text = files[0].read_text()
    assert text.splitlines()[0] == HEADER
    return list(csv.DictReader(text.splitlines()))


def ready_arms(run, mode, contains):
    """The arms that can run here, by name."""
    done = run("--print-arms", "--mode", mode, "--arm-contains", contains)
    assert done.returncode == 0, done.stderr
    lines = [line.split("\t") for line in done.stdout.splitlines()]
    return [name for name, _, state in lines if state == "ready"]


def known_modes(run):
    text = run("--mode", "none-of-them").stderr
    listed = text.split("Modes are ")[1].split(", and every arm")[0]
    return set(listed.split(", "))


def descendants(pid):
    """The processes that this one has started, and theirs."""
    parents = {}
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
            except OSError:
                continue
            parents[int(entry.name)] = int(fields[1])
    found = [pid]
    for one in found:
        found += [child for child, parent in parents.items() if parent == one]
    return found[1:]


def wait_for_end(pids, seconds=10):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        left = [pid for pid in pids if is_running(pid)]
        if not left:
            return []
        time.sleep(0.02)
    return left


def is_running(pid):
    try:
        state = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return False
    return state != "Z"  # Nobody is here to reap it in a container.


def test_all_modes_are_tested(run):
    assert known_modes(run) == set(MODES) | MODES_WITHOUT_ARMS


@pytest.mark.parametrize("mode", MODES)
def test_every_arm_of_the_mode_gets_answers(run, mode):
    expected = ready_arms(run, mode, MODES[mode])
    done = run("--mode", mode, "--arm-contains", MODES[mode], *SHORT)
    assert done.returncode == 0, done.stderr
    rows = rows_of(run.results)
    assert [row["arm"] for row in rows] == expected
    for row in rows:
        assert int(row["ok"]) > 0, row
        assert int(row["errors"]) == 0, row
        assert row["note"] == "", row
        assert row["concurrency"] == "2" and row["repeat"] == "1"
        assert int(row["proxy_rss_peak_bytes"]) > 0
    assert list(run.scratch.iterdir()) == [], "temporary files were left behind"


@pytest.mark.parametrize("mode", MODES_WITHOUT_ARMS)
def test_a_mode_whose_wires_do_not_exist_says_so(run, mode):
    done = run("--mode", mode, *SHORT)
    assert done.returncode == 2
    assert "not possible yet" in done.stderr
    assert "no arm is left to measure" in done.stderr


def test_repeats_and_steps_are_interleaved(run):
    done = run("--mode", "compare-spot", "--arm-contains", "bare-relay,twp-reverse-http1$",
               "--duration-sec", "0.1", "--warmup-sec", "0", "--concurrency", "1,2", "--repeats",
               "2")
    assert done.returncode == 0, done.stderr
    got = [(row["repeat"], row["concurrency"], row["arm"]) for row in rows_of(run.results)]
    arms = ["bare-relay", "twp-reverse-http1"]
    assert got == [(repeat, step, arm) for repeat in "12" for step in "12" for arm in arms]


def test_the_run_is_described_beside_its_results(run):
    done = run("--mode", "compare-saturation", "--arm-shard", "h1c-h1c", "--arm-contains",
               "twp,yarp", *SHORT)
    assert done.returncode == 0, done.stderr
    files = list(run.results.glob("*-environment.json"))
    assert len(files) == 1
    environment = json.loads(files[0].read_text())
    assert "--mode compare-saturation" in environment["command"]
    assert [product["name"] for product in environment["products"]] == ["titanium"]
    assert environment["products"][0]["version"]
    assert environment["machine"]["cores"] == os.cpu_count()
    assert [arm["arm"] for arm in environment["arms"]] == ["yarp-reverse-http1"]
    assert "yarp: not installed" in done.stderr


def test_flags_change_the_load(run):
    done = run("--mode", "twp-reverse-http1", "--method", "POST", "--request-bytes", "1000",
               "--response-bytes", "1000", "--no-keepalive", "--max-cached-connections", "4",
               *SHORT)
    assert done.returncode == 0, done.stderr
    row, = rows_of(run.results)
    assert int(row["ok"]) > 0 and row["errors"] == "0", row
    assert row["row_key"] == "h1c-h1c-custom"
    assert (row["method"], row["request_bytes"], row["response_bytes"], row["keepalive"],
            row["max_cached_connections"]) == ("POST", "1000", "1000", "0", "4")


def test_a_fixed_rate_is_kept(run):
    done = run("--mode", "origin-direct", "--rate", "200", "--duration-sec", "1", "--warmup-sec",
               "0.1", "--concurrency", "4")
    assert done.returncode == 0, done.stderr
    row, = rows_of(run.results)
    assert row["rate"] == "200"
    assert 150 <= int(row["ok"]) <= 250, row


@pytest.mark.parametrize("arguments, words", [
    ([], ["--mode is missing", "compare-spot"]),
    (["--mode", "compare-bodie"], ["did you mean 'compare-bodies'?"]),
    (["--mode", "compare", "--arm-shard", "5/2"], ["--arm-shard", "i/n"]),
    (["--mode", "compare", "--arm-contains", "squid"], ["no arm is left"]),
    (["--mode", "compare", "--concurrency", "0"], ["--concurrency"]),
    (["--mode", "compare", "--duration-sec", "nan"], ["--duration-sec: Value nan not in range [0.01 - 86400]"]),
    (["--mode", "compare", "--warmup-sec", "inf"], ["--warmup-sec"]),
    (["--mode", "compare", "--rate", "-1"], ["--rate"]),
    (["--mode", "compare", "--repeat", "1"], ["--repeat", "did you mean '--repeats'?"]),
    (["--mode", "compare", "--nginx-path", "/no/nginx"], ["--nginx-path", "/no/nginx"]),
    (["--mode", "compare", "--titanium-path", "/etc/passwd"], ["--titanium-path", "/etc/passwd"]),
])
def test_bad_arguments_are_named(run, arguments, words):
    done = run(*arguments)
    assert done.returncode == 2
    for word in words:
        assert word in done.stderr
    assert not run.results.exists(), "it began to measure"


def test_a_product_that_does_not_start_is_recorded_and_explained(run, tmp_path):
    broken = tmp_path / "nginx"
    broken.write_text("#!/bin/sh\necho 'cannot do this' >&2\nexit 3\n")
    broken.chmod(0o755)
    done = run("--mode", "compare-saturation", "--arm-shard", "h1c-h1c", "--arm-contains",
               "nginx,twp", "--nginx-path", str(broken), *SHORT)
    assert done.returncode == 1
    assert "nginx-reverse-http1: the proxy ended with exit code 3" in done.stderr
    assert "cannot do this" in done.stderr
    kept = [path for path in run.scratch.iterdir() if str(path) in done.stderr]
    assert len(kept) == 1 and (kept[0] / "nginx.conf").exists()
    nginx, ours = rows_of(run.results)
    assert (nginx["ok"], nginx["error_rate_pct"], nginx["meets_slo"]) == ("0", "100", "0")
    assert nginx["note"] == "did not start"
    assert int(ours["ok"]) > 0, "the ramp did not go on"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_loses_nothing_and_leaves_nothing(run, number):
    process = run("--mode", "compare-spot", "--arm-contains", "nginx-reverse-http1$,twp",
                  "--warmup-sec", "0.1", "--duration-sec", "0.3", "--repeats", "500", wait=False)
    children = []
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        files = list(run.results.glob("*.csv")) if run.results.exists() else []
        if files and len(files[0].read_text().splitlines()) > 2:
            children = descendants(process.pid)
            break
        time.sleep(0.05)
    assert children, "nothing was measured"
    process.send_signal(number)
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 130, errors
    assert wait_for_end(children) == []
    assert len(rows_of(run.results)) >= 2
    assert all(int(row["ok"]) > 0 for row in rows_of(run.results))
    assert list(run.scratch.iterdir()) == []


def test_children_die_with_a_probe_that_is_killed(run):
    process = run("--mode", "bare-relay", "--duration-sec", "60", wait=False)
    deadline = time.monotonic() + 60
    while len(descendants(process.pid)) < 2 and time.monotonic() < deadline:
        time.sleep(0.05)
    children = descendants(process.pid)
    assert len(children) >= 2
    process.kill()
    process.communicate()
    assert wait_for_end(children) == []


def test_arms_and_rows_are_listed(run):
    groups = run("--print-groups", "--mode", "compare-spot")
    assert groups.returncode == 0
    assert groups.stdout == "h1c-h1c\t4\nh1tls-h1c\t3\n"
    arms = run("--print-arms")
    assert arms.returncode == 0
    names = [line.split("\t")[0] for line in arms.stdout.splitlines()]
    assert len(names) == len(set(names))
    assert "twp-reverse-http3" in names and "yarp-reverse-h2c" in names


def test_results_can_be_reported_and_judged(run):
    done = run("--mode", "compare-saturation", "--arm-contains", "bare-relay,nginx,twp", *SHORT)
    assert done.returncode == 0, done.stderr
    file, = run.results.glob("*.csv")
    report = run("report", str(file))
    assert report.returncode == 0, report.stderr
    assert "nginx" in report.stdout and "|" in report.stdout
    gates = run("gates", str(file))
    assert gates.returncode in (0, 3), gates.stderr
    assert gates.stdout
