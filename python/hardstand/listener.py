"""What a daemon publishes, as iterations that end when it stops."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from .bus import Bus, Inbox
from .errors import DaemonGone
from .model import Model
from .state import Bodies, Contacts, Drives, Sensors, State

#: A message that does not come within this makes an error, s.
PATIENCE = 5.0

T = TypeVar("T")


class Listener:
    """Reads what the daemon of a bus publishes."""

    model: Model

    def __init__(self, bus: Bus) -> None:
        self.bus = bus
        self._inboxes: list[Callable[[bytes | None], None]] = []
        #: Called when no more states will come; may raise why. Set by `hardstand.daemon`.
        self.on_end: Callable[[], None] = lambda: None

    def listen(self, put: Callable[[bytes | None], None], name: str = "state") -> Any:
        """Subscribes to states. Before joining: the first one may come before the answer."""
        subscriber = self.bus.subscribe(name, put)
        self._inboxes.append(put)
        return subscriber

    def unlisten(self, put: Callable[[bytes | None], None], subscriber: Any) -> None:
        """Ends what `listen` began."""
        self._inboxes.remove(put)
        if not self.bus.session.is_closed():
            subscriber.undeclare()

    def _next(self, inbox: Inbox, patience: float, name: str = "state") -> bytes | None:
        try:
            return inbox.get(patience)
        except TimeoutError:
            raise self.gone(patience, name) from None

    def gone(self, patience: float, name: str = "state") -> DaemonGone:
        """The error that no state, or no message of another name, has come."""
        why = (
            "the daemon is connected but publishes none: see robot.status()"
            if self.bus.is_connected()
            else "the connection is closed: the daemon has stopped"
        )
        what = "state" if name == "state" else "message"
        return DaemonGone(f"no {what} on {self.bus.key(name)} for {patience:g} s; {why}")

    def end(self) -> None:
        """Ends all iterations over states: no more will come."""
        for put in tuple(self._inboxes):
            put(None)

    def state(self, timeout: float = PATIENCE) -> State:
        """The next state that is published, without answering it."""
        return self.wait_tick(0, timeout)

    def wait_tick(self, tick: int, timeout: float = 30.0) -> State:
        """Waits for the first state with at least this many ticks."""
        inbox = Inbox()
        subscriber = self.listen(inbox.put)
        until = time.monotonic() + timeout
        try:
            while (data := inbox.get(max(0.0, until - time.monotonic()))) is not None:
                if (state := State(data)).tick >= tick:
                    return state
            self.on_end()
            raise DaemonGone(f"the daemon has ended before tick {tick}")
        except TimeoutError:
            raise self.gone(timeout) from None
        finally:
            self.unlisten(inbox.put, subscriber)

    def _published(
        self, name: str, read: Callable[[bytes], T], patience: float
    ) -> Iterator[T]:
        inbox = Inbox()
        subscriber = self.listen(inbox.put, name)
        try:
            while (data := self._next(inbox, patience, name)) is not None:
                yield read(data)
            self.on_end()
        finally:
            self.unlisten(inbox.put, subscriber)

    def drives(self, patience: float = PATIENCE) -> Iterator[Drives]:
        """What drives show as it is published, if the scenario gives a joint a drive."""
        return self._published("drives", Drives, patience)

    def sensors(self, patience: float = PATIENCE) -> Iterator[Sensors]:
        """The truth beside sensors as it is published, if the scenario gives a sensor errors."""
        return self._published("sensors", Sensors, patience)

    def bodies(self, patience: float = PATIENCE) -> Iterator[Bodies]:
        """Free bodies and the points where shapes touch, of each tick as they are published; a slow
        reader misses some. Without free bodies nothing is published while nothing touches."""
        return self._published("bodies", lambda data: Bodies(data, self.model), patience)

    def contacts(self, patience: float = PATIENCE) -> Iterator[Contacts]:
        """The contacts of each tick as they are published; a slow reader misses some."""
        stations = len(self.model.stations)
        return self._published("contacts", lambda data: Contacts(data, stations), patience)
