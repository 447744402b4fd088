"""A controller that has not joined: it takes the newest state, and its commands apply at once."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

from . import wire
from .bus import Bus
from .model import Model
from .setpoints import Command
from .state import State
from .status import Event, Events, owner_now

log = logging.getLogger("hardstand")


class Free:
    """Commands without a lease, for the real-time mode. After a loss it takes a new session, which
    must prove that it is alive like any other. It commands all joints."""

    def __init__(
        self, bus: Bus, model: Model, events: Events, joints: Sequence[str] | None
    ) -> None:
        self.bus, self.model, self.events = bus, model, events
        self.index = model.index(joints)
        self.command = Command(model, self.index)
        self.session = wire.random_number()
        self.role = "free"
        self.losses = 0
        self.asked: State | None = None
        self.in_force = wire.set_points(0)
        self._seq = 0
        self._owned = False
        self._public = wire.public_session(self.session)
        self._publisher = bus.publisher("cmd")

    def join(self) -> None:
        """Nothing to do: it does not join."""

    def must_join(self, state: State) -> bool:
        """True if this session owned the robot, and `state` shows that it has lost it."""
        ours = state.owner == self._public
        lost = self._owned and not (ours and state.authority in ("fresh", "held"))
        self._owned = not lost and (self._owned or (ours and state.phase == "running"))
        return lost

    def join_again(self, state: State) -> None:
        """Takes a new session: the daemon refuses all further commands of the old one."""
        late = state.owner == self._public
        why = "it was late" if late else f"another took it: {owner_now(self.bus)}"
        self.session, self._seq = wire.random_number(), 0
        self._public = wire.public_session(self.session)
        self.losses += 1
        text = (
            f"lost the robot at tick {state.tick}, drives {state.authority}: {why}; "
            f"now session {self._public:016x}"
        )
        log.warning("%s", text)
        self.events.add(Event(state.run_id, state.tick, state.time, "rejoined", "", "", text))

    def is_asked(self, state: State) -> bool:
        """True: any state may be answered."""
        return True

    def answer(self, state: State, *values: Any) -> None:
        """Answers `state` with q, dq, kp, kd and tau."""
        self.command.fill(*values)
        self._seq += 1
        self._publisher.put(
            self.command.message(state.run_id, self.session, self._seq, state.tick, 0)
        )

    def close(self) -> None:
        """Ends the publisher."""
        self._publisher.undeclare()
