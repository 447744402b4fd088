"""Tables of a log: the same with pyarrow and without."""

from __future__ import annotations

import sys
from pathlib import Path

import hardstand
import numpy as np
import pytest
from hardstand.log import _split


@pytest.fixture(params=["pyarrow", "csv"])
def reader(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "csv":
        monkeypatch.setitem(sys.modules, "pyarrow", None)
        monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    else:
        pytest.importorskip("pyarrow")
    return str(request.param)


def test_tables_may_be_changed(reader: str, log: Path) -> None:
    recorded = hardstand.read(log)
    first = recorded.to_numpy(["base.z"])
    assert list(first) == ["base.z"]
    kept = first["base.z"].copy()
    first["base.z"][:] = 0
    assert np.array_equal(recorded.to_numpy(["base.z"])["base.z"], kept)


def test_the_index_is_the_tick(reader: str, log: Path) -> None:
    pytest.importorskip("pandas")
    recorded = hardstand.read(log)
    frame = recorded.to_pandas(["base.z"], every=100)
    assert list(frame.columns) == ["base.z"] and frame.index.name == "tick"
    every = recorded.to_numpy(["tick", "base.z"])
    assert list(every) == ["tick", "base.z"]
    at = {int(tick): z for tick, z in zip(every["tick"], every["base.z"], strict=True)}
    assert len(frame) == 5 and dict(frame["base.z"]) == {t: at[t] for t in frame.index}
    frame["base.z"] = 0.0
    assert recorded.to_pandas(["base.z"], every=100)["base.z"].iloc[0] != 0


def test_one_name_may_be_a_text(reader: str, log: Path) -> None:
    recorded = hardstand.read(log)
    assert list(recorded.to_numpy("time")) == ["time"]
    assert recorded.units("time") == {"time": "s"}


def test_every_must_be_a_count(log: Path) -> None:
    for every in (-1, 0, 1.5):
        with pytest.raises(hardstand.Refused, match=f"every is {every}; it must be"):
            hardstand.read(log).to_numpy(every=every)


def test_a_log_without_ticks_has_empty_columns(
    reader: str, scenario: Path, tmp_path: Path
) -> None:
    path = tmp_path / "empty.mcap"
    with hardstand.daemon(scenario, log=path):
        pass
    recorded = hardstand.read(path)
    assert recorded.info.ticks == 0
    table = recorded.to_numpy(["time", "base.z"])
    assert {name: column.shape for name, column in table.items()} == {"time": (0,), "base.z": (0,)}
    assert table["time"].dtype == np.float64


def test_names_may_have_commas_and_brackets(
    reader: str, scenario: Path, tmp_path: Path
) -> None:
    path = tmp_path / "names.mcap"
    body = 'bodies=[{name="a, b [c]", shape="sphere", radius_m=0.1, mass_kg=1, position_m=[2,0,1]}]'
    with hardstand.daemon(scenario, duration=0.01, log=path, set=[body]) as robot:
        for _state in robot.states(join="legs"):
            robot.command(q=robot.q_initial, kp=100, kd=3)
    table = hardstand.read(path).to_numpy(["*[c]*"])
    assert table and all("a, b [c]" in name for name in table)
    assert len(next(iter(table.values()))) == 10


def test_the_unit_is_in_the_last_brackets() -> None:
    assert _split("base.z [m]") == ("base.z", "m")
    assert _split("body.a[1].x [m]") == ("body.a[1].x", "m")
    assert _split("body.a [1].x [m]") == ("body.a [1].x", "m")
    assert _split("tick") == ("tick", "")


def test_a_damaged_log_is_named(log: Path, tmp_path: Path) -> None:
    damaged = tmp_path / "damaged.mcap"
    data = bytearray(log.read_bytes())
    at = data.index(b"hardstand/state")
    data[at] = 0xFF
    damaged.write_bytes(data)
    with pytest.raises(hardstand.HardstandError, match="damaged.mcap: it is damaged") as refused:
        hardstand.read(damaged)
    assert refused.value.kind == "log"
    data = bytearray(log.read_bytes())
    state = hardstand.read(log).states[0].data
    at = data.index(state)
    data[at:at + 4] = b"none"
    damaged.write_bytes(data)
    with pytest.raises(hardstand.HardstandError, match="damaged.mcap: hardstand/state") as refused:
        hardstand.read(damaged).states
    assert refused.value.kind == "log"
