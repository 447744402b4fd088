"""The condition of the daemon, and its events."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from . import wire
from .bus import Bus
from .errors import HardstandError
from .state import AUTHORITIES, MODES, PHASES, named

_NONE = 0xFFFF_FFFF


@dataclass(frozen=True)
class Distribution:
    """Percentiles of a quantity since the daemon started, ns or ticks, and counts by size."""

    p50: int
    p99: int
    p99_9: int
    p99_99: int
    max: int
    counts: tuple[int, ...]


@dataclass(frozen=True)
class Joined:
    """A controller that has joined."""

    name: str
    role: str
    session: int
    period_ticks: int
    phase_ticks: int
    offset_ticks: int
    joints: int


@dataclass(frozen=True)
class Status:
    """The condition of the daemon; docs/protocol.md describes each field."""

    run_id: int
    tick: int
    time_ns: int
    period_ns: int
    mode: str
    phase: str
    failure: int
    authority: str
    command_age_ticks: int | None
    command_session: int
    speed: float
    real_time_factor: float
    fifo_priority: int
    core: int | None
    memory_locked: bool
    wakeup_latency_ns: Distribution
    tick_cost_ns: Distribution
    applied_age_ticks: Distribution
    counters: dict[str, int]
    refused: tuple[str, ...]
    controllers: tuple[Joined, ...]
    missing: tuple[str, ...]


ROLES = ("required", "advisory", "observer")


def _distribution(r: wire.Reader) -> Distribution:
    p50, p99, p99_9, p99_99, most = r.take("5Q")
    counts = tuple(int(r.take("Q")) for _ in range(r.count()))
    return Distribution(p50, p99, p99_9, p99_99, most, counts)


def read_status(data: bytes) -> Status:
    """The status in a message."""
    wire.check(data, wire.STATUS, "the status")
    r = wire.Reader(data, 4)
    run_id, tick, time_ns, period_ns = r.take("I3Q")
    mode, phase, failure, authority = r.take("4B")
    age, session, speed, factor, priority, core, locked = r.take("IQ2dBIB")
    wakeup, cost, ages = _distribution(r), _distribution(r), _distribution(r)
    counters = {r.text(): int(r.take("Q")) for _ in range(r.count())}
    refused = tuple(r.text() for _ in range(r.count()))
    controllers = []
    for _ in range(r.count()):
        name = r.text()
        role, *numbers = r.take("B4QI")
        controllers.append(Joined(name, str(named(ROLES, role)), *numbers))
    missing = tuple(r.text() for _ in range(r.count()))
    return Status(
        run_id=run_id, tick=tick, time_ns=time_ns, period_ns=period_ns,
        mode=str(named(MODES, mode)), phase=str(named(PHASES, phase)), failure=failure,
        authority=str(named(AUTHORITIES, authority)),
        command_age_ticks=None if age == _NONE else age, command_session=session, speed=speed,
        real_time_factor=factor, fifo_priority=priority, core=None if core == _NONE else core,
        memory_locked=bool(locked), wakeup_latency_ns=wakeup, tick_cost_ns=cost,
        applied_age_ticks=ages, counters=counters, refused=refused,
        controllers=tuple(controllers), missing=missing,
    )


@dataclass(frozen=True)
class Event:
    """Something that happened in a tick.

    Attributes:
        run_id: number of the run.
        tick: the tick in which it happened: the state before it has this number.
        time: of that state, s.
        kind: `"join"`, `"leave"`, `"stop"`, `"arm"`, `"push"`, `"friction"`, `"fault"`,
            `"clear"`, `"conflict"`, `"gave_up"`, `"plant_failure"`, `"lost"`, `"order"`; of this
            package itself also `"rejoined"`.
        controller: name of the controller concerned, or empty.
        asker: of an order: its sender, or empty.
        text: description for people.
    """

    run_id: int
    tick: int
    time: float
    kind: str
    controller: str
    asker: str
    text: str


def read_event(data: bytes) -> Event:
    """The event in a message."""
    wire.check(data, wire.EVENT, "an event")
    r = wire.Reader(data, 4)
    run_id, tick, time_ns = r.take("I2Q")
    return Event(run_id, tick, time_ns * 1e-9, r.text(), r.text(), r.text(), r.text())


Test = Callable[[Event], bool]


class Events:
    """The newest events of the daemon (1000 at most), oldest first. Iterating gives those that are
    there; `wait` waits for one."""

    def __init__(self, kept: int = 1000) -> None:
        self._events: deque[Event] = deque(maxlen=kept)
        self._changed = threading.Condition()

    def add(self, event: Event) -> None:
        """Adds an event, and wakes those that wait."""
        with self._changed:
            self._events.append(event)
            self._changed.notify_all()

    def __iter__(self) -> Iterator[Event]:
        with self._changed:
            return iter(tuple(self._events))

    def __len__(self) -> int:
        return len(self._events)

    def __getitem__(self, at: int) -> Event:
        with self._changed:
            return self._events[at]

    def find(
        self, kind: str | None = None, controller: str | None = None, test: Test | None = None
    ) -> Event | None:
        """The newest event of this kind and controller for which `test` holds, or None."""
        for event in reversed(tuple(self)):
            fits = kind in (None, event.kind) and controller in (None, event.controller)
            if fits and (test is None or test(event)):
                return event
        return None

    def wait(
        self,
        kind: str | None = None,
        timeout: float = 5.0,
        controller: str | None = None,
        test: Test | None = None,
    ) -> Event | None:
        """The same, and waits up to `timeout` s if there is none yet. None if none has come."""
        until = time.monotonic() + timeout
        with self._changed:
            while (found := self.find(kind, controller, test)) is None:
                left = until - time.monotonic()
                if left <= 0 or not self._changed.wait(left):
                    return self.find(kind, controller, test)
        return found


def owner_now(bus: Bus) -> str:
    """Who commands the robot now, for messages: controllers by name, or a session's number."""
    try:
        now = read_status(bus.ask("status", None, 1.0))
    except HardstandError as e:
        return f"unknown ({e})"
    names = [f'"{c.name}" ({c.joints} joints)' for c in now.controllers if c.joints]
    if names:
        return ", ".join(names)
    return f"session {now.command_session:016x}" if now.command_session else "none"
