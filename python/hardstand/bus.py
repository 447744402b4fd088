"""A zenoh session with a daemon: quiet settings, queries that are repeated, inboxes."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import re
import stat
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import zenoh

from . import wire
from .errors import Busy, DaemonGone, HardstandError, Refused

#: Where a daemon listens by default.
ENDPOINT = "tcp/127.0.0.1:7447"
#: A query without an answer is repeated after this, s.
ANSWERED_WITHIN = 1.0
#: States that may wait for a slow reader; beyond that the oldest are dropped.
STATES_KEPT = 4096

# as crates/client/src/session.rs: no multicast, no gossip, no listening socket
_QUIET: dict[str, Any] = {
    "mode": "peer",
    "listen/endpoints": [],
    "connect/timeout_ms": -1,
    "connect/exit_on_failure": False,
    "connect/retry": {"period_init_ms": 100, "period_max_ms": 500, "period_increase_factor": 2},
    "scouting/delay": 0,
    "scouting/multicast/enabled": False,
    "scouting/gossip/enabled": False,
    "transport/link/tx/queue/congestion_control/drop/wait_before_drop": 100,
}


def read_password(path: str | os.PathLike[str]) -> str:
    """The password in a file that holds only a password, and that only its user can read."""
    file = Path(path)
    try:
        mode = file.stat().st_mode
        if stat.S_ISREG(mode) and mode & 0o077:
            raise Refused(
                f"password file {file}: its mode is {stat.S_IMODE(mode):03o}, so others may use "
                f"it; it must be 600: chmod 600 {file}"
            )
        line = file.read_text().removesuffix("\n")
    except (OSError, UnicodeDecodeError) as e:
        raise HardstandError(f"password file {file}: {e}", kind="file") from None
    if not re.fullmatch(r"[!-~]{1,256}", line):
        raise Refused(
            f"password file {file}: it must be one line; a password is 1 to 256 printable ASCII "
            "characters without spaces"
        )
    return line


def _open(settings: Mapping[str, Any]) -> zenoh.Session:
    config = zenoh.Config()
    for key, value in settings.items():
        try:
            config.insert_json5(key, json.dumps(value))
        except zenoh.ZError:
            # neither the value nor zenoh's reason: both may show a password
            raise Refused(f"zenoh does not take the setting {key}") from None
    return zenoh.open(config)


class Bus:
    """A session with the daemon that simulates `robot`."""

    def __init__(
        self,
        robot: str,
        endpoint: str,
        user: str | None = None,
        password_file: str | os.PathLike[str] | None = None,
        asker: str | None = None,
        settings: Mapping[str, Any] | None = None,
    ) -> None:
        if not re.fullmatch(r"[\w.-]{1,96}", robot, re.ASCII):
            raise Refused(
                f'robot "{robot}" is no name; it must be 1 to 96 letters, digits, "-", "_", "."'
            )
        if not re.match(r"(tcp|tls|unixsock-stream)/.", endpoint):
            raise Refused(
                f'endpoint "{endpoint}" must be tcp/HOST:PORT, tls/HOST:PORT or '
                "unixsock-stream/PATH"
            )
        if (user is None) != (password_file is None):
            raise Refused("user and password_file belong together: give both, or neither")
        every = dict(_QUIET) | {"connect/endpoints": [endpoint]}
        if user is not None and password_file is not None:
            every["transport/auth/usrpwd/user"] = user
            every["transport/auth/usrpwd/password"] = read_password(password_file)
        every.update(settings or {})
        self.robot = robot
        self.endpoint = endpoint
        self.asker = asker or f"pid-{os.getpid()}"
        self.session = _open(every)

    def key(self, name: str) -> str:
        """The key of this name under the robot's."""
        return f"hardstand/{self.robot}/{name}"

    def close(self) -> None:
        """Closes the session; it would keep the process alive."""
        if not self.session.is_closed():
            self.session.close()  # type: ignore[no-untyped-call]

    def _live(self) -> zenoh.Session:
        if self.session.is_closed():
            raise DaemonGone(f"the connection to {self.endpoint} is closed: connect again")
        return self.session

    def is_connected(self) -> bool:
        """True while there is a connection."""
        if self.session.is_closed():
            return False
        info = self.session.info
        return bool(info.routers_zid() or info.peers_zid())

    def subscribe(self, name: str, put: Callable[[bytes], None]) -> Any:
        """Calls `put` with the bytes of every message under `name`, in a thread of zenoh."""
        return self._live().declare_subscriber(
            self.key(name), lambda sample: put(sample.payload.to_bytes())
        )

    def publisher(self, name: str) -> Any:
        """A publisher with the priority of commands."""
        return self._live().declare_publisher(
            self.key(name),
            congestion_control=zenoh.CongestionControl.DROP,
            priority=zenoh.Priority.REAL_TIME,
            express=True,
        )

    def ask(self, name: str, payload: bytes | None, patience: float) -> bytes:
        """Sends a query, and repeats it for `patience` s until the daemon answers. The daemon
        executes an order once, however often it comes."""
        until, pause = time.monotonic() + patience, 0.002
        while True:
            live = self._live()
            replies = live.get(self.key(name), payload=payload, timeout=ANSWERED_WITHIN)
            for reply in replies:
                if reply.ok is not None:
                    return bytes(reply.ok.payload.to_bytes())
            if time.monotonic() >= until:
                raise DaemonGone(
                    f"no daemon answers on {self.key(name)} at {self.endpoint} within "
                    f"{patience:g} s; check that it runs, its robot's name, and the credentials"
                )
            time.sleep(pause)
            pause = min(2 * pause, 0.05)

    def order(self, name: str, kind: int, run_id: int, body: bytes, patience: float) -> bytes:
        """Sends an order; the bytes of the answer."""
        payload = wire.order(kind, self.robot, run_id, self.asker, body)
        return self.ask(name, payload, patience)


def order_tick(data: bytes) -> int:
    """The tick of an answer to an order; raises the daemon's reason if it was refused."""
    wire.check(data, wire.ORDER_REPLY, "the answer to an order")
    r = wire.Reader(data, 4)
    verdict, tick = r.take("BQ")
    if verdict != 0:
        raise (Refused if verdict == 1 else Busy)(r.text())
    return int(tick)


class Inbox:
    """Messages that wait for a reader in any thread. None is put in when no more will come."""

    def __init__(self, kept: int = STATES_KEPT) -> None:
        self._queue: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._kept = kept
        self.dropped = 0

    def put(self, data: bytes | None) -> None:
        """Adds a message; drops the oldest if too many wait."""
        if self._queue.qsize() >= self._kept:
            with contextlib.suppress(queue.Empty):
                self._queue.get_nowait()
                self.dropped += 1
        self._queue.put(data)

    def get(self, timeout: float) -> bytes | None:
        """The oldest message; raises TimeoutError after `timeout` s without one."""
        try:
            return self._queue.get(timeout=timeout)
        except queue.Empty:
            raise TimeoutError from None

    def empty(self) -> bool:
        """True if no message waits."""
        return self._queue.empty()
