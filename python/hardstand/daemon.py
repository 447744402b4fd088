"""Starts a daemon for as long as a `with` statement lasts."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from . import binary
from .bus import Bus
from .client import Robot
from .errors import HardstandError

#: A daemon must be ready within this, and end within this after SIGTERM, s.
READY_WITHIN, ENDED_WITHIN = 60.0, 5.0


class Daemon:
    """A daemon of this process, at a socket that only its user can reach.

    Attributes:
        endpoint: of its bus.
        robot_name: of the robot in the keys.
        ended: the report of the run (docs/cli.md, fields of `ended`) once it has ended, or None.
    """

    def __init__(self, arguments: Sequence[str]) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="hardstand-"))
        self.endpoint = f"unixsock-stream/{self._folder}/s"
        self.ended: binary.Result | None = None
        self._errors = (self._folder / "errors").open("w+")
        reads, writes = os.pipe()
        listen = f"bus.listen={json.dumps([self.endpoint])}"
        command = [os.fspath(binary.find()), "run", *arguments]
        command += ["--report", f"/dev/fd/{writes}", "--set", listen]
        try:
            self.process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=self._errors,
                pass_fds=(writes,),
            )
        except OSError as e:
            shutil.rmtree(self._folder)
            os.close(reads)
            raise HardstandError(f"{command[0]} cannot be started: {e}", kind="file") from None
        finally:
            os.close(writes)
        self._ready = threading.Event()
        self._over = threading.Event()
        self.robot_name = ""
        self.robot: Robot | None = None
        self._watcher = threading.Thread(target=self._watch, args=(reads,), daemon=True)
        self._watcher.start()

    def _watch(self, reads: int) -> None:
        """Reads the report until the process ends, then tells those who wait for states."""
        with open(reads) as report:
            for line in report:
                said = binary.documents(line)[0]
                if "ready" in said:
                    self.robot_name = said.ready.robot
                    self._ready.set()
                self.ended = said.get("ended", self.ended)
        self.process.wait()
        self._over.set()
        self._ready.set()
        if self.robot is not None:
            self.robot.end()

    def connect(self) -> Robot:
        """Waits until the daemon is ready, and connects."""
        if not self._ready.wait(READY_WITHIN):
            raise HardstandError(f"the daemon is not ready after {READY_WITHIN:g} s", kind="bus")
        self._check()
        robot = Robot(Bus(self.robot_name, self.endpoint))
        robot.on_end = self._check
        self.robot = robot
        if self._over.is_set():
            robot.end()
        return robot

    def _check(self) -> None:
        code = self.process.poll()
        if code is not None and code != 0:
            self._errors.seek(0)
            said = self._errors.read()
            last = "\n".join(said.splitlines()[-20:])
            raise binary.failure(code, last, self.ended)

    def wait(self, timeout: float | None = None) -> binary.Result | None:
        """Waits until the run has ended: its report. Raises HardstandError if it has failed."""
        if not self._over.wait(timeout):
            raise HardstandError(f"the daemon still runs after {timeout} s", kind="bus")
        self._watcher.join()
        self._check()
        return self.ended

    def stop(self) -> None:
        """Ends the daemon, which completes its log, and removes its socket."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            if not self._over.wait(ENDED_WITHIN):
                self.process.kill()
        self._over.wait()
        self._watcher.join()
        self._errors.close()
        shutil.rmtree(self._folder, ignore_errors=True)


@contextmanager
def daemon(
    scenario: binary.Path_,
    mode: str = "lockstep",
    pace: str = "free",
    *,
    set: Sequence[str] = (),
    duration: float | None = None,
    log: binary.Path_ | None = None,
    speed: float | None = None,
    from_: binary.Path_ | None = None,
) -> Iterator[DaemonRobot]:
    """Starts a daemon at a private socket, and gives a robot that is connected to it.

    An iteration over its states ends when the run has reached its `duration`, and raises the
    daemon's error if it has failed. `robot.daemon` is the daemon: `robot.daemon.wait()` gives the
    report of the run.

    Args:
        scenario: file of the scenario.
        mode: `"lockstep"`, `"realtime"` or `"budgeted"`.
        pace: `"free"`, as fast as the machine allows, or `"realtime"`.
        set: changes to the scenario, for instance `["contact.mu_static=0.3"]`.
        duration: simulated seconds to run, or None for no end.
        log: file to record.
        speed: simulated seconds per second of wall time.
        from_: file of a saved state to begin in.
    """
    arguments = [os.fspath(scenario), "--mode", mode, "--pace", pace]
    arguments += binary.options(
        set=list(set), duration=duration, log=log and os.fspath(log), speed=speed,
        from_=from_ and os.fspath(from_),
    )
    process = Daemon(arguments)
    try:
        with process.connect() as robot:
            robot.daemon = process  # type: ignore[attr-defined]
            yield robot  # type: ignore[misc]
    finally:
        process.stop()


class DaemonRobot(Robot):
    """A robot in a daemon that `hardstand.daemon` has started."""

    daemon: Daemon
