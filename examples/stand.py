"""A controller in Python: it holds the initial pose, in lockstep and in real time.

    pip install hardstand && python3 examples/stand.py

It finds the daemon by HARDSTAND_CONNECT and HARDSTAND_ROBOT; docs/python.md describes the package.
"""
import hardstand

with hardstand.connect() as robot:
    for state in robot.states(join="legs"):
        robot.command(q=robot.q_initial, kp=100, kd=3)
