# SPDX-License-Identifier: MIT
"""The proxy under test, as a process."""

import functools
import json
import os
import pathlib
import re
import signal
import subprocess
import threading
import time

from .wait import wait_until

ROOT = pathlib.Path(__file__).resolve().parents[3]
START_SECONDS = 20.0
STOP_SECONDS = 15.0
SANITIZER_REPORT = re.compile(r"ERROR: \w+Sanitizer|WARNING: ThreadSanitizer|runtime error:")
LISTENING = re.compile(r"listening on (https?)://(\S+):(\d+)")


def find_binary():
    """The binary that TITANIUM_BIN names, or the first one that was built; None if there is none."""
    named = os.environ.get("TITANIUM_BIN")
    candidates = [named] if named else [ROOT / "build/dev/titanium", ROOT / "build/release/titanium"]
    for candidate in candidates:
        if os.access(candidate, os.X_OK):
            return str(pathlib.Path(candidate).resolve())
    return None


@functools.cache
def is_sanitized():
    """True if the binary was built with AddressSanitizer, which costs memory."""
    return b"__asan_init" in pathlib.Path(find_binary()).read_bytes()


def environment(home):
    """What the process sees: a home of its own, and sanitizers that report and end it."""
    kept = {name: value for name, value in os.environ.items()
            if not name.startswith(("XDG_", "SSLKEYLOGFILE"))}
    return kept | {
        "HOME": str(home),
        "ASAN_OPTIONS": "quarantine_size_mb=4:exitcode=99:abort_on_error=0",
        "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1:exitcode=99",
        "TSAN_OPTIONS": "halt_on_error=1:exitcode=99",
    }


def merged(base, extra):
    """A copy of a configuration with the keys of another one laid over it."""
    result = dict(base)
    for key, value in (extra or {}).items():
        both = isinstance(value, dict) and isinstance(result.get(key), dict)
        result[key] = merged(result[key], value) if both else value
    return result


def defaults():
    """What every proxy of a test runs with unless the test says otherwise: one worker, so that
    pools and balancing are predictable, and a short drain."""
    return {
        "server": {
            "timeouts": {"drainTimeoutSeconds": 2},
            "pooling": {"threadPoolWorkerThread": 1},
        },
        "logging": {"enabled": True, "minimumLevel": "Warning"},
    }


def listener(**keys):
    return {"host": "127.0.0.1", "port": 0, "type": "transparent"} | keys


def forward_to(origin, *, server=None, tls_pair=None, **listener_keys):
    """A clear listener (and a TLS one, with tls_pair) in front of one clear origin."""
    keys = {"forwardHost": origin.host, "forwardPort": origin.port} | listener_keys
    config = {"listeners": [listener(**keys)], "server": server or {}}
    if tls_pair is not None:
        config["listeners"].append(listener(decryptSsl=True, **keys))
        config["certificates"] = {"certificatePath": tls_pair.certificate,
                                  "privateKeyPath": tls_pair.key}
    return merged(defaults(), config)


def destination(origin, name=None, **keys):
    return {"id": name or f"d{origin.port}", "address": origin.host, "port": origin.port} | keys


def cluster(name, destinations, **keys):
    return {"id": name, "algorithm": "RoundRobin", "destinations": destinations} | keys


def route(name, cluster_id, **match):
    order = match.pop("order", None)
    made = {"id": name, "clusterId": cluster_id, "match": match}
    return made if order is None else made | {"order": order}


def routed(routes, clusters, *, server=None, **listener_keys):
    """A clear listener with a route table."""
    return merged(defaults(), {"listeners": [listener(**listener_keys)], "routes": routes,
                               "clusters": clusters, "server": server or {}})


def to_cluster(destinations, *, server=None, cluster_keys=None, **listener_keys):
    """A clear listener where one route sends everything to one cluster."""
    return routed([route("all", "main", path="/", pathKind="Prefix")],
                  [cluster("main", destinations, **(cluster_keys or {}))],
                  server=server, **listener_keys)


class StartFailed(Exception):
    """The process ended before it was running."""

    def __init__(self, code, errors):
        super().__init__(f"titanium ended with {code}: {errors[-2000:]}")
        self.code = code
        self.errors = errors


