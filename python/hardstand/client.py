"""The client of a daemon: `hardstand.connect`."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any

import numpy as np
import numpy.typing as npt

from .bus import ENDPOINT, Bus, Inbox
from .errors import DaemonGone, Refused
from .free import Free
from .lease import Lease
from .model import Model, read_model
from .orders import Orders
from .setpoints import Values
from .state import Bodies, Contacts, Drives, Sensors, State
from .status import Events, read_event

#: A state that does not come within this makes an error, s.
PATIENCE = 5.0

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


class Robot(Orders):
    """A robot in a running daemon. Close it, or use it in a `with` statement.

    Attributes:
        model: names, limits and the initial pose of the robot.
        events: the newest events of the daemon, and those of this controller (`rejoined`).
    """

    def __init__(self, bus: Bus, timeout: float = 30.0) -> None:
        self.bus = bus
        self.model: Model = read_model(bus.ask("model", None, timeout))
        self.events = Events()
        self._heard = bus.subscribe("events", lambda data: self.events.add(read_event(data)))
        self._leases: dict[str, Lease] = {}
        self._stream: Stream | None = None
        self._asked: State | None = None
        self._state: State | None = None
        self._inboxes: list[Callable[[bytes | None], None]] = []
        self.skipped = 0
        #: Called when no more states will come; may raise why. Set by `hardstand.daemon`.
        self.on_end: Callable[[], None] = lambda: None

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
        inbox = Inbox()
        subscriber = self.listen(inbox.put, states_of(join))
        try:
            stream = self.begin(join, joints, period, phase, offset, role, patience)
            stream.join()
            while (data := self._next(inbox, patience)) is not None:
                state = State(data)
                if stream.must_join(state):
                    stream.join_again(state)
                if self.is_next(stream, state, inbox.empty(), newest):
                    yield self.give()
            self.on_end()
        finally:
            self.unlisten(inbox.put, subscriber)

    def is_next(self, stream: Stream, state: State, last: bool, newest: bool | None) -> bool:
        """Takes a state; True if one is to be given now. `last`: no further one waits."""
        if self._asked is not None and self._asked.run_id != state.run_id:
            self._asked = None
        if stream.is_asked(state):
            self.skipped += self._asked is not None
            self._asked = state
        if newest is None:
            newest = state.is_real_time and stream.role != "observer"
        return self._asked is not None and (last or not newest)

    def give(self) -> State:
        """The state of `is_next`, which `command` answers from now on."""
        assert self._asked is not None
        self._state, self._asked = self._asked, None
        return self._state

    def listen(self, put: Callable[[bytes | None], None], name: str = "state") -> Any:
        """Subscribes to states. Before joining: the first one may come before the answer."""
        self._inboxes.append(put)
        return self.bus.subscribe(name, put)

    def unlisten(self, put: Callable[[bytes | None], None], subscriber: Any) -> None:
        """Ends what `listen` began."""
        self._inboxes.remove(put)
        if not self.bus.session.is_closed():
            subscriber.undeclare()

    def begin(
        self, join: str | None, joints: Sequence[str] | None, period: int, phase: int, offset: int,
        role: str, patience: float,
    ) -> Stream:
        """The stream of a controller that has not joined yet."""
        if join is None:
            self._stream = Free(self.bus, self.model, self.events, joints)
            return self._stream
        old = self._leases.pop(join, None)
        lease = Lease(
            self.bus, self.model, self.events, join, joints, period=period, phase=phase,
            offset=offset, role=role, session=old.session if old else None, patience=patience,
        )
        self._stream = self._leases[join] = lease
        return lease

    def _next(self, inbox: Inbox, patience: float) -> bytes | None:
        try:
            return inbox.get(patience)
        except TimeoutError:
            raise self.gone(patience) from None

    def gone(self, patience: float) -> DaemonGone:
        """The error that no state has come."""
        why = (
            "the daemon is connected but publishes none: see robot.status()"
            if self.bus.is_connected()
            else "the connection is closed: the daemon has stopped"
        )
        return DaemonGone(f"no state on {self.bus.key('state')} for {patience:g} s; {why}")

    def end(self) -> None:
        """Ends all iterations over states: no more will come."""
        for put in tuple(self._inboxes):
            put(None)

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

    def state(self, timeout: float = PATIENCE) -> State:
        """The next state that is published, without answering it."""
        return self.wait_tick(0, timeout)

    def wait_tick(self, tick: int, timeout: float = 30.0) -> State:
        """Waits for the first state with at least this many ticks."""
        inbox = Inbox()
        subscriber = self.listen(inbox.put)
        until = time.monotonic() + timeout
        try:
            while (data := self._next(inbox, max(0.0, until - time.monotonic()))) is not None:
                if (state := State(data)).tick >= tick:
                    return state
            self.on_end()
            raise self.gone(0.0)
        finally:
            self.unlisten(inbox.put, subscriber)

    def drives(self, patience: float = PATIENCE) -> Iterator[Drives]:
        """What drives show as it is published, if the scenario gives a joint a drive."""
        inbox = Inbox()
        subscriber = self.listen(inbox.put, "drives")
        try:
            while (data := self._next(inbox, patience)) is not None:
                yield Drives(data)
            self.on_end()
        finally:
            self.unlisten(inbox.put, subscriber)

    def sensors(self, patience: float = PATIENCE) -> Iterator[Sensors]:
        """The truth beside sensors as it is published, if the scenario gives a sensor errors."""
        inbox = Inbox()
        subscriber = self.listen(inbox.put, "sensors")
        try:
            while (data := self._next(inbox, patience)) is not None:
                yield Sensors(data)
            self.on_end()
        finally:
            self.unlisten(inbox.put, subscriber)

    def bodies(self, patience: float = PATIENCE) -> Iterator[Bodies]:
        """Free bodies and the points where shapes touch, of each tick as they are published; a slow
        reader misses some. Without free bodies nothing is published while nothing touches."""
        inbox = Inbox()
        subscriber = self.listen(inbox.put, "bodies")
        try:
            while (data := self._next(inbox, patience)) is not None:
                yield Bodies(data, self.model)
            self.on_end()
        finally:
            self.unlisten(inbox.put, subscriber)

    def contacts(self, patience: float = PATIENCE) -> Iterator[Contacts]:
        """The contacts of each tick as they are published; a slow reader misses some."""
        inbox = Inbox()
        stations = len(self.model.stations)
        subscriber = self.listen(inbox.put, "contacts")
        try:
            while (data := self._next(inbox, patience)) is not None:
                yield Contacts(data, stations)
            self.on_end()
        finally:
            self.unlisten(inbox.put, subscriber)
