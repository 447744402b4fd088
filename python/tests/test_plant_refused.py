"""What a plant in this process refuses: the name, the value and what is allowed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import hardstand
import pytest
from conftest import SCENARIO

pytest.importorskip("hardstand._native")

PLANT: list[tuple[Callable[[Any], Any], str]] = [
    (lambda p: p.step(ticks=-1), r"ticks is -1; it must be 0 to 2\*\*64 - 1"),
    (lambda p: p.step(ticks=1.5), "ticks is 1.5; it must be a whole number"),
    (lambda p: p.step(q="up"), "q is 'up'; it must be numbers"),
    (lambda p: p.push("wing", [0, 1, 0], 0.1), 'push: link is "wing": it must be the name of a li'),
    (lambda p: p.push("trunk", [0, 1], 0.1), "force has 2 numbers"),
    (lambda p: p.push("trunk", [0, 1, 0], float("inf")), "duration is inf s; it must be more than"),
    (lambda p: p.push("trunk", [0, 1, 0], "long"), "duration is long; it must be a number of sec"),
    (lambda p: p.push("trunk", [0, 1e9, 0], 0.1), "force_n is 1000000000; it must be -1000000 to"),
    (lambda p: p.friction(-1, 0), "mu_static is -1; it must be 0 to"),
    (lambda p: p.friction("a", 0), "mu_static is a; it must be a number or a list of numbers"),
    (lambda p: p.fault("motor_dead", joint="FL_calf_joint", foot="FL"), "one part at a time, not"),
    (
        lambda p: p.fault("battery_sag", share=0.5, duration=1, duration_s=1),
        "duration and duration_s are the same",
    ),
    (lambda p: hardstand.Plant(SCENARIO, controller=""), 'controller is ""; it must be 1 to 64'),
    (lambda p: hardstand.Plants(SCENARIO, 1.5), "n is 1.5; it must be a whole number"),
    (lambda p: hardstand.Plants(SCENARIO, 1, threads=-1), "threads is -1; it must be 1 to"),
]


@pytest.mark.parametrize(("call", "words"), PLANT)
def test_a_plant_names_what_it_refuses(call: Callable[[Any], Any], words: str) -> None:
    plant = hardstand.Plant(SCENARIO)
    with pytest.raises(hardstand.Refused, match=words):
        call(plant)
    plant.step()
    sound = hardstand.Plant(SCENARIO)
    sound.step()
    assert plant.digest == sound.digest
