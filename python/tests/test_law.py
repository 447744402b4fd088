"""Control laws of Rust, called from Python: the digests of every other way."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import hardstand

pytest.importorskip("hardstand._native")

TICKS = 1500


def walked(scenario: Path) -> hardstand.Plant:
    plant = hardstand.Plant(scenario, controller="legs")
    plant.run(hardstand.Law.trot(plant.model, vx=0.4), TICKS)
    return plant


def test_a_law_has_the_same_digest_in_a_plant_and_in_a_daemon(scenario: Path) -> None:
    plant = walked(scenario)
    stepped = hardstand.Plant(scenario, controller="legs")
    law = hardstand.Law.trot(stepped.model, vx=0.4)
    for _ in range(TICKS):
        stepped.step(**law.answer(stepped.state))
    assert stepped.digest == plant.digest

    with hardstand.daemon(scenario, duration=TICKS / 1000) as robot:
        law = hardstand.Law.trot(robot.model, vx=0.4)
        for state in robot.states(join="legs", joints=law.joints, period=law.period):
            robot.command(**law.answer(state))
        assert robot.daemon.wait().digest == f"{plant.digest:016x}"


def test_the_example_of_the_page_runs(
    scenario: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(scenario.parents[1])
    page = (scenario.parents[1] / "docs" / "laws.md").read_text()
    found = re.search(r"extension module -->\n```python\n(.*?)```", page, re.S)
    assert found
    exec(compile(found[1], "docs/laws.md", "exec"), {})
    assert capsys.readouterr().out == "True\n"


def test_the_messages_of_a_plant_are_those_of_a_daemon(scenario: Path) -> None:
    plant = walked(scenario)
    assert plant.state.tick == plant.tick == TICKS
    assert np.array_equal(plant.state.q, plant.q)
    assert plant.state.digest == plant.digest
    assert plant.model.joints == tuple(plant.joints)


def test_a_law_for_some_joints_leaves_the_others(scenario: Path) -> None:
    plant = hardstand.Plant(scenario)
    calves = [name for name in plant.joints if "calf" in name]
    law = hardstand.Law.stand(plant.model, joints=calves, kp=50)
    assert (law.joints, law.period) == (tuple(calves), 1)
    plant.run(law, 200)
    hips = [i for i, name in enumerate(plant.joints) if "calf" not in name]
    assert np.all(plant.tau[hips] == 0.0)
    assert np.any(np.delete(plant.tau, hips) != 0.0)
    again = plant.clone()
    plant.run(law, 100)
    again.run(law, 100)
    assert plant.digest == again.digest


def test_what_does_not_fit_is_named(scenario: Path, tmp_path: Path) -> None:
    model = hardstand.Plant(scenario).model
    with pytest.raises(ValueError, match="kp is 1000000000"):
        hardstand.Law.stand(model, kp=1e9)
    with pytest.raises(ValueError, match="\"wing\" is unknown"):
        hardstand.Law.stand(model, joints=["wing"])
    with pytest.raises(OSError, match="none.toml"):
        hardstand.Law.policy(model, tmp_path / "none.toml")
