"""Makes the same calls in the same order as g1_low_level_example.py of Unitree's Python SDK: to the
zero posture in 3 s, ankles by pitch and roll for 3 s, then by the motors A and B. Ends after 3 s
more, where the example goes on for ever. Prints what it reads at the end of each stage."""
import math
import sys
import time

from channel import Channels, Client, release
from messages import HgLowCmd, HgLowState, crc

MOTORS = 29
LEG_KP, ARM_KP = [60, 60, 60, 100, 40, 40], [40] * 7
KP = LEG_KP * 2 + [60, 40, 40] + ARM_KP * 2
KD = [1, 1, 1, 2, 1, 1] * 2 + [1] * 17
ANKLES, WRISTS = [4, 5, 10, 11], [19, 26]


def main():
    channels = Channels(0, sys.argv[1] if len(sys.argv) > 1 else None)
    release(Client(channels, "motion_switcher"))
    publisher = channels.publisher("rt/lowcmd", HgLowCmd)
    newest = []
    _reader = channels.subscribe("rt/lowstate", HgLowState,
                                 lambda m: newest.__setitem__(slice(0), [m]))
    while not newest:
        time.sleep(1)
    command, start = HgLowCmd(mode_machine=newest[0].mode_machine), time.monotonic()
    for step in range(1, 4501):
        t, state = step * 0.002, newest[0]
        if t < 3.0:
            for i in range(MOTORS):
                motor = command.motor_cmd[i]
                motor.mode, motor.tau, motor.dq = 1, 0.0, 0.0
                motor.q = (1 - t / 3.0) * state.motor_state[i].q
                motor.kp, motor.kd = float(KP[i]), float(KD[i])
        else:
            command.mode_pr = int(t >= 6.0)
            turn = math.sin(2 * math.pi * (t % 3.0))
            pitch, roll = math.radians(30) * turn, math.radians(10) * turn
            for place, q in zip(ANKLES, [pitch, roll, pitch, -roll]):
                command.motor_cmd[place].q = q
            if command.mode_pr:
                for place in WRISTS:
                    command.motor_cmd[place].q = pitch
        command.crc = crc(command)
        publisher.write(command)
        if step % 1500 == 0:
            assert state.crc == crc(state), "the state's checksum"
            print(f"tick {state.tick} mode_pr {state.mode_pr} mode_machine {state.mode_machine} "
                  f"rpy {[round(x, 3) for x in state.imu_state.rpy]} "
                  f"ankle {state.motor_state[4].q:.2f} wrist {state.motor_state[19].q:.2f}", flush=True)
        time.sleep(max(0.0, start + t - time.monotonic()))
    print("Done!")


if __name__ == "__main__":
    main()
