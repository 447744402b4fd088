"""The tables of the sharp tests."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

Found = dict[str, Any]
Table = Callable[[str, Iterable[Iterable[object]]], str]


def parts(table: Table, span: Callable[..., str]) -> dict[str, Callable[[Found], str]]:
    """Names and makers of the tables."""
    return {
        "fall": lambda found: fall(found, table), "push": lambda found: push(found, table),
        "wrong": lambda found: wrong(found, table), "pause": lambda found: pause(found, table),
        "certify": lambda found: certify(found, table),
        "bounce": lambda found: bounce(found, table),
    }


def of(found: Found, test: str) -> list[tuple[str, dict[str, Any]]]:
    """A test's results by walker."""
    return [(w, tests[test]) for w, tests in found["sharp"].items() if test in tests]


def fall(found: Found, table: Table) -> str:
    """Free fall."""
    rows = [
        (w, *(f"{r[key]:.1e}" for key in (
            "error_rad", "same_integrator_rad", "corrected_rad", "armature_1_percent_rad",
        )))
        for w, r in of(found, "free fall")
    ]
    return table(
        "walker | MuJoCo's own integrator, rad | the same integrator, rad "
        "| the same, momentum corrected here, rad "
        "| the same, rotors 1 % heavier in MuJoCo, rad", rows,
    )


def push(found: Found, table: Table) -> str:
    """Push limits."""
    rows = [
        (w, *(f"{r[s][0]:.0f}, {r[s][1]:.0f}" for s in ("exponential_spring", "rigid", "stiff")))
        for w, r in of(found, "push")
    ]
    return table("walker | spring, N | rigid, N | MuJoCo stiff, N", rows)


def wrong(found: Found, table: Table) -> str:
    """Plants that are wrong on purpose."""
    rows = []
    for w, cases in of(found, "wrong plants"):
        for name, r in cases.items():
            vx, vy, turn = (round(v, 3) + 0.0 for v in r["measured"])
            rows.append((
                w, name, f"{vx:.3f}, {vy:.3f}, {turn:.3f}", f"{r['height_m']:.3f}",
                f"{r['torque_nm']:.2f}", f"{r['power_w']:.1f}", f"{r['steps_hz']:.2f}",
                "no" if r["fell_s"] is None else f"{r['fell_s']:.2f} s",
            ))
    return table(
        "walker | plant | measured: m/s, m/s, rad/s | height, m | torque, N·m | power, W "
        "| steps, Hz | fell", rows,
    )


def pause(found: Found, table: Table) -> str:
    """A controller that was stopped for 0.3 s."""
    rows = [
        (w, name.split()[-1], f"{r['damped_s']:.3f}", r["rejoined"], f"{r['tilt_max_rad']:.2f}",
         f"{r['height_min_m']:.3f}", "no" if r["fell_s"] is None else f"{r['fell_s']:.2f} s",
         f"{r['speed_after']:.2f}")
        for w, tests in found["sharp"].items() for name, r in tests.items()
        if name.startswith("pause")
    ]
    return table(
        "walker | hold_ticks | damped, s | joined again | greatest tilt, rad | least height, m "
        "| fell | speed in the last 2 s, m/s", rows,
    )


def certify(found: Found, table: Table) -> str:
    """Certificates."""
    rows = [
        (w, "yes" if r["certified"] else "NO", r.get("seconds", ""),
         ", ".join(f"{n}: {v}" for n, v in r.get("runs", {}).items()))
        for w, r in of(found, "certify")
    ]
    return table("walker | certified | simulated, s | runs", rows)


def bounce(found: Found, table: Table) -> str:
    """Power by dissipation."""
    tests = of(found, "bounce")
    names = list(tests[0][1]) if tests else []
    head = [n if n.startswith("M") else f"cz {n}" for n in names]
    return table(
        " | ".join(["walker", *(f"{n}, W" for n in head)]),
        [(w, *(f"{r[n]:.1f}" for n in names)) for w, r in tests],
    )
