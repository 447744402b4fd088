"""Installs the peers into a temporary folder and builds the programs that measure them.

Each step raises Missing with a reason when it cannot be done; nothing is installed outside `home`.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PACKAGES = {"mujoco": ["mujoco"], "pinocchio": ["pin", "cmeel-eigen"]}
# the flags that pinocchioTargets.cmake requires, without the library's precompiled templates, which
# were built for CPUs without AVX
BOOST_LIMITS = ["-DBOOST_MPL_LIMIT_LIST_SIZE=30", "-DBOOST_MPL_LIMIT_VECTOR_SIZE=30",
                "-DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS", "-DBOOST_FUSION_INVOKE_MAX_ARITY=12"]
OPTIMISE = ["-O3", "-march=native", "-DNDEBUG"]


class Missing(Exception):
    """A peer, or a tool that it needs, is not available."""


def call(command, what, **options):
    """Output of a command; Missing with the last line it wrote if it fails."""
    try:
        done = subprocess.run([str(c) for c in command], capture_output=True, text=True, **options)
    except OSError as error:
        raise Missing(f"{what}: {error}") from None
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines()
        said = said or [f"ended with code {done.returncode}"]
        reason = next((line for line in said if "error" in line.lower()), said[-1])
        raise Missing(f"{what}: {reason[:200]}")
    return done.stdout


def target_folder():
    """Cargo's target folder, which is $CARGO_TARGET_DIR where that is set."""
    text = call(["cargo", "metadata", "--locked", "--no-deps", "--format-version", "1"],
                "cargo metadata", cwd=ROOT)
    return Path(json.loads(text)["target_directory"])


def build_ours():
    """Path of our bench, built like a release."""
    text = call(["cargo", "bench", "--locked", "--no-default-features", "--bench", "peers",
                 "--no-run", "--message-format=json"], "cargo bench --no-run", cwd=ROOT)
    messages = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
    paths = [m["executable"] for m in messages
             if m.get("reason") == "compiler-artifact" and m["target"]["name"] == "peers"]
    if not paths:
        raise Missing("cargo built no bench named peers")
    return paths[-1]


def python(home):
    """Python of the temporary environment."""
    venv = home / "venv"
    if not (venv / "bin/pip").exists():
        call([sys.executable, "-m", "venv", venv], "python3 -m venv")
    return venv / "bin/python"


def install(home, peer):
    """Installs a peer's packages from PyPI; returns where they are and the version."""
    interpreter = python(home)
    call([interpreter, "-m", "pip", "install", "--quiet", *PACKAGES[peer]], f"pip install {peer}")
    code = (f"import sysconfig, importlib.metadata as m; print(sysconfig.get_path('platlib'));"
            f"print(m.version('{PACKAGES[peer][0]}'))")
    packages, version = call([interpreter, "-c", code], "python").split()
    return Path(packages), version


def compiler(home):
    """(command, environment, version) of a C++ compiler: clang if it is there, or if the
    distribution's archive can be unpacked into `home`; g++ otherwise."""
    names = ["clang++"] + [f"clang++-{n}" for n in range(25, 13, -1)]
    found = next((shutil.which(n) for n in names if shutil.which(n)), None)
    if found:
        return [found], None, version_of(found)
    try:
        return unpacked_clang(home)
    except Missing as missing:
        print(f"  no clang ({missing}); g++ instead, which makes Pinocchio slower")
    gcc = shutil.which("g++") or shutil.which("c++")
    if not gcc:
        raise Missing("no C++ compiler: install clang or g++")
    return [gcc], None, version_of(gcc)


def version_of(command, environment=None):
    text = call([command, "--version"], str(command), env=environment)
    return text.splitlines()[0].strip()


def unpacked_clang(home):
    """Clang from the packages of Debian or Ubuntu, unpacked without being installed."""
    folder = home / "clang"
    if not list(folder.glob("usr/bin/clang++*")):
        archive = folder / "archive"
        archive.mkdir(parents=True, exist_ok=True)
        listed = call(["apt-cache", "pkgnames", "clang-"], "apt-cache").split()
        numbers = [int(n[6:]) for n in listed if re.fullmatch(r"clang-\d+", n)]
        # the published figures used for comparison were made with version 16
        name = "clang-16" if 16 in numbers else f"clang-{max(numbers, default=16)}"
        plan = call(["apt-get", "--simulate", "--no-install-recommends", "install", name],
                    "apt-get --simulate install")
        packages = re.findall(r"^Inst (\S+)", plan, re.M)
        call(["apt-get", "--quiet", "download", *packages], "apt-get download", cwd=archive)
        for package in archive.glob("*.deb"):
            call(["dpkg", "-x", package, folder], "dpkg -x")
    commands = sorted(folder.glob("usr/bin/clang++*"))
    if not commands:
        raise Missing("the packages have no clang++")
    libraries = {str(p.parent) for p in folder.glob("usr/lib/**/lib*.so*")}
    environment = dict(os.environ, LD_LIBRARY_PATH=":".join(sorted(libraries)))
    return [str(commands[0])], environment, version_of(commands[0], environment)


def is_current(program, *parts):
    """Whether a program is newer than all its sources."""
    made_from = [Path(__file__), *parts]
    return program.exists() and all(
        part.stat().st_mtime < program.stat().st_mtime for part in made_from)


def build_mujoco(home, cxx, packages):
    """Builds mujoco_peer; returns its path."""
    command, environment, _ = cxx
    library = next((packages / "mujoco").glob("libmujoco.so*"), None)
    if library is None:
        raise Missing("the mujoco wheel has no libmujoco.so")
    source, out = HERE / "mujoco_peer.c", home / "mujoco_peer"
    if is_current(out, source, library):
        return out
    call([*command, "-x", "c", *OPTIMISE, f"-I{library.parent}/include", source,
          "-x", "none", library, f"-Wl,-rpath,{library.parent}", "-lm", "-o", out],
         "building mujoco_peer", env=environment)
    return out


def build_pinocchio(home, cxx, packages):
    """Builds pinocchio_peer; returns its path."""
    command, environment, _ = cxx
    prefix = packages / "cmeel.prefix"
    source, out = HERE / "pinocchio_peer.cpp", home / "pinocchio_peer"
    if is_current(out, source, prefix / "lib/libboost_serialization.so"):
        return out
    call([*command, "-std=c++17", *OPTIMISE, *BOOST_LIMITS, "-isystem", prefix / "include",
          "-isystem", prefix / "include/eigen3", source,
          prefix / "lib/libboost_serialization.so", f"-Wl,-rpath,{prefix / 'lib'}", "-o", out],
         "building pinocchio_peer", env=environment)
    return out


def translate(home, peer):
    """Writes the robots in a peer's own format; returns their folder."""
    models = home / "models"
    models.mkdir(exist_ok=True)
    call([python(home), HERE / "robots.py", peer, models], f"translating the robots for {peer}")
    return models
