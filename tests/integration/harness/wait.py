# SPDX-License-Identifier: MIT
"""Waiting for something that another process does: poll with a deadline, never a hopeful sleep."""

import os
import socket
import time

# Everything here happens on one machine; what takes longer than this has failed.
DEADLINE_SECONDS = 20.0


def wait_until(condition, what, timeout=DEADLINE_SECONDS):
    """Returns the first true value of condition(); fails the test if there is none in time."""
    end = time.monotonic() + timeout
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError(f"not within {timeout} s: {what}")
        time.sleep(0.005)


def wait_stable(read, what, quiet=0.4, timeout=DEADLINE_SECONDS):
    """Returns the value of read() once it has not changed for `quiet` seconds."""
    end = time.monotonic() + timeout
    value, since = read(), time.monotonic()
    while time.monotonic() - since < quiet:
        if time.monotonic() > end:
            raise AssertionError(f"still changing after {timeout} s: {what} (now {value})")
        time.sleep(0.01)
        now = read()
        if now != value:
            value, since = now, time.monotonic()
    return value


def free_port():
    """A port that was free just now, for programs that cannot listen on port 0."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def is_full_scale():
    """TITANIUM_SCALE=full runs the sizes of the specification instead of those that fit in CI."""
    return os.environ.get("TITANIUM_SCALE", "ci") == "full"


def scaled(ci, full):
    return full if is_full_scale() else ci
