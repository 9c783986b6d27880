# SPDX-License-Identifier: MIT
"""The command: help, exit codes, checking a configuration, and what it says when it cannot start."""

import json
import os
import re
import socket
import subprocess

import pytest
from harness.origin import ScriptedOrigin
from harness.proxy import StartFailed, environment, forward_to, merged, run_command
from harness.raw import simple_get
from harness.wait import free_port, wait_until

COMMANDS = ["run", "test", "version", "help"]


@pytest.fixture
def run(titanium, tmp_path):
    return lambda *arguments, **options: run_command(*arguments, folder=tmp_path, **options)


@pytest.fixture
def write(tmp_path):
    def write_config(text, name="twp.yaml"):
        path = tmp_path / name
        path.write_text(text if isinstance(text, str) else json.dumps(text, indent=2), encoding="utf-8")
        return path
    return write_config


@pytest.mark.parametrize("arguments", [["help"], ["--help"], ["-h"]])
def test_help_names_every_command(run, arguments):
    done = run(*arguments)
    assert done.returncode == 0
    assert all(re.search(rf"\b{command}\b", done.stdout) for command in COMMANDS)


@pytest.mark.parametrize("command", ["run", "test", "version"])
@pytest.mark.parametrize("form", ["--help", "help"])
def test_every_command_has_help(run, command, form):
    done = run("help", command) if form == "help" else run(command, "--help")
    assert done.returncode == 0
    assert command in done.stdout


def test_help_of_run_and_test_names_their_options(run):
    for command, options in (("run", ["-c", "--config", "-v", "--verbose"]), ("test", ["-c", "--strict"])):
        text = run(command, "--help").stdout
        assert all(option in text for option in options), text


def test_version(run):
    done = run("version")
    assert done.returncode == 0
    assert re.search(r"\btitanium\b.*\d+\.\d+", done.stdout.splitlines()[0])


@pytest.mark.parametrize("arguments", [
    ["nonsense"], ["run", "--nonsense"], ["run", "-c"], ["test"], ["help", "nonsense"], ["run", "extra"], ["--nonsense"], [],
])
def test_wrong_usage_exits_with_2_and_says_how(run, arguments):
    done = run(*arguments)
    assert done.returncode == 2
    assert done.stderr or done.stdout


GOOD = """\
listeners:
  - host: 127.0.0.1
    port: 0
    type: transparent
    forwardHost: 127.0.0.1
    forwardPort: 9
server:
  timeouts:
    connectTimeOutSeconds: 1.5
"""


def test_a_good_file_passes(run, write):
    for arguments in (["--strict"], []):
        done = run("test", "-c", write(GOOD), *arguments)
        assert done.returncode == 0, done.stderr


def diagnostics(text, path):
    """[(line, column, severity, message)] of all lines in the agreed form."""
    form = re.compile(rf"(?:.*/)?{re.escape(path.name)}:(\d+):(\d+): (error|warning): (.+)")
    found = (form.fullmatch(line) for line in text.splitlines())
    return [(int(match[1]), int(match[2]), match[3], match[4]) for match in found if match]


def test_all_errors_of_a_file_are_reported_at_once(run, write):
    path = write("""\
listeners:
  - host: 127.0.0.1
    port: 70000
    type: sideways
    forwardHost: a
routes:
  - id: r
    clusterId: nowhere
clusters:
  - id: c
    algorithm: Best
    destinations: []
server:
  timeouts:
    connectTimeOutSeconds: soon
""")
    done = run("test", "-c", path)
    assert done.returncode == 1
    errors = {line: message for line, _, severity, message in diagnostics(done.stderr, path) if severity == "error"}
    assert {3, 4, 8, 11, 15} <= set(errors), done.stderr
    assert "70000" in errors[3] or "65535" in errors[3]
    assert "sideways" in errors[4] or "transparent" in errors[4]
    assert "nowhere" in errors[8]
    assert "RoundRobin" in errors[11] or "Best" in errors[11]


def test_a_position_points_at_the_key_or_its_value(run, write):
    path = write(GOOD.replace("port: 0", "port: no"))
    (line, column, severity, _), = diagnostics(run("test", "-c", path).stderr, path)
    assert (line, severity) == (3, "error")
    assert column in (5, 11)


def test_an_unknown_key_is_a_warning_with_the_nearest_key_and_an_error_if_strict(run, write):
    path = write(GOOD.replace("forwardPort", "forwardPrt").replace("connectTimeOutSeconds", "conectTimeOutSeconds"))
    relaxed, strict = run("test", "-c", path), run("test", "-c", path, "--strict")
    assert relaxed.returncode == 0, relaxed.stderr
    assert strict.returncode == 1
    for done in (relaxed, strict):
        messages = {line: message for line, _, _, message in diagnostics(done.stderr, path)}
        assert "forwardPort" in messages[6]
        assert "connectTimeOutSeconds" in messages[9]


@pytest.mark.parametrize("text", ["listeners: [", "a: b: c", "\tx: 1\n", "listeners:\n  - a\n b: c\n"])
def test_a_file_that_is_not_yaml_has_a_position(run, write, text):
    path = write(text)
    done = run("test", "-c", path)
    assert done.returncode == 1
    assert diagnostics(done.stderr, path), done.stderr


@pytest.mark.parametrize("command", ["run", "test"])
def test_a_missing_file_is_named(run, command):
    done = run(command, "-c", "no-such-file.yaml")
    assert done.returncode == 1
    assert "no-such-file.yaml" in done.stderr


