"""The errors of this package. Each has a kind, so that a program can tell them apart."""

from __future__ import annotations

from typing import Any

#: Kinds by exit code of the program `hardstand` (docs/cli.md).
KINDS: dict[int, str] = {
    1: "negative",
    2: "input",
    3: "log",
    4: "real_time",
    5: "bus",
    6: "plant_failure",
    7: "overrun",
    8: "controller_timeout",
    70: "internal",
}


class HardstandError(Exception):
    """An error of the daemon, of the program `hardstand`, or of this package.

    Attributes:
        kind: `"input"` (a value was refused), `"file"`, `"log"`, `"real_time"`,
            `"bus"` (no answer), `"busy"` (the same request may be accepted later), `"plant_failure"`, `"overrun"`,
            `"controller_timeout"`, `"lost"`, `"internal"`.
        exit_code: of the program `hardstand` if it was run, otherwise None.
        result: what the program printed as JSON before it failed, otherwise None.
    """

    def __init__(
        self, message: str, *, kind: str, exit_code: int | None = None, result: Any = None
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.exit_code = exit_code
        self.result = result


class Refused(HardstandError, ValueError):
    """The daemon, a plant, or a check before sending, refused a value. The message is the reason."""

    def __init__(self, message: str) -> None:
        super().__init__(message, kind="input")


class FileFailed(HardstandError, OSError):
    """A file cannot be read or written. The message is the reason."""

    def __init__(self, message: str) -> None:
        super().__init__(message, kind="file")


class PlantFailed(HardstandError):
    """The physics of a plant has failed: no tick follows until it is reset or restored."""

    def __init__(self, message: str) -> None:
        super().__init__(message, kind="plant_failure")


class Busy(HardstandError):
    """The daemon was too busy: the same request may be accepted later."""

    def __init__(self, message: str) -> None:
        super().__init__(message, kind="busy")


class DaemonGone(HardstandError):
    """No daemon answers, or a daemon that did has stopped."""

    def __init__(self, message: str) -> None:
        super().__init__(message, kind="bus")


class Lost(HardstandError):
    """This controller has lost its joints, and could not join again."""

    def __init__(self, message: str) -> None:
        super().__init__(message, kind="lost")
