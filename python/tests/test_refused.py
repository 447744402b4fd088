"""Mistakes of a caller are errors of the package: the name, the value and what is allowed."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hardstand
import pytest
from conftest import SCENARIO

Call = Callable[[hardstand.Robot], Any]


@pytest.fixture(scope="module")
def free() -> Any:
    """A daemon that needs no controller, paused."""
    with hardstand.daemon(SCENARIO, "realtime", "realtime", set=["sim.start='now'"]) as robot:
        robot.wait_tick(1)
        robot.pause()
        yield robot


WHOLE = r"a whole number from 0 to 2\*\*64 - 1"
ORDERS: list[tuple[Call, str]] = [
    (lambda r: r.push("trunk", (0, 1, 0), ticks=-1), f"ticks is -1; it must be {WHOLE}"),
    (lambda r: r.push("trunk", (0, 1, 0), ticks=1.5), f"ticks is 1.5; it must be {WHOLE}"),
    (lambda r: r.push("trunk", (0, "x", 0), 0.1), "force is .*; it must be 3 numbers"),
    (lambda r: r.push("trunk", (0, 1, 0), "long"), "duration is 'long'; it must be a number"),
    (lambda r: r.push(3, (0, 1, 0), 0.1), "3 is no text"),
    (lambda r: r.step(1.5), "ticks is 1.5; it must be a whole number"),
    (lambda r: r.step("x"), "ticks is 'x'; it must be a whole number"),
    (lambda r: r.run_until(-1), f"ticks is -1; it must be {WHOLE}"),
    (lambda r: r.friction("a", 0.5), "mu_static is 'a'; it must be a number"),
    (lambda r: r.speed("fast"), "factor is 'fast'; it must be a number"),
    (lambda r: r.velocity(vx="fast"), "vx is 'fast'; it must be a number"),
    (lambda r: r.constraint("c", 300), "active is 300; it must be a whole number from 0 to 255"),
    (lambda r: r.fault("battery_sag", share="a"), "share is 'a'; it must be numbers"),
    (lambda r: next(r.states(join="a", period=-1)), "period is -1; it must be a whole number"),
    (lambda r: r.restore(b"HS"), "the saved state begins with b'HS'"),
    (lambda r: r.restore(Path("/nonexistent")), "saved state /nonexistent: No such file"),
    (lambda r: r.snapshot("/nonexistent/s"), "saved state /nonexistent/s: No such file"),
]


@pytest.mark.parametrize(("call", "words"), ORDERS)
def test_an_order_with_a_wrong_value_is_refused(
    free: hardstand.Robot, call: Call, words: str
) -> None:
    with pytest.raises(hardstand.HardstandError, match=words) as refused:
        call(free)
    assert refused.value.kind == ("file" if "No such" in words else "input")


def test_set_points_that_are_no_numbers_are_refused(free: hardstand.Robot) -> None:
    next(free.states(join="watch", role="observer", newest=True))
    states = free.states(join="legs", role="advisory")
    next(states)
    with pytest.raises(hardstand.Refused, match="q is 'up'; it must be a number"):
        free.command(q="up")


def test_a_closed_connection_is_an_error_of_the_package(free: hardstand.Robot) -> None:
    other = hardstand.connect("quadruped", free.bus.endpoint)
    other.close()
    calls: list[Call] = [
        lambda r: r.pause(), lambda r: r.status(), lambda r: r.state(),
        lambda r: next(r.states(join="legs")), lambda r: next(r.contacts()),
    ]
    for call in calls:
        with pytest.raises(hardstand.DaemonGone, match="the connection to .* is closed: connect"):
            call(other)
    with pytest.raises(hardstand.Refused, match="call it inside"):
        other.command(q=0)
    other.close()


def test_a_message_names_its_field() -> None:
    from hardstand import wire

    assert wire.pack("QB", a=1, b=True) == struct.pack("<QB", 1, 1)
    with pytest.raises(hardstand.Refused, match="b is None; it must be a number"):
        wire.pack("Qd", a=1, b=None)