def test_run_refuses_a_bad_file_like_test_does(run, write):
    path = write(GOOD.replace("port: 0", "port: no"))
    done = run("run", "-c", path)
    assert done.returncode == 1
    assert diagnostics(done.stderr, path)
    assert "listening" not in done.stdout


def test_a_missing_certificate_file_is_reported(run, write, origin):
    config = forward_to(origin, decryptSsl=True)
    config["certificates"] = {"certificatePath": "missing.pem", "privateKeyPath": "missing.key"}
    for command in ("test", "run"):
        done = run(command, "-c", write(config))
        assert done.returncode == 1
        assert "missing.pem" in done.stderr


def test_a_taken_port_is_explained(run, write, origin):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = run("run", "-c", write(forward_to(origin, port=port)))
    assert done.returncode == 1
    assert str(port) in done.stderr
    assert f"pid {os.getpid()}" in done.stderr or str(os.getpid()) in done.stderr, "the owner is known"
    assert "port" in done.stderr


def test_a_taken_port_of_the_default_says_how_to_change_it(run):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = run("run", "--port", port, "--tls-port", 0)
    assert done.returncode == 1
    assert str(port) in done.stderr
    assert "--port" in done.stderr


def test_two_proxies_cannot_share_a_port(start_proxy, origin):
    """SO_REUSEPORT lets workers share a port, not two processes by mistake."""
    first = start_proxy(forward_to(origin))
    with pytest.raises(StartFailed) as caught:
        start_proxy(forward_to(origin, port=first.port))
    assert caught.value.code == 1
    assert str(first.port) in caught.value.errors


def test_a_port_is_free_again_right_after_a_stop(start_proxy, origin):
    first = start_proxy(forward_to(origin))
    port = first.port
    assert simple_get(port).status == 200
    first.stop()
    second = start_proxy(forward_to(origin, port=port))
    assert second.port == port
    assert simple_get(port).status == 200


def test_relative_paths_start_at_the_folder_of_the_file(run, write, tmp_path, localhost_pair, origin, start_proxy):
    folder = tmp_path / "conf"
    (folder / "certs").mkdir(parents=True)
    for name, source in (("a.pem", localhost_pair.certificate), ("a.key", localhost_pair.key)):
        (folder / "certs" / name).write_bytes(open(source, "rb").read())
    config = forward_to(origin, tls_pair=localhost_pair, server={"accessLog": {"path": "access.ndjson"}})
    config["certificates"] = {"certificatePath": "certs/a.pem", "privateKeyPath": "certs/a.key"}
    path = write(config, "conf/twp.yaml")
    assert run("test", "-c", path).returncode == 0
    assert run("test", "-c", "conf/twp.yaml").returncode == 0
    proxy = start_proxy(arguments=["-c", str(path)])
    simple_get(proxy.port)
    wait_until((folder / "access.ndjson").exists, "the access log beside the file")


def test_one_line_for_each_listener(start_proxy, origin, localhost_pair):
    config = forward_to(origin, tls_pair=localhost_pair)
    config["listeners"].append(dict(config["listeners"][0]))
    proxy = start_proxy(config)
    assert [scheme for scheme, _ in proxy.endpoints] == ["http", "https", "http"]
    assert len({port for _, port in proxy.endpoints}) == 3
    assert proxy.lines[-1] == "running"


def test_verbose_says_more(start_proxy, origin):
    quiet, loud = (start_proxy(forward_to(origin), arguments=arguments) for arguments in ([], ["-v"]))
    for proxy in (quiet, loud):
        simple_get(proxy.port)
    # The log has a thread of its own: the line may come a moment after the answer.
    wait_until(lambda: " GET http" in loud.errors, "the exchange in the log")
    assert " GET http" not in quiet.errors


def test_a_log_file_is_written_where_the_configuration_says(start_proxy, tmp_path):
    log = tmp_path / "titanium.log"
    with ScriptedOrigin() as origin:
        config = merged(forward_to(origin), {"logging": {"enabled": True, "minimumLevel": "Debug", "enableConsole": False,
                                                         "enableFile": True, "filePath": str(log)}})
        proxy = start_proxy(config)
        simple_get(proxy.port)
        proxy.stop()
    assert log.read_text(encoding="utf-8").strip()
    assert all("draining" in line for line in proxy.errors.splitlines()), "the log is in the file only"


@pytest.mark.parametrize("text", ["server: {}\n", "listeners: []\n", ""])
def test_a_configuration_without_listeners_is_explained(run, write, text):
    done = run("test", "-c", write(text))
    assert done.returncode == 1
    assert "listeners" in done.stderr


def test_a_config_file_may_have_comments_and_anchors(run, write):
    done = run("test", "--strict", "-c", write("# A comment\n" + GOOD.replace("port: 0", "port: 0  # free")))
    assert done.returncode == 0, done.stderr


def test_output_to_a_closed_pipe_does_not_kill_the_proxy(titanium, tmp_path, origin, write):
    port = free_port()
    path = write(forward_to(origin, port=port))
    process = subprocess.Popen([titanium, "run", "-c", str(path)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                               env=environment(tmp_path))
    try:
        assert process.stdout.readline().startswith(b"listening on ")
        process.stdout.close()
        wait_until(lambda: simple_get(port).status == 200, "an answer")
        process.terminate()
        assert process.wait(15) == 0
    finally:
        process.kill()
        process.wait()
