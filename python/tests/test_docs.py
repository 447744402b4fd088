"""The examples of docs/python.md and of the folder examples run as they are."""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from typing import Any

import hardstand
import pytest
from conftest import ROOT, SCENARIO
from hardstand import contract as contracts

PAGE = (ROOT / "docs" / "python.md").read_text()
NATIVE = "<!-- needs the extension module -->\n"


def blocks(language: str) -> list[tuple[str, str]]:
    """Section and text of each example."""
    found = []
    for section in re.split(r"^## ", PAGE, flags=re.MULTILINE)[1:]:
        title = section.splitlines()[0]
        form = rf"(?P<before>.*\n)```{language}\n(?P<text>.*?)```"
        for match in re.finditer(form, section, re.S):
            if match["before"].endswith(NATIVE):
                title += ", native"
            found.append((title, match["text"]))
    return found


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which the examples find their files."""
    (tmp_path / "config").symlink_to(ROOT / "config")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(text: str, names: dict[str, Any]) -> None:
    exec(compile(text, "docs/python.md", "exec"), names)


def test_every_example_of_the_page_runs(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pandas")
    names: dict[str, Any] = {}
    ran = 0
    for title, text in blocks("python"):
        if title.endswith("native"):
            continue
        with hardstand.daemon(SCENARIO, duration=0.2) as robot:
            monkeypatch.setenv("HARDSTAND_CONNECT", robot.bus.endpoint)
            if title == "A controller":
                with pytest.raises(hardstand.DaemonGone):
                    run(text, names)
                assert robot.daemon.wait().ticks == 200
            else:
                run(text, names)
        ran += 1
    assert ran == 6


def test_the_examples_with_the_extension_module_run(folder: Path) -> None:
    pytest.importorskip("hardstand._native")
    pytest.importorskip("gymnasium")
    native = [text for title, text in blocks("python") if title.endswith("native")]
    assert len(native) == 2
    for text in native:
        run(text, {"hardstand": hardstand})


def test_the_contract_of_the_page_is_one() -> None:
    (_title, text), = blocks("toml")
    contract = contracts.parse(text)
    joints = contract.joints + contract.hold[0].joints
    assert contracts.violations(contract, contracts.Robot(joints, 0.001), None, {"vx": 0.5}) == []


def test_the_example_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    file = ROOT / "examples" / "stand.py"
    code = [line for line in file.read_text().split('"""')[2].splitlines() if line]
    assert len(code) <= 10
    with hardstand.daemon(SCENARIO, duration=0.2) as robot:
        monkeypatch.setenv("HARDSTAND_CONNECT", robot.bus.endpoint)
        with pytest.raises(hardstand.DaemonGone):
            runpy.run_path(str(file))
        ended = robot.daemon.wait()
    assert ended is not None and ended.ticks == 200
