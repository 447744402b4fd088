"""What an operator can ask of a running daemon."""

from __future__ import annotations

import os
import struct
from collections.abc import Sequence
from pathlib import Path

from . import wire
from .bus import Bus, order_tick
from .errors import Busy, FileFailed, HardstandError, Refused
from .fault_table import values_of
from .model import Model, place, read_model
from .status import Status, read_status

#: How long an order may wait for its answer, s.
PATIENCE = 5.0

Path_ = str | os.PathLike[str]


def _file(path: Path_, e: OSError) -> FileFailed:
    return FileFailed(f"saved state {os.fspath(path)}: {e.strerror}")


class Orders:
    """Orders to the daemon. Each returns the tick from whose start it holds, and raises `Refused`
    with the daemon's reason, `Busy`, or `DaemonGone`."""

    bus: Bus
    model: Model

    def _run_id(self) -> int:
        return read_model(self.bus.ask("model", None, PATIENCE)).run_id

    def _order(self, name: str, kind: int, body: bytes) -> int:
        # a stop means whichever run there is
        run_id = 0 if name == "stop" else self._run_id()
        return order_tick(self.bus.order(name, kind, run_id, body, PATIENCE))

    def _control(self, name: str, number: int = 0, rewind: bool = False) -> int:
        return self._order(name, wire.CONTROL, wire.pack("QB", ticks=number, rewind=rewind))

    def _ticks(self, duration: float | None, ticks: int | None, name: str) -> int:
        if (duration is None) == (ticks is None):
            raise Refused(f"{name} needs either duration (s) or ticks")
        if ticks is not None:
            return ticks
        wire.pack("d", duration=duration)
        assert duration is not None
        if not 0 < duration < 1e9:
            raise Refused(f"duration is {duration} s; it must be more than 0 and below 1e9")
        return max(1, round(duration / self.model.period))

    def pause(self) -> int:
        """Runs no further tick. The tick after which the daemon pauses."""
        return self._control("pause")

    def resume(self) -> int:
        """Runs on after a pause."""
        return self._control("resume")

    def step(self, ticks: int = 1) -> int:
        """Runs this many ticks, then pauses: the number of ticks after which it pauses.

        A negative number pauses and goes back by as many ticks, to the state in the daemon's log,
        as the next run: the tick of that state.
        """
        if wire.whole("ticks", ticks) >= 0:
            return self._control("step", ticks)
        self.pause()
        try:
            return self.restore(self._saved(-ticks, back=True))
        except (Busy, Refused) as error:
            raise type(error)(f"paused, but not back: {error}") from None

    def run_until(self, tick: int) -> int:
        """Runs until this many ticks are done, then pauses."""
        return self._control("run_until", tick)

    def reset(self, *, rewind: bool = False) -> int:
        """Begins the next run, from the initial state; time continues unless `rewind`."""
        return self._control("reset", rewind=rewind)

    def speed(self, factor: float) -> int:
        """Sets the simulated seconds per second of wall time, 0.001 to 1000; 0 for as many as the
        machine allows."""
        return self._order("speed", wire.SPEED, wire.pack("d", factor=factor))

    def stop(self) -> int:
        """Emergency stop: damps all joints and refuses commands until `arm`."""
        return self._control("stop")

    def arm(self) -> int:
        """Ends the emergency stop."""
        return self._control("arm")

    def snapshot(self, file: Path_ | None = None) -> bytes:
        """The complete state, for `restore` and `hardstand run --from FILE`. Also written to
        `file`, with mode 600, if one is given."""
        data = self._saved(0, back=False)
        if file is not None:
            try:
                with open(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as out:
                    out.write(data)
            except OSError as e:
                raise _file(file, e) from None
        return data

    def _saved(self, ticks: int, *, back: bool) -> bytes:
        body = wire.pack("QB", ticks=ticks, back=back)
        data = self.bus.order("snapshot", wire.CONTROL, self._run_id(), body, PATIENCE)
        if data[3:4] == bytes([wire.ORDER_REPLY]):
            order_tick(data)  # raises: this answer is a refusal
        wire.check(data, wire.SAVED_STATE, "a saved state")
        return data

    def restore(self, saved: bytes | Path_) -> int:
        """Continues from a saved state, or a file of one, as the next run. Its tick."""
        try:
            data = saved if isinstance(saved, bytes) else Path(saved).read_bytes()
            wire.check(data, wire.SAVED_STATE, "the saved state")
        except OSError as e:
            assert not isinstance(saved, bytes)
            raise _file(saved, e) from None
        except HardstandError as e:
            raise Refused(str(e)) from None
        return self._order("restore", wire.SAVED_STATE, data[4:])

    def push(
        self,
        link: str,
        force: Sequence[float],
        duration: float | None = None,
        point: Sequence[float] = (0.0, 0.0, 0.0),
        *,
        ticks: int | None = None,
    ) -> int:
        """Pushes a link with a constant force (3,), N, in world axes, at a point (3,), m, in the
        link's frame, for `duration` s or for `ticks`."""
        count = self._ticks(duration, ticks, "push")
        vectors = [*wire.vector("point", point), *wire.vector("force", force)]
        body = wire.text(link) + struct.pack("<6d", *vectors)
        return self._order("push", wire.PUSH, body + wire.pack("Q", ticks=count))

    def velocity(self, vx: float = 0.0, vy: float = 0.0, yaw_rate: float = 0.0) -> int:
        """Asks controllers that walk for a velocity: ahead and to the left, m/s, and a turn to the
        left, rad/s. It is `velocity_command` of the states, until the next one."""
        body = wire.pack("ddd", vx=vx, vy=vy, yaw_rate=yaw_rate)
        return self._order("cmd_vel", wire.VELOCITY, body)

    def constraint(self, name: str, active: bool) -> int:
        """Lets a constraint of the scenario act from now on, or ends it."""
        body = wire.text(name) + wire.pack("B", active=active)
        return self._order("constraint", wire.CONSTRAINT, body)

    def reset_anchors(self, *, foot: str | None = None, station: str | None = None) -> int:
        """Puts the anchors of friction springs under the stations of a foot, under a station, or
        without any of these, of all stations and shapes."""
        if foot is not None and station is not None:
            raise Refused("reset_anchors takes one of foot and station")
        scope, index = 0, 0
        if station is not None:
            names = [s.name for s in self.model.stations]
            scope, index = 1, place(names, station, "station", self.model.robot)
        elif foot is not None:
            scope, index = 2, place(self.model.feet, foot, "foot", self.model.robot)
        body = struct.pack("<QBI", self.model.layout_hash, scope, index)
        return self._order("anchors", wire.ANCHORS, body)

    def friction(
        self,
        mu_static: float,
        mu_kinetic: float,
        *,
        foot: str | None = None,
        station: str | None = None,
        region: str | None = None,
    ) -> int:
        """Sets the coefficients of friction of a foot, a station, a region of the ground, or
        without any of these, of all stations."""
        given = [
            (scope, what, name, names)
            for scope, what, name, names in (
                (1, "station", station, [s.name for s in self.model.stations]),
                (2, "foot", foot, self.model.feet),
                (3, "region", region, self.model.regions),
            )
            if name is not None
        ]
        if len(given) > 1:
            raise Refused("friction takes one of foot, station and region")
        scope, index = 0, 0
        for scope, what, name, names in given:
            index = place(names, name, what, self.model.robot)
        body = struct.pack("<QBI", self.model.layout_hash, scope, index)
        body += wire.pack("dd", mu_static=mu_static, mu_kinetic=mu_kinetic)
        return self._order("friction", wire.FRICTION, body)

    def fault(
        self,
        kind: str,
        *,
        joint: str | None = None,
        foot: str | None = None,
        link: str | None = None,
        station: str | None = None,
        region: str | None = None,
        duration: float | None = None,
        ticks: int | None = None,
        **parameters: float | Sequence[float],
    ) -> int:
        """Injects a fault (docs/faults.md) for `duration` s or for `ticks`, or else until it is
        cleared: `robot.fault("motor_derated", joint="FL_calf_joint", share=0.5)`."""
        values = values_of(kind, parameters)
        part, name = _part(joint=joint, foot=foot, link=link, station=station, region=region)
        count = 0
        if duration is not None or ticks is not None:
            count = self._ticks(duration, ticks, "fault")
        body = wire.text(kind) + wire.text(part) + wire.text(name)
        body += struct.pack(f"<Q{len(values)}d", len(values), *values) + wire.pack("Q", ticks=count)
        return self._order("fault", wire.FAULT, body)

    def clear(
        self,
        kind: str = "",
        *,
        joint: str | None = None,
        foot: str | None = None,
        link: str | None = None,
        station: str | None = None,
        region: str | None = None,
    ) -> int:
        """Ends the faults of this kind, on this part or on any. Without a kind: all faults and
        pushes, and friction returns to the scenario's values."""
        part, name = _part(joint=joint, foot=foot, link=link, station=station, region=region)
        body = wire.text(kind) + wire.text(part) + wire.text(name)
        return self._order("clear", wire.CLEAR, body)

    def status(self) -> Status:
        """The condition of the daemon; it is brought up to date every second of wall time."""
        return read_status(self.bus.ask("status", None, PATIENCE))

    def urdf(self) -> str:
        """The robot's URDF."""
        return self.bus.ask("model/urdf", None, PATIENCE).decode()


def _part(**parts: str | None) -> tuple[str, str]:
    given = [(part, name) for part, name in parts.items() if name is not None]
    if len(given) > 1:
        raise Refused(f"one part at a time, not {' and '.join(part for part, _ in given)}")
    return given[0] if given else ("", "")
