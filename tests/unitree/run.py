"""Runs a program of Unitree's SDK, or one that makes the same calls, against the daemon: each in a
network namespace of its own with nothing but the loopback interface, domain 0, no multicast.

    unshare -n python3 tests/unitree/run.py HARDSTAND SCENARIO [--set KEY=VALUE]... -- PROGRAM...

Needs root for the namespace. A program that goes on for ever is ended after `--seconds`. The robot
must be upright at the end, the log must replay, and each condition of `--reaches`, in the words of
`hardstand bisect --where`, must hold at some tick. Programs in Python on a busy machine miss their
2 ms now and then, so a command is held for 0.5 s.
"""
import argparse
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

TILT_DEG_MAX = 20.0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, help="end the program after this time")
    parser.add_argument("--reaches", action="append", default=[])
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("hardstand")
    parser.add_argument("scenario")
    parser.add_argument("program", nargs="+")
    given = parser.parse_args()
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    folder = pathlib.Path(tempfile.mkdtemp())
    log = folder / "run.mcap"
    sets = ["ros2.mode=dds", "unitree.enabled=true", "command.hold_ticks=500",
            *given.set]
    words = [given.hardstand, "run", given.scenario, "--log", str(log)]
    words += [word for one in sets for word in ("--set", one)]
    with open(folder / "daemon.out", "w+") as out:
        daemon = subprocess.Popen(words, stdout=out, stderr=subprocess.STDOUT)
        try:
            # the guard listens for two seconds
            time.sleep(4)
            printed = drive(given)
        finally:
            daemon.send_signal(signal.SIGTERM)
            code = daemon.wait(30)
            out.seek(0)
            text = out.read()
    print(text)
    replayed = subprocess.run([given.hardstand, "replay", str(log)], capture_output=True, text=True)
    print(replayed.stdout, replayed.stderr)
    tilt = float(re.search(r"robot +height .*tilt +([0-9.]+)°", text)[1])
    assert code == 0 and replayed.returncode == 0, "the daemon"
    # go2_stand_example.py ends with -1
    assert "Done!" in printed or given.seconds, "the program did not come to its end"
    for where in given.reaches:
        found = subprocess.run([given.hardstand, "bisect", str(log), "--where", where],
                               capture_output=True, text=True)
        # 1: found
        assert found.returncode == 1, f"no tick with {where}: {found.stdout} {found.stderr}"
    assert tilt < TILT_DEG_MAX, f"the robot's tilt is {tilt}° at the end"
    print(f"upright: tilt {tilt}° at the end")


def drive(given):
    """What the program prints until its end."""
    program = subprocess.Popen(given.program, stdin=subprocess.PIPE, text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    program.stdin.write("\n")
    program.stdin.flush()
    try:
        printed, _ = program.communicate(timeout=given.seconds or 120)
    except subprocess.TimeoutExpired:
        if not given.seconds:
            raise
        program.kill()
        printed, _ = program.communicate()
    print(printed, "exit code", program.returncode)
    return printed


if __name__ == "__main__":
    main()
