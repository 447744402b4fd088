"""Compares the rows of a simulator with those of MuJoCo stiff."""

from __future__ import annotations

from typing import Any

REFERENCE = "MuJoCo stiff"
OURS = ("spring", "Hunt–Crossley", "rigid")
PEER = ("MuJoCo", REFERENCE)


def walkers_of(found: dict[str, Any]) -> list[str]:
    """Names, in their order."""
    return list(dict.fromkeys(row["walker"] for row in found["rows"]))


def by_command(found: dict[str, Any], walker: str, simulator: str) -> dict[str, dict[str, Any]]:
    """The rows of a walker on a simulator."""
    return {
        row["command"]: row for row in found["rows"]
        if row["walker"] == walker and row["simulator"] == simulator
    }


def compare(found: dict[str, Any], walker: str, simulator: str) -> dict[str, Any] | None:
    """Largest differences from MuJoCo stiff, over all commands. Power and steps of standing
    robots are left out: they are near 0."""
    mine, peer = by_command(found, walker, simulator), by_command(found, walker, REFERENCE)
    both = [(mine[name], peer[name]) for name in mine if name in peer]
    if not both:
        return None
    moving = [(a, b) for a, b in both if any(a["asked"])]

    def apart(a: dict[str, Any], b: dict[str, Any], parts: range) -> float:
        return max(abs(float(a["measured"][i] - b["measured"][i])) for i in parts)

    return {
        "runs": len(both), "fell": sum(a["fell_s"] is not None for a, _ in both),
        "speed": max(apart(a, b, range(2)) for a, b in both),
        "turn": max(apart(a, b, range(2, 3)) for a, b in both),
        "height_mm": [1000 * (a["height_m"] - b["height_m"]) for a, b in both],
        "torque": [a["torque_nm"] / b["torque_nm"] for a, b in both],
        "power": [a["power_w"] / b["power_w"] for a, b in moving],
        "wall_s": max(a["wall_s"] for a, _ in both),
        "steps": [a["steps_hz"] / b["steps_hz"] for a, b in moving if b["steps_hz"] > 0],
    }
