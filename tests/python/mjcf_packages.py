"""Compares all MuJoCo models of robots with legs in installed packages with MuJoCo's own numbers.

    python mjcf_packages.py PACKAGE... [--states 5] [--check]

PACKAGE is a name on PyPI, installed beside mujoco, numpy and hardstand; `.ci/models` installs all of
them. A model counts if MuJoCo reads it, and it has weight, one free joint and four or more hinges. Its reference
is written beside it (`mjcf_reference.py`), and compared (`mjcf_compare.py`). Exit code 1 if a model
is not read, or is further off than 1e-10. With --check nothing of Hardstand is needed.
"""

import argparse
import importlib.metadata
import pathlib
import sys

import mjcf_compare
import mjcf_reference
import mujoco


def models(package):
    """Files of a package that MuJoCo reads and that are robots with legs."""
    for file in importlib.metadata.files(package) or []:
        path = pathlib.Path(file.locate())
        if path.suffix != ".xml" or "<mujoco" not in path.read_text("utf-8", "replace"):
            continue
        try:
            model = mujoco.MjModel.from_xml_path(str(path))
        except ValueError:
            continue  # a part of a model, or one whose meshes the package does not ship
        kinds = list(model.jnt_type)
        hinges = kinds.count(mujoco.mjtJoint.mjJNT_HINGE)
        swims = model.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_GRAVITY
        if kinds.count(mujoco.mjtJoint.mjJNT_FREE) == 1 and hinges >= 4 and not swims:
            yield path


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("packages", nargs="+")
    arguments.add_argument("--states", type=int, default=5)
    arguments.add_argument("--check", action="store_true")
    chosen = arguments.parse_args()
    chosen.base_axes = "world"
    good = []
    for path in (path for package in chosen.packages for path in models(package)):
        reference = mjcf_reference.reference(path, chosen.states, 1)
        beside = path.with_suffix(".json")
        beside.write_text(mjcf_reference.written(reference) + "\n", encoding="utf-8")
        good.append(mjcf_compare.report(beside, chosen, 1e-12 if chosen.check else 1e-10))
    print(f"{sum(good)} of {len(good)} models agree")
    sys.exit(0 if good and all(good) else 1)


if __name__ == "__main__":
    main()
