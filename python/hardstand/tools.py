"""The commands of the program `hardstand` as functions. docs/cli.md lists the fields of results."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from . import binary
from .binary import Path_, Result, options, with_command
from .errors import HardstandError


def _one(*arguments: Path_) -> Any:
    return binary.call(*arguments, "--json")[-1]


def run(
    scenario: Path_,
    *,
    duration: float | None = None,
    log: Path_ | None = None,
    mode: str | None = None,
    pace: str | None = None,
    speed: float | None = None,
    from_: Path_ | None = None,
    set: Sequence[str] = (),
) -> Result:
    """Simulates a scenario until it ends: the fields of `ended`. `hardstand.daemon` starts one
    beside a controller in this program."""
    given = options(
        duration=duration, log=log, mode=mode, pace=pace, speed=speed, from_=from_, set=list(set)
    )
    said: Result = _one("run", scenario, *given)
    ended: Result = said.get("ended", said)
    return ended


def replay(
    log: Path_,
    *,
    threads: int | None = None,
    set: Sequence[str] = (),
    controller: Sequence[Path_] | None = None,
    speed: float | None = None,
) -> Result:
    """Runs a log again and compares the digest of every tick: `result.identical`. With
    `controller`, a command line, shows the log's states to it and compares its answers."""
    given = options(threads=threads, set=list(set), speed=speed, to_controller=bool(controller))
    command = with_command(controller)
    return Result(binary.call("replay", log, "--json", *given, *command)[-1])


def verify(log: Path_) -> Result:
    """Checks the chain of checksums of a log in all its files: `result.verdict` is "complete",
    "cut_off", "broken" or "no_chain", and `result.fault` says where it breaks and which tick
    is the last certain one."""
    try:
        return Result(_one("verify", log))
    except HardstandError as error:
        if isinstance(error.result, Result) and "verdict" in error.result:
            return error.result
        raise


def certify(
    scenario: Path_,
    controller: Sequence[Path_],
    *,
    duration: float | None = None,
    out: Path_ | None = None,
    set: Sequence[str] = (),
    keep_logs: bool = False,
    patience: float | None = None,
) -> Result:
    """Tests whether the closed loop with the command line `controller` is a function of its inputs:
    `result.certified`. The files of the certificate are in the folder `out`."""
    given = options(
        duration=duration, out=out, set=list(set), keep_logs=keep_logs, patience=patience
    )
    command = with_command(controller)
    return Result(binary.call("certify", scenario, "--json", *given, *command)[-1])


def campaign(
    file: Path_,
    controller: Sequence[Path_] | None = None,
    *,
    out: Path_ | None = None,
    jobs: int | None = None,
    shard: str | None = None,
    case: Sequence[str] = (),
    table: bool = False,
    junit: Path_ | None = None,
    html: Path_ | None = None,
) -> Result:
    """Runs scenarios × faults × seeds, or those of the names `case`: counts, failing cases, and the
    files of the table, for instance `pandas.read_parquet(result.table_parquet)`. Writes reports to
    the files `junit` and `html`."""
    given = options(
        out=out, jobs=jobs, shard=shard, case=list(case), table=table, junit=junit, html=html
    )
    command = with_command(controller)
    return Result(binary.call("campaign", file, "--json", *given, *command)[-1])


def campaign_report(
    folder: Path_, *, junit: Path_ | None = None, html: Path_ | None = None
) -> Result:
    """Counts the cases in a folder of results by what they came to, and writes them to the files
    `junit` (JUnit XML) and `html` (a page)."""
    given = options(junit=junit, html=html)
    return Result(binary.call("campaign", "report", folder, "--json", *given)[-1])


def campaign_compare(before: Path_, after: Path_, *, confidence: float | None = None) -> Result:
    """Compares two folders of results by the cases that they share: `result.worse`,
    `result.better`, and in `result.groups` the measures with their intervals."""
    given = options(confidence=confidence)
    return Result(binary.call("campaign", "compare", before, after, "--json", *given)[-1])


def campaign_plan(file: Path_, *, out: Path_ | None = None) -> Result:
    """Counts the cases of a campaign, and what they will take: `result.cases`, `result.open_s`."""
    return Result(_one("campaign", "plan", file, *options(out=out)))


def hunt(
    scenario: Path_,
    until: str,
    controller: Sequence[Path_],
    *,
    out: Path_ | None = None,
    seed: int | None = None,
    cases: int | None = None,
    random: int | None = None,
    duration: float | None = None,
    jobs: int | None = None,
    shard: str | None = None,
    set: Sequence[str] = (),
) -> Result:
    """Looks for a case in which the condition `until` holds, with the ranges of the scenario's
    section `hunt`, and shrinks it: `result.found` is None, or has `sentence`, `sets`, `log`, `page`
    and `campaign`."""
    given = options(
        until=until, out=out, seed=seed, cases=cases, random=random, duration=duration, jobs=jobs,
        shard=shard, set=list(set),
    )
    command = with_command(controller)
    return Result(binary.call("hunt", scenario, "--json", *given, *command)[-1])


