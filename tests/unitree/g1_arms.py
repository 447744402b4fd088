"""Makes the same calls in the same order as g1_arm7_sdk_dds_example.py of Unitree's Python SDK: arms
to zero, up, back to zero, and release, without a mode of the motors and without mode_machine. Each
stage takes a third of the example's time. Prints what it reads at the end of each stage."""
import math
import sys
import time

from channel import Channels
from messages import HgLowCmd, HgLowState, crc

ARMS = list(range(15, 29)) + [12, 13, 14]
WEIGHT = 29
UP = [0, math.pi / 2, 0, math.pi / 2, 0, 0, 0, 0, -math.pi / 2, 0, math.pi / 2, 0, 0, 0, 0, 0, 0]
ROLL, ELBOW = 16, 18


def main():
    channels = Channels(0, sys.argv[1] if len(sys.argv) > 1 else None)
    publisher = channels.publisher("rt/arm_sdk", HgLowCmd)
    newest = []
    _reader = channels.subscribe("rt/lowstate", HgLowState,
                                 lambda m: newest.__setitem__(slice(0), [m]))
    while not newest:
        time.sleep(1)
    command, start = HgLowCmd(), time.monotonic()
    for step in range(1, 351):
        t, state = step * 0.02, newest[0]
        command.motor_cmd[WEIGHT].q = 1.0 if t < 6.0 else 7.0 - t
        for joint, up in zip(ARMS, UP):
            motor, q = command.motor_cmd[joint], state.motor_state[joint].q
            motor.tau, motor.dq, motor.kp, motor.kd = 0.0, 0.0, 60.0, 1.5
            if t < 1.0:
                motor.q = (1 - t) * q
            elif t < 3.0:
                motor.q = (t - 1.0) / 2.0 * up + (3.0 - t) / 2.0 * q
            elif t < 6.0:
                motor.q = (6.0 - t) / 3.0 * q
        command.crc = crc(command)
        publisher.write(command)
        if step in (50, 149, 299, 350):
            roll, elbow = state.motor_state[ROLL].q, state.motor_state[ELBOW].q
            print(f"tick {state.tick} weight {command.motor_cmd[WEIGHT].q:.2f} shoulder {roll:.2f} "
                  f"elbow {elbow:.2f} knee {state.motor_state[3].q:.2f}", flush=True)
            assert step != 149 or (roll > 1.2 and elbow > 1.2), "the arms are up"
            assert abs(state.motor_state[3].q - 0.6) < 0.1, "the legs hold"
        time.sleep(max(0.0, start + t - time.monotonic()))
    print("Done!")


if __name__ == "__main__":
    main()
