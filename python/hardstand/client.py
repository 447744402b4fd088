"""The client of a daemon: `hardstand.connect`."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any

import numpy as np
import numpy.typing as npt

from .bus import ENDPOINT, Bus, Inbox
from .errors import Refused
from .free import Free
from .lease import Lease
from .listener import PATIENCE, Listener
from .model import Model, read_model
from .orders import Orders
from .setpoints import Values
from .state import State
from .status import Events, read_event

Stream = Lease | Free


def connect(
    robot: str | None = None,
    endpoint: str | None = None,
    *,
    user: str | None = None,
    password_file: str | os.PathLike[str] | None = None,
    asker: str | None = None,
    timeout: float = 30.0,
    settings: Mapping[str, Any] | None = None,
) -> Robot:
    """Connects to the daemon that simulates `robot`.

    Args:
        robot: name in the keys; without it HARDSTAND_ROBOT, or else `"quadruped"`.
        endpoint: where the daemon listens; without it HARDSTAND_CONNECT, or else
            `"tcp/127.0.0.1:7447"`. Also `"unixsock-stream/PATH"`, `"tls/HOST:PORT"`.
        user, password_file: credentials; the file holds only the password and has mode 600.
        asker: the name of this program in events and logs; without it the number of the process.
        timeout: longest wait for the daemon, s.
        settings: further settings of zenoh by key, for instance certificates.

    Raises:
        DaemonGone: no daemon answered in that time.
    """
    robot = robot or os.environ.get("HARDSTAND_ROBOT") or "quadruped"
    endpoint = endpoint or os.environ.get("HARDSTAND_CONNECT") or ENDPOINT
    bus = Bus(robot, endpoint, user, password_file, asker, settings)
    try:
        return Robot(bus, timeout)
    except BaseException:
        bus.close()
        raise


def states_of(join: str | None) -> str:
    """The key of the states to answer: outside real time, those of a schedule are enough for a
    controller that joins."""
    return "state" if join is None else "state/due"


class Robot(Listener, Orders):
    """A robot in a running daemon. Close it, or use it in a `with` statement.

    Attributes:
        model: names, limits and the initial pose of the robot.
        events: the newest events of the daemon, and those of this controller (`rejoined`).
    """

    def __init__(self, bus: Bus, timeout: float = 30.0) -> None:
        super().__init__(bus)
        self.model: Model = read_model(bus.ask("model", None, timeout))
        self.events = Events()
        self._heard = bus.subscribe("events", lambda data: self.events.add(read_event(data)))
        self._leases: dict[str, Lease] = {}
        self._stream: Stream | None = None
        #: Streams whose iteration goes on.
        self._open: list[Stream] = []
        self._state: State | None = None
        self.skipped = 0

    def __enter__(self) -> Robot:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, e: BaseException | None, at: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Leaves the run if this program has joined, and closes the connection."""
        for lease in self._leases.values():
            lease.close()
        self._leases.clear()
        self._state = None
        self.bus.close()

    @property
    def index(self) -> npt.NDArray[np.intp]:
        """Places in the model of the joints that `command` takes, in its order; (n,)."""
        return self._stream.index if self._stream else self.model.index(None)

    @property
    def joints(self) -> tuple[str, ...]:
        """Names of the joints that `command` takes, in its order."""
        return tuple(self.model.joints[i] for i in self.index)

    @property
    def q_initial(self) -> npt.NDArray[np.float64]:
        """Initial positions of the joints that `command` takes, rad or m; (n,)."""
        return self.model.q_initial[self.index]

    @property
    def in_force(self) -> npt.NDArray[Any]:
        """The last set-points of the joints before this controller joined, in the model's order:
        records of q, dq, kp, kd, tau_ff. A controller that begins with them makes no jump."""
        return self._stream.in_force if self._stream else np.zeros(0)

    @property
    def losses(self) -> int:
        """How often this controller has lost its joints by being late, and joined again."""
        return self._stream.losses if self._stream else 0

    def states(
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
    ) -> Iterator[State]:
        """The states to answer, one after the other, for ever; `command` answers each.

        Args:
            join: name under which to join, and under which to join again after a loss, a reset or
                a restore. Without it nothing is joined: commands apply at once, in real time only.
            joints: names of the joints to command, `*` stands for any text; None for all.
            period, phase: answer the ticks with remainder `phase` modulo `period`.
            offset: ticks from a state to the one at which its answer applies.
            role: `"required"`: in lockstep ticks wait for it; `"advisory"`; `"observer"`, which
                has no joints.
            newest: True: skip states for which a newer one is there already (counted in
                `skipped`). Default: in real time, except for observers.
            patience: longest wait for a state, s.

        Raises:
            Refused: the daemon refused to let it join; the message is its reason.
            Lost: the joints were lost, and joining again was refused.
            DaemonGone: no state within `patience`.
        """
        inbox, stream = Inbox(), None
        subscriber = self.listen(inbox.put, states_of(join))
        try:
            stream = self.begin(join, joints, period, phase, offset, role, patience)
            self.join(stream)
            while (data := self._next(inbox, patience)) is not None:
                state = State(data)
                if stream.must_join(state):
                    stream.join_again(state)
                if self.is_next(stream, state, inbox.empty(), newest):
                    yield self.give(stream)
            self.on_end()
        finally:
            self.ended(stream)
            self.unlisten(inbox.put, subscriber)

    def is_next(self, stream: Stream, state: State, last: bool, newest: bool | None) -> bool:
        """Takes a state; True if one is to be given now. `last`: no further one waits."""
        if stream.asked is not None and stream.asked.run_id != state.run_id:
            stream.asked = None
        if stream.is_asked(state):
            self.skipped += stream.asked is not None
            stream.asked = state
        if newest is None:
            newest = state.is_real_time and stream.role != "observer"
        return stream.asked is not None and (last or not newest)

    def give(self, stream: Stream) -> State:
        """The state of `is_next`, which `command` answers from now on."""
        state, stream.asked = stream.asked, None
        assert state is not None
        if self._choose(stream):
            self._state = state
        return state

    def _choose(self, stream: Stream) -> bool:
        """Lets `command` be that of `stream`, but for an observer beside a stream that commands."""
        if stream.role == "observer" and any(other.role != "observer" for other in self._open):
            return False
        self._stream = stream
        return True

    def ended(self, stream: Stream | None) -> None:
        """The iteration over a stream has ended."""
        if stream in self._open:
            self._open.remove(stream)

    def begin(
        self, join: str | None, joints: Sequence[str] | None, period: int, phase: int, offset: int,
        role: str, patience: float,
    ) -> Stream:
        """The stream of a controller that has not joined yet."""
        if join is None:
            return Free(self.bus, self.model, self.events, joints)
        old = self._leases.get(join)
        return Lease(
            self.bus, self.model, self.events, join, joints, period=period, phase=phase,
            offset=offset, role=role, session=old.session if old else None, patience=patience,
        )

    def join(self, stream: Stream) -> None:
        """Lets a stream join. If it may not, `command` stays that of the stream before."""
        try:
            stream.join()
        except BaseException:
            if all(stream.session != lease.session for lease in self._leases.values()):
                stream.close()
            raise
        if isinstance(stream, Lease):
            self._leases[stream.name] = stream
        self._open.append(stream)
        self._choose(stream)

    def command(
        self,
        q: Values | None = None,
        dq: Values | None = None,
        kp: Values | None = None,
        kd: Values | None = None,
        tau: Values | None = None,
    ) -> None:
        """Answers the state that the iteration gave last.

        Each is a number for all joints, or one for each in the order of `joints`; None is 0. The
        motors make `tau + kp (q - q_measured) + kd (dq - dq_measured)`, limited to `effort_max`.

        Args:
            q: positions, rad or m.
            dq: velocities, rad/s or m/s.
            kp: stiffness, N·m/rad or N/m, 0 to `model.kp_max`.
            kd: damping, N·m·s/rad or N·s/m, 0 to `model.kd_max`.
            tau: feed-forward effort, N·m or N.

        Raises:
            Refused: a value is out of its range; nothing was sent.
        """
        if self._stream is None or self._state is None:
            raise Refused(
                "command answers a state: call it inside `for state in robot.states(...)`"
            )
        self._stream.answer(self._state, q, dq, kp, kd, tau)

    def leave(self) -> int:
        """Leaves the run: ticks no longer wait, and the joints are free. The tick."""
        if not isinstance(self._stream, Lease):
            raise Refused("this program has not joined: there is nothing to leave")
        return self._stream.leave()
