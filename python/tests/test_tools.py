"""The commands of the program as functions, and logs as tables."""

from __future__ import annotations

import sys
from pathlib import Path

import hardstand
import numpy as np
import pytest
from conftest import SCENARIO
from hardstand import binary

STAND = """
import hardstand
with hardstand.connect() as robot:
    for state in robot.states(join="legs"):
        robot.command(q=robot.q_initial, kp=100, kd=3)
"""


@pytest.fixture
def controller(tmp_path: Path) -> list[str]:
    """The command line of a controller that holds the robot."""
    path = tmp_path / "stand.py"
    path.write_text(STAND)
    return [sys.executable, str(path)]


def test_a_log_replays_and_has_its_info(log: Path) -> None:
    again = hardstand.replay(log)
    assert again.identical and again.ticks == 500
    read = hardstand.read(log)
    assert read.info.ticks == 500 and read.info.complete and read.info.period_ns == 1_000_000
    assert f"{read.states[-1].digest:016x}" == again.digest
    assert read.states[0].tick == 1 and "<robot" in read.urdf and "[sim]" in read.scenario
    assert any(e.kind == "join" and e.controller == "legs" for e in read.events)


def test_a_log_becomes_arrays_with_units(log: Path) -> None:
    read = hardstand.read(log)
    table = read.to_numpy(["time", "base.z", "joint.FL_*.q"], every=10)
    assert len(table) == 5 and len(table["time"]) == 50
    units = read.units(["time", "base.z", "joint.FL_*.q", "base.quat.w"])
    assert (units["time"], units["base.z"], units["base.quat.w"]) == ("s", "m", "")
    states = np.array([s.truth_base_position[2] for s in read.states])
    assert (read.to_numpy(["base.z"])["base.z"] == states).all()


