"""The same client for asyncio: `hardstand.connect_async`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, TypeVar

import numpy as np
import numpy.typing as npt

from .client import Robot, connect, states_of
from .listener import PATIENCE
from .setpoints import Values
from .state import Bodies, Contacts, Drives, Sensors, State

T = TypeVar("T")
P = ParamSpec("P")
R = TypeVar("R")


class _AsyncInbox:
    """Messages that wait for a reader in the event loop."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._queue: asyncio.Queue[bytes | None] = asyncio.Queue()

    def put(self, data: bytes | None) -> None:
        """Adds a message, from any thread."""
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._queue.put_nowait, data)

    async def get(self, timeout: float) -> bytes | None:
        """The oldest message; raises TimeoutError after `timeout` s without one."""
        if not self._queue.empty():
            return self._queue.get_nowait()
        try:
            return await asyncio.wait_for(self._queue.get(), timeout)
        except asyncio.TimeoutError:
            raise TimeoutError from None

    def empty(self) -> bool:
        """True if no message waits."""
        return self._queue.empty()


def _in_a_thread(
    method: Callable[Concatenate[Robot, P], R],
) -> Callable[Concatenate[AsyncRobot, P], Coroutine[Any, Any, R]]:
    async def call(self: AsyncRobot, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return await asyncio.to_thread(method, self.robot, *args, **kwargs)

    call.__doc__ = method.__doc__
    return call


class AsyncRobot:
    """A robot in a running daemon, for asyncio. Use it in `async with`.

    Its methods are those of `Robot`; those that wait for the daemon are coroutines. `robot` is the
    `Robot` itself.
    """

    def __init__(self, robot: Robot) -> None:
        self.robot = robot
        self.model = robot.model
        self.events = robot.events

    @property
    def q_initial(self) -> npt.NDArray[np.float64]:
        """As `Robot.q_initial`."""
        return self.robot.q_initial

    @property
    def index(self) -> npt.NDArray[np.intp]:
        """As `Robot.index`."""
        return self.robot.index

    @property
    def joints(self) -> tuple[str, ...]:
        """As `Robot.joints`."""
        return self.robot.joints

    @property
    def in_force(self) -> npt.NDArray[Any]:
        """As `Robot.in_force`."""
        return self.robot.in_force

    @property
    def losses(self) -> int:
        """As `Robot.losses`."""
        return self.robot.losses

    @property
    def skipped(self) -> int:
        """As `Robot.skipped`."""
        return self.robot.skipped

    def command(
        self, q: Values | None = None, dq: Values | None = None, kp: Values | None = None,
        kd: Values | None = None, tau: Values | None = None,
    ) -> None:
        """As `Robot.command`; it does not wait."""
        self.robot.command(q, dq, kp, kd, tau)

    async def states(
        self,
        join: str | None = None,
        *,
        joints: Sequence[str] | None = None,
        period: int = 1,
        phase: int = 0,
        offset: int = 0,
        role: str = "required",
        newest: bool | None = None,
        patience: float = PATIENCE,
    ) -> AsyncIterator[State]:
        """As `Robot.states`."""
        inbox, robot, stream = _AsyncInbox(), self.robot, None
        subscriber = await asyncio.to_thread(robot.listen, inbox.put, states_of(join))
        try:
            stream = robot.begin(join, joints, period, phase, offset, role, patience)
            await asyncio.to_thread(robot.join, stream)
            while (data := await self._next(inbox, patience)) is not None:
                state = State(data)
                if stream.must_join(state):
                    await asyncio.to_thread(stream.join_again, state)
                if robot.is_next(stream, state, inbox.empty(), newest):
                    yield robot.give(stream)
            robot.on_end()
        finally:
            robot.ended(stream)
            robot.unlisten(inbox.put, subscriber)

    async def _next(
        self, inbox: _AsyncInbox, patience: float, name: str = "state"
    ) -> bytes | None:
        try:
            return await inbox.get(patience)
        except TimeoutError:
            raise self.robot.gone(patience, name) from None

    async def _published(
        self, name: str, read: Callable[[bytes], T], patience: float
    ) -> AsyncIterator[T]:
        inbox, robot = _AsyncInbox(), self.robot
        subscriber = await asyncio.to_thread(robot.listen, inbox.put, name)
        try:
            while (data := await self._next(inbox, patience, name)) is not None:
                yield read(data)
            robot.on_end()
        finally:
            robot.unlisten(inbox.put, subscriber)

    def drives(self, patience: float = PATIENCE) -> AsyncIterator[Drives]:
        """As `Robot.drives`."""
        return self._published("drives", Drives, patience)

    def sensors(self, patience: float = PATIENCE) -> AsyncIterator[Sensors]:
        """As `Robot.sensors`."""
        return self._published("sensors", Sensors, patience)

    def bodies(self, patience: float = PATIENCE) -> AsyncIterator[Bodies]:
        """As `Robot.bodies`."""
        return self._published("bodies", lambda data: Bodies(data, self.model), patience)

    def contacts(self, patience: float = PATIENCE) -> AsyncIterator[Contacts]:
        """As `Robot.contacts`."""
        stations = len(self.model.stations)
        return self._published("contacts", lambda data: Contacts(data, stations), patience)

    close = _in_a_thread(Robot.close)
    pause = _in_a_thread(Robot.pause)
    resume = _in_a_thread(Robot.resume)
    step = _in_a_thread(Robot.step)
    run_until = _in_a_thread(Robot.run_until)
    reset = _in_a_thread(Robot.reset)
    speed = _in_a_thread(Robot.speed)
    stop = _in_a_thread(Robot.stop)
    arm = _in_a_thread(Robot.arm)
    snapshot = _in_a_thread(Robot.snapshot)
    restore = _in_a_thread(Robot.restore)
    push = _in_a_thread(Robot.push)
    friction = _in_a_thread(Robot.friction)
    velocity = _in_a_thread(Robot.velocity)
    constraint = _in_a_thread(Robot.constraint)
    reset_anchors = _in_a_thread(Robot.reset_anchors)
    fault = _in_a_thread(Robot.fault)  # type: ignore[arg-type]
    clear = _in_a_thread(Robot.clear)
    status = _in_a_thread(Robot.status)
    urdf = _in_a_thread(Robot.urdf)
    leave = _in_a_thread(Robot.leave)
    state = _in_a_thread(Robot.state)
    wait_tick = _in_a_thread(Robot.wait_tick)


class connect_async:  # noqa: N801 - it is used like a function
    """Connects as `hardstand.connect` does: `async with hardstand.connect_async("quadruped") as
    robot`, or `robot = await hardstand.connect_async("quadruped")`."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._given = args, kwargs
        self._robot: AsyncRobot | None = None

    async def _connect(self) -> AsyncRobot:
        args, kwargs = self._given
        return AsyncRobot(await asyncio.to_thread(connect, *args, **kwargs))

    def __await__(self) -> Any:
        return self._connect().__await__()

    async def __aenter__(self) -> AsyncRobot:
        self._robot = await self._connect()
        return self._robot

    async def __aexit__(
        self, kind: type[BaseException] | None, e: BaseException | None, at: TracebackType | None
    ) -> None:
        assert self._robot is not None
        await self._robot.close()
