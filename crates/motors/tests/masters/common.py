"""Starts the example `virtual_motors` and talks to it. Exit status 77 is "skipped"."""

import contextlib
import math
import subprocess
import sys
import time


def skip(reason):
    print(f"SKIPPED: {reason}")
    sys.exit(77)


def need(package):
    """Imports a package, or skips."""
    try:
        return __import__(package)
    except ImportError as error:
        skip(f"pip install {package.replace('_', '-')} ({error})")


class Motors:
    """The running example."""

    def __init__(self, *arguments):
        self.process = subprocess.Popen(
            [sys.argv[1], *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.kind, self.address = self.process.stdout.readline().split()

    def order(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().strip()
        assert answer and not answer.startswith("error"), answer
        return answer

    def close(self):
        self.process.stdin.close()
        assert self.process.wait(10) == 0


@contextlib.contextmanager
def motors(*arguments):
    running = Motors(*arguments)
    try:
        yield running
    except BaseException:
        running.process.kill()
        raise
    running.close()


def near(value, expected, tolerance, what):
    assert value is not None and math.isfinite(value), f"{what}: {value}"
    assert abs(value - expected) <= tolerance, f"{what}: {value}, not {expected} +- {tolerance}"


class Settling:
    """Fed with readings: `done` once 60 in a row are near the expected value. It gives up after
    30 s, which only a slow machine needs."""

    def __init__(self, expected, tolerance, what):
        self.expected, self.tolerance, self.what = expected, tolerance, what
        self.begin, self.count = time.monotonic(), 0

    def done(self, value):
        inside = value is not None and abs(value - self.expected) <= self.tolerance
        self.count = self.count + 1 if inside else 0
        if time.monotonic() - self.begin > 30.0:
            near(value, self.expected, self.tolerance, self.what)
        return self.count >= 60


def settle(step, expected, tolerance, what):
    """Calls `step`, which commands and gives a reading, until it has settled."""
    settling = Settling(expected, tolerance, what)
    while not settling.done(step()):
        time.sleep(0.004)


def until(done, what, patience_s=20.0):
    """Calls `done` until it is true. Patience is for slow machines only."""
    begin = time.monotonic()
    while not (result := done()):
        assert time.monotonic() - begin < patience_s, f"timed out: {what}"
        time.sleep(0.005)
    return result