def test_a_table_is_the_same_without_pyarrow(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyarrow")
    only = ["tick", "base.z", "foot.*.normal"]
    first = hardstand.read(log).to_numpy(only)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    second = hardstand.read(log).to_numpy(only)
    assert list(first) == list(second)
    assert all((first[name] == second[name]).all() for name in first)


def test_a_log_becomes_a_data_frame(log: Path) -> None:
    pytest.importorskip("pandas")
    frame = hardstand.read(log).to_pandas()
    assert frame.index[0] == 1 and frame.index.name == "tick" and len(frame) == 500
    assert frame.attrs["units"]["base.z"] == "m"
    assert 0.3 < frame["base.z"].iloc[-1] < 0.36


def test_other_files_are_refused(tmp_path: Path, log: Path) -> None:
    with pytest.raises(hardstand.HardstandError) as missing:
        hardstand.read(tmp_path / "none.mcap")
    assert missing.value.kind == "file"
    (tmp_path / "text.mcap").write_text("a text")
    with pytest.raises(hardstand.HardstandError, match="no MCAP file") as other:
        hardstand.read(tmp_path / "text.mcap")
    assert other.value.kind == "log"
    with pytest.raises(hardstand.HardstandError, match="none.mcap") as refused:
        hardstand.replay(tmp_path / "none.mcap")
    assert (refused.value.kind, refused.value.exit_code) == ("input", 2)


def test_a_log_that_breaks_off_is_read_as_far_as_it_goes(tmp_path: Path, log: Path) -> None:
    cut = tmp_path / "cut.mcap"
    cut.write_bytes(log.read_bytes()[: log.stat().st_size // 2])
    read = hardstand.read(cut)
    assert 0 < read.info.ticks < 500 and not read.info.complete
    with pytest.raises(hardstand.HardstandError) as found:
        hardstand.replay(cut)
    assert (found.value.kind, found.value.exit_code) == ("log", 3)
    assert found.value.result.identical


def test_verify_says_where_a_log_breaks(tmp_path: Path, log: Path) -> None:
    whole = hardstand.verify(log)
    assert (whole.verdict, whole.ticks, whole.fault) == ("complete", 500, None)
    good = log.read_bytes()
    (cut := tmp_path / "cut.mcap").write_bytes(good[: len(good) * 3 // 4])
    found = hardstand.verify(cut)
    assert found.verdict == "cut_off" and 0 < found.fault.tick < 500
    at = len(good) // 2
    (flipped := tmp_path / "flipped.mcap").write_bytes(
        good[:at] + bytes([good[at] ^ 8]) + good[at + 1 :]
    )
    found = hardstand.verify(flipped)
    assert found.verdict == "broken" and found.fault.from_byte <= at < found.fault.to_byte
    with pytest.raises(hardstand.HardstandError) as refused:
        hardstand.verify(tmp_path / "none.mcap")
    assert (refused.value.kind, refused.value.exit_code) == ("input", 2)


def test_bisect_and_branch_answer(tmp_path: Path, log: Path) -> None:
    assert hardstand.bisect(log, where="tick > 9").found.tick == 10
    assert hardstand.bisect(log, where="base.z > 9").found is None
    assert "base.z" in [q.name for q in hardstand.bisect(log, at=5)]
    slippery = ["contact.mu_static=0.1", "contact.mu_kinetic=0.1"]
    other = tmp_path / "b.mcap"
    branched = hardstand.branch(log, 200, other, set=slippery)
    assert branched.ticks == 300 and not branched.comparison.identical
    assert hardstand.bisect(log, other).cause == "scenario"


def test_a_plot_is_written(tmp_path: Path, log: Path) -> None:
    out = tmp_path / "base.svg"
    assert hardstand.plot(log, "base", out).lines > 0
    assert out.read_text().startswith("<svg")


def test_a_robot_is_described() -> None:
    robot = hardstand.model(SCENARIO.parent / "robots" / "quadruped.urdf")
    assert robot.robot == "quadruped" and len(robot.joints) == 12


def test_run_gives_the_report_and_errors_have_kinds(tmp_path: Path) -> None:
    listen = f'bus.listen=["unixsock-stream/{tmp_path}/s"]'
    now = ["sim.start='now'", listen]
    ended = hardstand.run(SCENARIO, duration=0.1, pace="free", set=now)
    assert ended.kind == "duration_reached" and ended.ticks == 100
    with pytest.raises(hardstand.HardstandError, match="sim.rate_hz") as refused:
        hardstand.run(SCENARIO, set=["sim.rate_hz=7"])
    assert refused.value.kind == "input"
    lonely = ["control.patience_s=0.2", listen]
    with pytest.raises(hardstand.HardstandError) as late:
        hardstand.run(SCENARIO, mode="lockstep", pace="free", duration=1, set=lonely)
    assert late.value.kind == "controller_timeout"


def test_a_campaign_gives_a_table(tmp_path: Path, controller: list[str]) -> None:
    file = tmp_path / "c.toml"
    file.write_text(
        f'duration_s = 0.1\nseeds = 2\n[[scenarios]]\nname = "flat"\nfile = "{SCENARIO}"\n'
    )
    done = hardstand.campaign(file, controller, jobs=1)
    assert done.finished == 2 and done.outcomes.done == 2 and done.failing == []
    assert Path(done.table_csv).exists()
    folder, junit = Path(done.table_csv).parent, tmp_path / "junit.xml"
    report = hardstand.campaign_report(folder, junit=junit)
    assert report.passed == 2 and junit.exists()
    same = hardstand.campaign_compare(folder, folder)
    assert same.compared == same.identical == 2 and same.worse == []
    plan = hardstand.campaign_plan(file)
    assert plan.cases == plan.finished == 2 and plan.open_s == 0


def test_a_hunt_finds_a_push_and_push_limits_are_measured(
    tmp_path: Path, controller: list[str]
) -> None:
    scenario = tmp_path / "hunted.toml"
    robot = 'urdf = "robots/quadruped.urdf"'
    assert robot in (text := SCENARIO.read_text())
    scenario.write_text(
        text.replace(robot, f'urdf = "{SCENARIO.parent}/robots/quadruped.urdf"')
        + "\n[hunt]\nduration_s = 0.3\n"
        '[[hunt.events]]\nkind = "push"\nlink = "trunk"\nat_s = 0.1\nduration_s = 0.1\n'
        "force_n = [0.0, 0.0, { between = [0.0, 400.0] }]\n"
    )
    out = tmp_path / "found"
    done = hardstand.hunt(scenario, "base.z > 0.36", controller, cases=20, jobs=1, out=out)
    assert done.found.kind == "held" and "push" in done.found.sentence
    assert hardstand.bisect(done.found.log, where="base.z > 0.36").found is not None
    none = hardstand.hunt(
        scenario, "base.z > 99", controller, cases=2, jobs=1, out=tmp_path / "none"
    )
    assert none.found is None and none.cases == 2
    limits = hardstand.pushes(
        SCENARIO, "abs(base.x) > 0.05", controller, directions=1, at=0.2, most=400, steps=4,
        after=0.2, jobs=1, out=tmp_path / "pushes",
    )
    assert len(limits.limits) == 1 and Path(limits.plot).exists()


def test_all_names_are_there_without_optional_packages() -> None:
    names: dict[str, object] = {}
    exec("from hardstand import *", names)  # noqa: S102
    assert {"connect", "hunt", "Plant"} <= set(names) and "gym" not in names


def test_a_controller_in_python_is_certified(tmp_path: Path, controller: list[str]) -> None:
    listen = f'bus.listen=["unixsock-stream/{tmp_path}/s"]'
    out = tmp_path / "certificate"
    done = hardstand.certify(SCENARIO, controller, duration=0.1, out=out, set=[listen])
    assert done.certified and (out / "certificate.html").exists()


def test_replay_shows_a_log_to_a_controller(
    tmp_path: Path, log: Path, controller: list[str]
) -> None:
    listen = f'bus.listen=["unixsock-stream/{tmp_path}/s"]'
    shown = hardstand.replay(log, controller=controller, set=[listen])
    assert shown.identical and shown.compared == shown.equal > 0


def test_the_program_is_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HARDSTAND", str(tmp_path / "none"))
    with pytest.raises(hardstand.HardstandError, match="HARDSTAND is"):
        binary.find()
    monkeypatch.delenv("HARDSTAND")
    monkeypatch.setattr("sysconfig.get_path", lambda name: str(tmp_path))
    program = tmp_path / "hardstand"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    assert binary.find() == program


def test_a_log_of_our_own_is_compared_with_its_scenario(tmp_path: Path, log: Path) -> None:
    table = tmp_path / "t.csv.gz"
    assert hardstand.import_log(log, table).rows > 10
    same = hardstand.compare(table, SCENARIO, window=0.05, max_rms_rad=1e-3)
    assert same.within_limits and len(same.joints) == 12
    assert not hardstand.compare(table, SCENARIO, window=0.05, max_rms_rad=1e-12).within_limits
    with pytest.raises(hardstand.HardstandError, match="no number there"):
        hardstand.calibrate(table, SCENARIO, ["frictoin"], tmp_path / "fitted")
