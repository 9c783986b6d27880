# SPDX-License-Identifier: MIT
"""Fixtures that all suites share. The proxy is a real process, the origins are threads of ours."""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))

from harness.certs import TestAuthority  # noqa: E402
from harness.origin import ScriptedOrigin  # noqa: E402
from harness.proxy import Proxy, find_binary  # noqa: E402

TIMEOUT_SECONDS = 60
LOG_LINES = 80


def pytest_collection_modifyitems(items):
    for item in items:
        if item.get_closest_marker("timeout") is None:
            item.add_marker(pytest.mark.timeout(TIMEOUT_SECONDS))


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """Shows what the proxies said, below a failure."""
    outcome = yield
    report = outcome.get_result()
    if not report.failed:
        return
    for number, proxy in enumerate(Proxy.running):
        tail = "\n".join([*proxy.lines, *proxy.errors.splitlines()][-LOG_LINES:])
        state = "alive" if proxy.is_alive() else f"ended with {proxy.process.returncode}"
        report.sections.append((f"titanium {number} ({state}, {proxy.folder})", tail))


def _start_with(folder, request_finalizer):
    count = 0

    def start(config=None, **options):
        nonlocal count
        count += 1
        proxy = Proxy(folder / f"proxy{count}", config, **options)
        request_finalizer(proxy.stop)
        return proxy
    return start


@pytest.fixture(scope="session")
def titanium():
    """The path of the binary. Without it there is nothing to test, and that is a failure."""
    binary = find_binary()
    if binary is None:
        pytest.exit("no titanium binary: build it, or name it in TITANIUM_BIN", returncode=3)
    yield binary
    for proxy in list(Proxy.running):
        proxy.kill()


@pytest.fixture
def start_proxy(titanium, tmp_path, request):
    """start_proxy(config) gives a running proxy that ends with the test."""
    return _start_with(tmp_path, request.addfinalizer)


@pytest.fixture(scope="module")
def start_shared_proxy(titanium, tmp_path_factory, request):
    """The same for a proxy that the tests of one file share."""
    return _start_with(tmp_path_factory.mktemp("shared"), request.addfinalizer)


def _origins(request):
    made = []

    def start(handler=None, **options):
        origin = ScriptedOrigin(handler, **options)
        made.append(origin)
        return origin

    def finish():
        for origin in made:
            origin.stop()
        for origin in made:
            origin.check()
    request.addfinalizer(finish)
    return start


@pytest.fixture
def start_origin(request):
    """start_origin(handler) gives an origin that ends with the test."""
    return _origins(request)


@pytest.fixture(scope="module")
def start_shared_origin(request):
    return _origins(request)


@pytest.fixture
def origin(start_origin):
    return start_origin()


@pytest.fixture(scope="session")
def authority(tmp_path_factory):
    """A CA of the test run."""
    return TestAuthority(tmp_path_factory.mktemp("ca"))


@pytest.fixture(scope="session")
def other_authority(tmp_path_factory):
    """A CA that nobody trusts."""
    return TestAuthority(tmp_path_factory.mktemp("other-ca"), "Somebody Else's CA")


@pytest.fixture(scope="session")
def localhost_pair(authority):
    return authority.leaf("localhost", "127.0.0.1")