class Proxy:
    """A running titanium. Output is kept; stop() checks that the end was clean."""

    running = set()  # For the report of a failed test, and so that no process outlives its test.

    def __init__(self, folder, config=None, *, arguments=(), env=None, wrapper=()):
        binary = find_binary()
        assert binary, "there is no titanium binary"
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        command = [*wrapper, binary, "run"]
        self.config_path = self.folder / "twp.yaml"
        if config is not None:
            # JSON is YAML, too.
            self.config_path.write_text(json.dumps(config, indent=2), encoding="utf-8")
            command += ["-c", str(self.config_path)]
        self.lines = []
        self._lines_changed = threading.Condition()
        self.error_path = self.folder / "stderr.txt"
        self._env = environment(self.folder) | (env or {})
        with open(self.error_path, "wb") as errors:
            self.process = subprocess.Popen(
                [*command, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=errors, env=self._env, cwd=self.folder)
        self._reader = threading.Thread(target=self._read_output, daemon=True)
        self._reader.start()
        Proxy.running.add(self)
        try:
            self._wait_until_running()
        except BaseException:
            self.kill()
            raise

    def _read_output(self):
        for line in self.process.stdout:
            with self._lines_changed:
                self.lines.append(line.decode("utf-8", "replace").rstrip("\n"))
                self._lines_changed.notify_all()
        with self._lines_changed:
            self._lines_changed.notify_all()

    def _wait_until_running(self):
        end = time.monotonic() + START_SECONDS
        with self._lines_changed:
            while "running" not in self.lines:
                if self.process.poll() is not None:
                    raise StartFailed(self.process.returncode, self.errors)
                assert time.monotonic() < end, f"not running in time: {self.lines} {self.errors}"
                self._lines_changed.wait(0.05)

    @property
    def pid(self):
        return self.process.pid

    @property
    def environment(self):
        return self._env

    @property
    def endpoints(self):
        """(scheme, port) of each listener, in the order they were printed."""
        found = (LISTENING.fullmatch(line.strip()) for line in self.lines)
        return [(match[1], int(match[3])) for match in found if match]

    @property
    def port(self):
        """The port of the first clear listener."""
        return next(port for scheme, port in self.endpoints if scheme == "http")

    @property
    def tls_port(self):
        return next(port for scheme, port in self.endpoints if scheme == "https")

    @property
    def errors(self):
        return self.error_path.read_text(encoding="utf-8", errors="replace")

    def _status(self, key):
        text = pathlib.Path(f"/proc/{self.pid}/status").read_text(encoding="ascii")
        return int(re.search(rf"^{key}:\s+(\d+)", text, re.MULTILINE)[1])

    @property
    def rss_bytes(self):
        return self._status("VmRSS") * 1024

    @property
    def threads(self):
        return self._status("Threads")

    @property
    def descriptors(self):
        return len(os.listdir(f"/proc/{self.pid}/fd"))

    def signal(self, number=signal.SIGTERM):
        self.process.send_signal(number)

    def wait(self, timeout=STOP_SECONDS):
        code = self.process.wait(timeout)
        self._reader.join(5)
        return code

    def is_alive(self):
        return self.process.poll() is None

    def stop(self):
        """Ends the process as an operator would, and checks that it went well."""
        if self not in Proxy.running:
            return
        try:
            if self.is_alive():
                self.signal()
                try:
                    self.wait()
                except subprocess.TimeoutExpired:
                    raise AssertionError(f"no end within {STOP_SECONDS} s of SIGTERM: {self.errors}") from None
            self.check_end()
        finally:
            self.kill()

    def check_end(self, code=0):
        report = SANITIZER_REPORT.search(self.errors)
        assert not report, self.errors[max(0, report.start() - 100):][:3000]
        assert self.process.returncode == code, (
            f"exit code {self.process.returncode}, expected {code}: {self.errors[-3000:]}")

    def kill(self):
        if self.is_alive():
            self.process.kill()
        self.wait()
        self.process.stdout.close()
        Proxy.running.discard(self)

    def wait_descriptors(self, most):
        """Waits until the process holds at most this many descriptors, e.g. after clients left."""
        wait_until(lambda: self.descriptors <= most, f"at most {most} descriptors")


def run_command(*arguments, folder, timeout=20, env=None, cwd=None):
    """Runs titanium to its end, e.g. `titanium version`."""
    return subprocess.run([find_binary(), *map(str, arguments)], capture_output=True, text=True,
                          timeout=timeout, env=environment(folder) | (env or {}), cwd=cwd or folder,
                          check=False, stdin=subprocess.DEVNULL)
