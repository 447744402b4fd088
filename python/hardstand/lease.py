"""The lease of a controller that has joined. docs/protocol.md, Joining; crates/client/src/joined.rs
is the same in Rust."""

from __future__ import annotations

import logging
import struct
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from . import wire
from .bus import Bus, order_tick
from .errors import Busy, HardstandError, Lost, Refused
from .model import Model, read_model
from .setpoints import Command
from .state import State
from .status import ROLES, Event, Events, owner_now

log = logging.getLogger("hardstand")

#: Newest answers, kept to be sent again.
ANSWERS_KEPT = 64
#: Least time between two requests to join, and the most that it grows to in vain, s.
JOINS_APART, JOINS_APART_MAX = 0.2, 5.0
#: The event `lost` comes at most this long after the state that shows it, s.
EVENT_WITHIN = 0.1


class Lease:
    """Joints and a schedule of one controller. It answers each state of its schedule once; if the
    daemon repeats a state because the answer was lost, the same answer is sent again."""

    def __init__(
        self,
        bus: Bus,
        model: Model,
        events: Events,
        name: str,
        joints: Sequence[str] | None,
        *,
        period: int = 1,
        phase: int = 0,
        offset: int = 0,
        role: str = "required",
        session: int | None = None,
        patience: float = 5.0,
    ) -> None:
        if role not in ROLES:
            raise Refused(f'role "{role}" must be one of {", ".join(ROLES)}')
        self.bus, self.model, self.events, self.name = bus, model, events, name
        self.period, self.phase, self.offset, self.role = period, phase, offset, role
        self.patience = patience
        none = np.zeros(0, np.intp)
        self.index = none if role == "observer" else model.index(joints)
        self.command = Command(model, self.index)
        self.session = session or wire.random_number()
        self.losses = 0
        self.asked: State | None = None
        self.in_force = wire.set_points(0)
        self.run_id, self.first_tick, self._newest = 0, 0, 0
        self._answers: dict[int, bytes] = {}
        self._seq = 0
        self._joined_at, self._joins_apart = 0.0, JOINS_APART
        self._publisher = bus.publisher("cmd")
        alive = bus.key(f"alive/{wire.public_session(self.session):016x}")
        self._alive: Any = bus.session.liveliness().declare_token(alive)

    def join(self) -> None:
        """Joins the current run. Raises `Refused` with the daemon's reason, or `Busy`."""
        model = read_model(self.bus.ask("model", None, self.patience))
        if model.layout_hash != self.model.layout_hash:
            raise HardstandError(
                f"the daemon at {self.bus.endpoint} has another robot, joint order or period than "
                "when this program connected: connect again",
                kind="bus",
            )
        request = wire.pack(
            "QQQBQQQ", layout_hash=model.layout_hash, physics_hash=0, session=self.session,
            role=ROLES.index(self.role), period=self.period, phase=self.phase, offset=self.offset,
        )
        request += wire.text(self.name) + wire.text("SI") + struct.pack("<Q", len(self.index))
        request += b"".join(wire.text(model.joints[i]) for i in self.index)
        data = self.bus.order("join", wire.JOIN, model.run_id, request, self.patience)
        wire.check(data, wire.JOIN_REPLY, "the answer to join")
        verdict, _mode, run_id, _public, first, count = struct.unpack_from("<BBIQQQ", data, 4)
        if verdict != 0:
            reason = wire.Reader(data, 34 + 40 * count).text()
            raise (Refused if verdict == 1 else Busy)(reason)
        self.in_force = np.frombuffer(data, wire.JOINT_COMMAND, count, 34)
        self.run_id, self.first_tick, self._newest = run_id, first, 0
        self._answers.clear()
        self._joined_at = time.monotonic()

    def must_join(self, state: State) -> bool:
        """True if `state` belongs to another run, or shows in real time that joints obey no
        command although this controller has had the time to send one."""
        if state.run_id != self.run_id:
            # lower: an old message, or a daemon that was started again
            old = state.run_id < self.run_id and time.monotonic() - self._joined_at < 1.0
            return not old
        if state.tick < min(self._newest, self.first_tick):
            return True  # a daemon that was started again
        self._newest = max(self._newest, state.tick)
        if state.tick < self.first_tick or state.authority not in ("damped", "zero"):
            self._joins_apart = JOINS_APART
            return False
        # elsewhere the tick of the join would depend on wall time, and so would the run
        due = (
            state.is_real_time
            and state.phase == "running"
            and self.role != "observer"
            and time.monotonic() - self._joined_at > self._joins_apart
        )
        if due:
            self._joins_apart = min(2 * self._joins_apart, JOINS_APART_MAX)
        return due

    def join_again(self, state: State) -> None:
        """Joins after `must_join`. If the joints were lost, says why in the log and in `events`;
        raises `Lost` with the reason and the owner if the daemon refuses."""
        same_run = state.run_id == self.run_id
        why = self._loss() if same_run else None
        try:
            self.join()
        except (Refused, Busy) as refusal:
            if why is None:
                raise
            raise Lost(f"{why}; joining again was refused: {refusal}") from None
        if why is not None:
            self.losses += 1
            text = f"{why}; joined again from tick {self.first_tick} on"
            log.warning("%s", text)
            self.events.add(
                Event(state.run_id, state.tick, state.time, "rejoined", self.name, "", text)
            )

    def _loss(self) -> str | None:
        """Why this controller has lost its joints, or None if it still has them: then the joints
        that obey no command are those of others."""
        since = (self.run_id, self.first_tick)
        seen = self.events.wait(
            "lost", EVENT_WITHIN, self.name, lambda event: (event.run_id, event.tick) >= since
        )
        if seen is None:
            return None
        why = f'controller "{self.name}" lost its joints at tick {seen.tick}: {seen.text}'
        return f"{why}; its owner now: {owner_now(self.bus)}"

    def is_asked(self, state: State) -> bool:
        """True if the controller must answer `state`. Sends the same answer again if it has."""
        if state.run_id != self.run_id:
            return False
        if (answer := self._answers.get(state.tick)) is not None:
            self._publisher.put(answer)
            return False
        due = state.tick >= self.first_tick and state.tick % max(self.period, 1) == self.phase
        # dicts keep their order: the first key is the oldest answer that is kept
        forgotten = len(self._answers) >= ANSWERS_KEPT and state.tick < next(iter(self._answers))
        return due and not forgotten

    def answer(self, state: State, *values: Any) -> None:
        """Answers `state` with q, dq, kp, kd and tau."""
        if self.role == "observer":
            raise Refused(f'"{self.name}" has joined as an observer and has no joints to command')
        self.command.fill(*values)
        self._seq += 1
        message = self.command.message(
            self.run_id, self.session, self._seq, state.tick, state.tick + self.offset
        )
        if len(self._answers) >= ANSWERS_KEPT:
            del self._answers[next(iter(self._answers))]
        # the first answer stands: a repeated state gets this one again
        self._answers.setdefault(state.tick, message)
        self._publisher.put(message)

    def leave(self) -> int:
        """Leaves the run: ticks no longer wait for this controller, and its joints are free."""
        body = struct.pack("<Q", self.session)
        return order_tick(self.bus.order("leave", wire.LEAVE, self.run_id, body, self.patience))

    def close(self) -> None:
        """Leaves if there is a daemon, and takes back the sign of life."""
        try:
            if self.bus.is_connected() and self.run_id:
                self.patience = min(self.patience, 1.0)
                self.leave()
        except HardstandError as refusal:
            log.debug("leaving: %s", refusal)
        self._alive.undeclare()
        self._publisher.undeclare()