def pushes(
    scenario: Path_,
    until: str,
    controller: Sequence[Path_],
    *,
    out: Path_ | None = None,
    link: str | None = None,
    directions: int | None = None,
    at: float | None = None,
    period: float | None = None,
    times: int | None = None,
    push: float | None = None,
    most: float | None = None,
    steps: int | None = None,
    after: float | None = None,
    sweep: bool = False,
    seed: int | None = None,
    jobs: int | None = None,
    shard: str | None = None,
    set: Sequence[str] = (),
) -> Result:
    """Measures the largest push that a controller withstands, for directions and times of its gait:
    `result.limits`, and the file `result.plot`. Forces in N, times in s."""
    given = options(
        until=until, out=out, link=link, directions=directions, at=at, period=period, times=times,
        push=push, most=most, steps=steps, after=after, sweep=sweep, seed=seed, jobs=jobs,
        shard=shard, set=list(set),
    )
    command = with_command(controller)
    return Result(binary.call("pushes", scenario, "--json", *given, *command)[-1])


def bisect(
    log: Path_,
    other: Path_ | None = None,
    *,
    where: str | None = None,
    command: Sequence[Path_] | None = None,
    at: int | None = None,
    run_id: int | None = None,
    plot: Path_ | None = None,
    threads: int | None = None,
) -> Any:
    """Finds the first tick of a log at which `where` holds (`result.found`), at which `command`
    judges the robot bad (`result.first_bad`), or at which two logs differ (`result.parted`).
    Without any of these: all quantities, with their values at the tick `at`."""
    which = other is None and where is None and command is None
    given = options(where=where, list=which, at=at, run_id=run_id, plot=plot, threads=threads)
    files = [log] if other is None else [log, other]
    return binary.call("bisect", *files, "--json", *given, *with_command(command))[-1]


def branch(
    log: Path_,
    at: int,
    to: Path_,
    *,
    set: Sequence[str] = (),
    plot: Path_ | None = None,
    controller: Sequence[Path_] | None = None,
) -> Result:
    """Continues a run of a log from the tick `at` with other parameters or another controller,
    into the log `to`, and compares the two."""
    given = options(at=at, set=list(set), log=to, plot=plot)
    command = with_command(controller)
    return Result(binary.call("branch", log, "--json", *given, *command)[-1])


def plot(
    log: Path_,
    what: str | Sequence[str],
    output: Path_,
    *,
    from_: float | None = None,
    to: float | None = None,
) -> Result:
    """Draws quantities of a log over time into a file .svg or .png: `what` is `base`, `feet`,
    `joints`, `efforts`, `friction`, `imu`, `latency`, or names such as `joint.*.dq`; times in s."""
    words = [what] if isinstance(what, str) else list(what)
    given = options(output=os.fspath(output), from_=from_, to=to)
    return Result(_one("plot", log, *words, *given))


def model(urdf: Path_) -> Result:
    """How a robot description is read: joints, masses, possible feet, warnings."""
    return Result(_one("model", urdf))


def import_log(files: Path_ | Sequence[Path_], output: Path_, *, map: Path_ | None = None) -> Result:
    """Makes a table of logs of a real robot (docs/calibration.md)."""
    names = list(files) if isinstance(files, (list, tuple)) else [files]
    return Result(_one("import", *names, *options(output=os.fspath(output), map=map)))


def compare(
    real: Path_,
    scenario: Path_,
    *,
    from_: float | None = None,
    to: float | None = None,
    window: float | None = None,
    max_rms_rad: float | None = None,
    max_joint_rms_rad: float | None = None,
    plot: Path_ | None = None,
    threads: int | None = None,
    set: Sequence[str] = (),
) -> Result:
    """Lets the commands of a table drive the robot of a scenario: `result.rms_rad`, the error of each
    of `result.joints`, and whether it is `result.within_limits`."""
    given = options(
        from_=from_, to=to, window=window, max_rms_rad=max_rms_rad,
        max_joint_rms_rad=max_joint_rms_rad, plot=plot, threads=threads, set=list(set),
    )
    return Result(_one("compare", real, scenario, *given))


def calibrate(
    real: Path_,
    scenario: Path_,
    fit: Sequence[str],
    output: Path_,
    *,
    hold_back: float | None = None,
    window: float | None = None,
    iterations: int | None = None,
    threads: int | None = None,
    set: Sequence[str] = (),
) -> Result:
    """Fits keys of a scenario to a table: `result.estimates`, and the errors before and after on the
    parts `result.fit` and `result.held_back`. Writes `output`.toml and `output`.html."""
    given = options(
        fit=",".join(fit), output=os.fspath(output), hold_back=hold_back, window=window,
        iterations=iterations, threads=threads, set=list(set),
    )
    return Result(_one("calibrate", real, scenario, *given))
