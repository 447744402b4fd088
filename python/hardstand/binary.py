"""Finds the program `hardstand` and runs it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sysconfig
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .errors import KINDS, HardstandError

Path_ = str | os.PathLike[str]


class Result(dict[str, Any]):
    """What a command printed as JSON (docs/cli.md); its fields are attributes too."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f'no field "{name}"; there are {", ".join(self)}') from None


def find() -> Path:
    """The program: HARDSTAND of the environment, or else that of this package, or else on PATH."""
    if given := os.environ.get("HARDSTAND"):
        if not os.access(given, os.X_OK):
            raise HardstandError(
                f"HARDSTAND is {given}, which is no program that can be run", kind="file"
            )
        return Path(given)
    own = Path(sysconfig.get_path("scripts")) / "hardstand"
    if os.access(own, os.X_OK):
        return own
    if found := shutil.which("hardstand"):
        return Path(found)
    raise HardstandError(
        f"the program hardstand is neither {own} nor on PATH; set HARDSTAND to its path",
        kind="file",
    )


def options(**given: Any) -> list[str]:
    """Options of the command line: None and False are left out, lists are repeated."""
    out: list[str] = []
    for name, value in given.items():
        option = "--" + name.rstrip("_").replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            out.append(option)
        elif isinstance(value, (list, tuple)):
            for each in value:
                out += [option, str(each)]
        else:
            out += [option, str(value)]
    return out


def documents(text: str) -> list[Any]:
    """The JSON documents on the lines of `text`."""
    return [json.loads(line, object_hook=Result) for line in text.splitlines() if line.strip()]


def failure(code: int, errors: str, result: Any = None) -> HardstandError:
    """The error of a program that ended with this exit code."""
    if code < 0:
        return HardstandError(f"hardstand was ended by signal {-code}", kind="internal",
                              exit_code=code, result=result)
    text = errors.strip().removeprefix("hardstand: ") or f"exit code {code}"
    return HardstandError(text, kind=KINDS.get(code, "internal"), exit_code=code, result=result)


def call(*arguments: Path_, cwd: Path_ | None = None) -> list[Any]:
    """Runs the program with `--json`: the documents that it prints.

    Exit code 1, a negative answer, is a result too. Raises HardstandError with the kind of any
    other code, the program's message, and what it printed.
    """
    command = [os.fspath(find()), *(os.fspath(a) for a in arguments)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=cwd, check=False)
    printed = documents(done.stdout) if done.stdout.lstrip().startswith(("{", "[", '"')) else []
    if done.returncode == 0 or (done.returncode == 1 and printed):
        return printed
    raise failure(done.returncode, done.stderr, printed[-1] if printed else None)


def with_command(command: Sequence[Path_] | None) -> list[str]:
    """`-- COMMAND` at the end of a command line, or nothing."""
    return ["--", *(os.fspath(c) for c in command)] if command else []
