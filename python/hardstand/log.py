"""Logs as tables: `hardstand.read`."""

from __future__ import annotations

import csv
import functools
import json
import re
import struct
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from . import binary, mcap, wire
from .errors import HardstandError
from .state import Drives, Sensors, State

if TYPE_CHECKING:
    import pandas as pd

T = TypeVar("T")
#: Names of columns with their units, and the columns.
Table = tuple[list[str], list[npt.NDArray[np.float64]]]


def read(path: binary.Path_) -> Log:
    """A log of `hardstand run --log`, or of this package's `run` and `daemon`."""
    return Log(Path(path))


class Log:
    """A log. `info`, `events`, `scenario`, `urdf`, `states`, `drives` and `sensors` are read from the
    first file; `to_numpy` and `to_pandas` replay the log with the program `hardstand`, so that
    contacts are there too, and read all files of the run."""

    def __init__(self, path: Path) -> None:
        self.path = path
        topics = ("hardstand/state", "hardstand/events", "hardstand/drives", "hardstand/sensors")
        self._contents = mcap.read(path, topics)

    def __repr__(self) -> str:
        return f"Log({str(self.path)!r})"

    @property
    def info(self) -> binary.Result:
        """`version`, `recording_id`, `layout_hash`, `physics_hash`, `run_id`, `period_ns`,
        `ticks` in this file, `complete` (False if the file was cut short), `next_segment`."""
        of_log = self._contents.metadata["hardstand"]
        out = binary.Result(of_log)
        for name in ("run_id", "period_ns"):
            out[name] = int(of_log[name])
        out["ticks"] = len(self._contents.messages["hardstand/state"])
        out["complete"] = self._contents.complete
        following = self._contents.metadata.get("hardstand-next", {})
        out["next_segment"] = following.get("next_segment")
        return out

    @property
    def scenario(self) -> str:
        """The complete scenario, TOML: defaults, file and changes in one."""
        return self._contents.attachments["scenario.toml"].decode()

    @property
    def urdf(self) -> str:
        """The robot, as it was read."""
        return self._contents.attachments["robot.urdf"].decode()

    def _messages(self, topic: str, read: Callable[[bytes], T]) -> list[T]:
        try:
            return [read(body) for _time, body in self._contents.messages[topic]]
        except (ValueError, struct.error, HardstandError) as e:
            raise HardstandError(f"log {self.path}: {topic}: {e}", kind="log") from None

    @functools.cached_property
    def events(self) -> list[dict[str, Any]]:
        """The events with who ordered what, as `hardstand events --json` prints them."""
        return self._messages(
            "hardstand/events",
            lambda body: json.loads(mcap.string(body), object_hook=binary.Result),
        )

    @functools.cached_property
    def states(self) -> list[State]:
        """The state after each tick of this file, as published."""
        return self._messages("hardstand/state", lambda body: State(mcap.payload(body)))

    @functools.cached_property
    def drives(self) -> list[Drives]:
        """What drives show after each tick of this file; empty if all are ideal."""
        return self._messages("hardstand/drives", lambda body: Drives(mcap.payload(body)))

    @functools.cached_property
    def sensors(self) -> list[Sensors]:
        """The truth beside sensors with errors after each tick of this file; empty without such."""
        return self._messages("hardstand/sensors", lambda body: Sensors(mcap.payload(body)))

    def to_numpy(
        self, only: Sequence[str] = (), every: int = 1
    ) -> dict[str, npt.NDArray[np.float64]]:
        """Quantities by name (`hardstand bisect LOG --list` shows all): an array each, with an
        element for each tick. Units are in `units`.

        Args:
            only: names, in which `*` stands for any text: `["time", "joint.*.q"]`. Default: all.
            every: every Nth tick.
        """
        names, values = self._chosen(only, every)
        return {_split(name)[0]: column for name, column in zip(names, values, strict=True)}

    def units(self, only: Sequence[str] = ()) -> dict[str, str]:
        """Unit of each quantity by name; empty for none."""
        names, _values = self._chosen(only, 1)
        return dict(_split(name) for name in names)

    def to_pandas(self, only: Sequence[str] = (), every: int = 1) -> pd.DataFrame:
        """The same as a DataFrame with the ticks as index, and the units in `.attrs["units"]`.
        Needs pandas."""
        import pandas as pd

        names, values = self._table(_patterns(only), wire.whole("every", every, 1))
        columns = {_split(n)[0]: v for n, v in zip(names, values, strict=True)}
        ticks = pd.Index(columns.pop("tick").astype(np.int64), name="tick")
        frame = pd.DataFrame({name: column.copy() for name, column in columns.items()}, ticks)
        frame.attrs["units"] = dict(_split(name) for name in names)
        return frame

    def _chosen(self, only: Sequence[str], every: int) -> Table:
        """Copies of the columns that `only` names."""
        patterns = _patterns(only)
        names, values = self._table(patterns, wire.whole("every", every, 1))
        is_asked = not patterns or any(_stands_for(pattern, "tick") for pattern in patterns)
        kept = [i for i, name in enumerate(names) if is_asked or name != "tick"]
        return [names[i] for i in kept], [values[i].copy() for i in kept]

    @functools.lru_cache(maxsize=4)  # noqa: B019 - a log lives as long as its tables
    def _table(self, only: tuple[str, ...], every: int) -> Table:
        """The columns of these patterns and the ticks; they must not be changed."""
        options = binary.options(only=[*only, "tick"] if only else [], every=every)
        try:
            import pyarrow.parquet as parquet
        except ImportError:
            return self._csv(options)
        with tempfile.TemporaryDirectory(prefix="hardstand-") as folder:
            file = Path(folder) / "table.parquet"
            binary.call("export", self.path, "--parquet", file, "--json", *options)
            table = parquet.read_table(file)
        columns = [column.to_numpy() for column in table.columns]
        return list(table.column_names), columns

    def _csv(self, options: list[str]) -> Table:
        with tempfile.TemporaryDirectory(prefix="hardstand-") as folder:
            file = Path(folder) / "table.csv"
            binary.call("export", self.path, "--csv", file, "--json", *options)
            with file.open(newline="") as lines:
                names = next(csv.reader(lines))
                rows = lines.readlines()
        table = np.zeros((0, len(names)))
        if rows:
            table = np.loadtxt(rows, delimiter=",", ndmin=2, dtype=np.float64)
        if table.shape[1] != len(names):
            raise HardstandError(
                f"export of {self.path}: {len(names)} names, {table.shape[1]} columns", kind="log"
            )
        return names, list(np.ascontiguousarray(table.T))


def _patterns(only: Sequence[str]) -> tuple[str, ...]:
    return (only,) if isinstance(only, str) else tuple(only)


def _stands_for(pattern: str, name: str) -> bool:
    return re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), name) is not None


def _split(header: str) -> tuple[str, str]:
    """Name and unit of a column `base.z [m]`."""
    name, bracket, unit = header.rpartition(" [")
    return (name, unit[:-1]) if bracket and unit.endswith("]") else (header, "")
