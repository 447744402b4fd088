"""Several iterations over states of one connection."""

from __future__ import annotations

import asyncio

import hardstand
import pytest


def test_a_refused_join_leaves_the_first_controller_in_command(robot: hardstand.Robot) -> None:
    states = robot.states(join="legs", joints=["FL_*"])
    for state in states:
        robot.command(q=robot.q_initial, kp=100, kd=3)
        if state.tick == 10:
            break
    for name in ("other", "legs"):
        with pytest.raises(hardstand.Refused):
            next(robot.states(join=name, period=10**9))
    with pytest.raises(hardstand.Refused, match="nose"):
        next(robot.states(join="other", joints=["nose"]))
    assert len(robot.joints) == 3
    robot.command(q=robot.q_initial, kp=100, kd=3)
    for state in states:
        robot.command(q=robot.q_initial, kp=100, kd=3)
        if state.tick == 30:
            break
    assert state.tick == 30 and state.authority == "fresh"


def test_an_observer_does_not_take_the_command(robot: hardstand.Robot) -> None:
    states = robot.states(join="legs")
    state = next(states)
    watched = robot.states(join="watcher", role="observer")
    seen = next(watched).tick
    for _ in range(20):
        robot.command(q=robot.q_initial, kp=100, kd=3)
        state = next(states)
        seen = next(watched).tick
    assert state.tick == 20 and seen > 0 and len(robot.joints) == 12


def test_two_controllers_of_one_connection_answer_their_own_states(
    robot: hardstand.Robot,
) -> None:
    front = robot.states(join="front", joints=["F*"])
    rear = robot.states(join="rear", joints=["R*"])
    ticks = []
    next(front)
    robot.command(q=robot.q_initial, kp=100, kd=3)
    next(rear)
    robot.command(q=robot.q_initial, kp=100, kd=3)
    for _ in range(10):
        for states, first in ((front, "FL"), (rear, "RL")):
            ticks.append(next(states).tick)
            assert len(robot.joints) == 6 and robot.joints[0].startswith(first)
            robot.command(q=robot.q_initial, kp=100, kd=3)
    assert ticks[-1] >= 9


def test_what_is_not_published_is_named(robot: hardstand.Robot) -> None:
    with pytest.raises(hardstand.DaemonGone, match="no message on hardstand/quadruped/drives for"):
        next(robot.drives(patience=0.1))
    with pytest.raises(hardstand.DaemonGone, match=r"quadruped/state for 0\.3 s"):
        robot.wait_tick(10**9, timeout=0.3)


def test_asyncio_has_what_a_robot_has(robot: hardstand.Robot) -> None:
    public = [name for name in dir(hardstand.Robot) if not name.startswith("_")]
    internal = {"begin", "end", "ended", "give", "gone", "is_next", "join", "listen", "unlisten"}
    missing = [name for name in public if not hasattr(hardstand.AsyncRobot, name)]
    assert set(missing) == internal

    async def watch() -> int:
        async with hardstand.connect_async("quadruped", robot.bus.endpoint) as other:
            contacts = other.contacts()
            task = asyncio.ensure_future(anext(contacts))
            async for state in other.states(join="legs"):
                assert other.joints == tuple(other.model.joints) and other.index.tolist()[0] == 0
                assert other.in_force.shape == (12,) and other.losses == 0
                if state.tick == 20:
                    await other.velocity(0.1)
                if state.tick > 50 and task.done():
                    break
                other.command(q=other.q_initial, kp=100, kd=3)
            assert task.result().feet.shape == (4,)
            with pytest.raises(hardstand.DaemonGone, match="no message on .*/drives for"):
                await anext(other.drives(patience=0.1))
            return state.tick

    assert asyncio.run(watch()) > 50
