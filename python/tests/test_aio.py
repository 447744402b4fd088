"""The client for asyncio."""

from __future__ import annotations

import asyncio
from pathlib import Path

import hardstand
import pytest


def test_asyncio_gives_the_same_run(scenario: Path) -> None:
    async def control(endpoint: str) -> int:
        async with hardstand.connect_async("quadruped", endpoint) as robot:
            async for state in robot.states(join="legs"):
                robot.command(q=robot.q_initial, kp=100, kd=3)
                if state.tick == 20:
                    assert (await robot.status()).mode == "lockstep"
                    await robot.push("trunk", (0, 0, 0), ticks=1)
                if state.tick == 100:
                    return state.digest
        return 0

    digests = []
    for _ in range(2):
        with hardstand.daemon(scenario) as robot:
            digests.append(asyncio.run(control(robot.bus.endpoint)))
    with hardstand.daemon(scenario) as robot:
        for state in robot.states(join="legs"):
            robot.command(q=robot.q_initial, kp=100, kd=3)
            if state.tick == 20:
                robot.push("trunk", (0, 0, 0), ticks=1)
            if state.tick == 100:
                digests.append(state.digest)
                break
    assert digests[0] == digests[1] == digests[2] != 0


def test_a_stopped_daemon_is_an_error_in_asyncio(scenario: Path) -> None:
    async def control() -> None:
        with hardstand.daemon(scenario) as inner:
            robot = await hardstand.connect_async("quadruped", inner.bus.endpoint)
            states = robot.states(join="legs", patience=0.5)
            await anext(states)
        with pytest.raises(hardstand.DaemonGone, match="no state on"):
            async for _state in states:
                pass
        await robot.close()

    asyncio.run(control())
