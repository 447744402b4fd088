"""Writes docs/walkers.md from the numbers, and says which of them are not as they should be."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import sharp_report
from compare import OURS, PEER, REFERENCE, by_command, compare, walkers_of

Found = dict[str, Any]

#: Limits of the rigid model against MuJoCo stiff: m/s and rad/s, share of the power.
SPEED_MAX, POWER_MAX = 0.05, 0.1
#: Of the fall, rad: with each simulator's own treatment of damping, and with the same one.
FALL_MAX, FALL_SAME_MAX = 2e-4, 1e-12


def problems(found: Found) -> list[str]:
    """What is not as it should be, a line each."""
    out = []
    for row in found["rows"]:
        where = f"{row['walker']}, {row['command']}, {row['simulator']}"
        if row["fell_s"] is not None and row["simulator"] not in PEER:
            out.append(f"{where}: fell at {row['fell_s']:.2f} s")
        if row.get("same_bits") is False:
            out.append(f"{where}: other bits than in one process")
    for walker in walkers_of(found):
        c = compare(found, walker, "rigid")
        if c is not None and max(c["speed"], c["turn"]) > SPEED_MAX:
            out.append(f"{walker}: speed differs by {c['speed']:.3f} m/s, {c['turn']:.3f} rad/s")
        if c is not None and max(abs(p - 1) for p in c["power"]) > POWER_MAX:
            out.append(f"{walker}: power differs, shares {c['power']}")
    for walker, tests in found["sharp"].items():
        fall = tests.get("free fall", {"error_rad": 0, "same_integrator_rad": 0})
        if fall["error_rad"] > FALL_MAX or fall["same_integrator_rad"] > FALL_SAME_MAX:
            out.append(f"{walker}, free fall: {fall}")
        if not tests.get("repeat", {"equal": True})["equal"]:
            out.append(f"{walker}: other digests in a second run")
        if not tests.get("certify", {"certified": True})["certified"]:
            out.append(f"{walker}: not certified, {tests['certify']}")
    return out


def table(head: str, rows: Iterable[Iterable[object]]) -> str:
    """A Markdown table; columns of `head` are separated by |."""
    lines = [f"| {head} |", "|" + " --- |" * (head.count("|") + 1)]
    return "\n".join(lines + ["| " + " | ".join(map(str, row)) + " |" for row in rows]) + "\n"


def span(values: list[float], form: str = ".2f") -> str:
    """Least and greatest."""
    return f"{min(values):{form}} to {max(values):{form}}"


def speeds(row: dict[str, Any], key: str, form: str = ".2f") -> str:
    """Three velocities."""
    digits = int(form[1])
    return ", ".join(f"{round(v, digits) + 0.0:{form}}" for v in row[key])


def versions(found: Found) -> str:
    """One paragraph."""
    own = ", ".join(f"{name} {version}" for name, version in found["versions"].items())
    names = dict.fromkeys(p for text in found["packages"].values() for p in text.split(", "))
    return textwrap.fill(
        f"Versions: {own}; {', '.join(names)}. {len(found['rows'])} runs of "
        f"{found['seconds']:g} s, measured from {found['settle_s']:g} s on, in "
        f"{found['wall_s'] / 60:.0f} minutes.", 100, break_on_hyphens=False,
    ) + "\n"


def summary(found: Found) -> str:
    """Differences from MuJoCo stiff."""
    rows = []
    for walker in walkers_of(found):
        for simulator in (*OURS, "MuJoCo"):
            c = compare(found, walker, simulator)
            if c is None:
                continue
            rows.append((
                walker, simulator, f"{c['fell']} of {c['runs']}", f"{c['speed']:.3f}",
                f"{c['turn']:.3f}", span(c["height_mm"], ".1f"), span(c["torque"]),
                span(c["power"]), span(c["steps"]), f"{c['wall_s']:.1f}",
            ))
    return table(
        "walker | on | falls | speed, m/s | turn, rad/s | height, mm | torque | power | steps "
        "| slowest run, s", rows,
    )


def commands(found: Found) -> str:
    """Asked and measured velocities, ours rigid beside MuJoCo stiff."""
    rows = []
    for walker in walkers_of(found):
        mine, peer = by_command(found, walker, "rigid"), by_command(found, walker, REFERENCE)
        for name, row in mine.items():
            other = peer[name]
            rows.append((
                walker, name, speeds(row, "asked", ".1f"), speeds(row, "measured"),
                speeds(other, "measured"), f"{row['power_w']:.1f}", f"{other['power_w']:.1f}",
            ))
    return table(
        "walker | command | asked | rigid | MuJoCo stiff | rigid, W | MuJoCo stiff, W", rows
    )


def live(found: Found) -> str:
    """Lockstep and real time."""
    rows = []
    for walker in walkers_of(found):
        for law in OURS:
            inside, lockstep, timed = (
                by_command(found, walker, law + how).get("forward slow")
                for how in ("", ", daemon in lockstep", ", 1 kHz")
            )
            if not (inside and lockstep and timed):
                continue
            rows.append((
                walker, law, f"`{inside['digest']}`", f"`{lockstep['digest']}`",
                "all" if lockstep["same_bits"] else "not all", speeds(inside, "measured", ".3f"),
                speeds(timed, "measured", ".3f"), f"{inside['power_w']:.1f}",
                f"{timed['power_w']:.1f}", timed["missed_deadlines"],
                "no" if timed["fell_s"] is None else f"{timed['fell_s']:.2f} s",
            ))
    return table(
        "walker | on | digest in process | through a daemon | equal states | in process | at 1 kHz "
        "| in process, W | at 1 kHz, W | late ticks | fell at 1 kHz", rows,
    )


def whole(found: Found) -> str:
    """Every row, for a page of its own."""
    rows = [
        (
            r["walker"], r["command"], r["simulator"], speeds(r, "asked", ".1f"),
            speeds(r, "measured", ".3f"), f"{r['height_m']:.3f}", f"{r['torque_nm']:.2f}",
            f"{r['power_w']:.1f}", f"{r['positive_w']:.1f}", f"{r['steps_hz']:.2f}",
            "no" if r["fell_s"] is None else f"{r['fell_s']:.2f} s",
            f"`{r['digest']}`" if r["digest"] else "",
        )
        for r in found["rows"]
    ]
    return "# All runs of the walkers\n\nWritten by `benches/walkers/run.py`; " \
        "[walkers.md](../walkers.md) describes the columns.\n\n" + versions(found) + "\n" + table(
            "walker | command | on | asked: m/s, m/s, rad/s | measured | height, m | torque, N·m "
            "| power, W | positive, W | steps, Hz | fell | digest", rows,
        )


def replace(page: Path, parts: dict[str, str]) -> None:
    """Replaces the parts of the page that are named `<!-- measured: NAME -->`."""
    text = page.read_text()
    for name, made in parts.items():
        begin, end = f"<!-- measured: {name} -->\n", "<!-- end -->"
        pattern = re.escape(begin) + r".*?" + re.escape(end)
        whole = f"{begin}\n{made}\n{end}".replace("\\", r"\\")
        text = re.sub(pattern, whole, text, flags=re.DOTALL)
    page.write_text(text)


def rewrite(page: Path, found: Found) -> None:
    """Writes all measured parts of the page, and the page of all runs."""
    parts: dict[str, Callable[[Found], str]] = {
        "versions": versions, "summary": summary, "commands": commands, "live": live,
    } | sharp_report.parts(table, span)
    replace(page, {name: make(found) for name, make in parts.items()})
    other = page.with_suffix("") / "table.md"
    other.parent.mkdir(exist_ok=True)
    other.write_text(whole(found))
