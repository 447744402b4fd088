"""Makes the same calls in the same order as go2_stand_example.py of Unitree's Python SDK: fold,
stand up, stand, lie down, at 500 Hz. Prints the orientation at its end."""
import sys
import time

from channel import Channels, Client, release
from messages import LowCmd, LowState, crc

POS_STOP, VEL_STOP = 2.146e9, 16000.0
FOLDED = [0.0, 1.36, -2.65, 0.0, 1.36, -2.65, -0.2, 1.36, -2.65, 0.2, 1.36, -2.65]
UPRIGHT = [0.0, 0.67, -1.3] * 4
LYING = [-0.35, 1.36, -2.65, 0.35, 1.36, -2.65, -0.5, 1.36, -2.65, 0.5, 1.36, -2.65]
# steps of 2 ms from each posture to the next
STEPS = [500, 500, 1000, 900]


def main():
    channels = Channels(0, sys.argv[1] if len(sys.argv) > 1 else None)
    command = LowCmd(head=[0xFE, 0xEF], level_flag=0xFF)
    for motor in command.motor_cmd:
        motor.mode, motor.q, motor.dq = 1, POS_STOP, VEL_STOP
    publisher = channels.publisher("rt/lowcmd", LowCmd)
    newest = []
    _reader = channels.subscribe("rt/lowstate", LowState, lambda m: newest.__setitem__(slice(0), [m]))
    sport = Client(channels, "sport")
    release(Client(channels, "motion_switcher"), sport)
    start = [newest[0].motor_state[i].q for i in range(12)]
    due = time.monotonic()
    for before, after, steps in zip([start, FOLDED, UPRIGHT, UPRIGHT],
                                    [FOLDED, UPRIGHT, UPRIGHT, LYING], STEPS):
        for step in range(1, steps + 1):
            part = step / steps
            for i in range(12):
                motor = command.motor_cmd[i]
                motor.q = (1 - part) * before[i] + part * after[i]
                motor.dq, motor.kp, motor.kd, motor.tau = 0.0, 60.0, 5.0, 0.0
            command.crc = crc(command)
            publisher.write(command)
            due += 0.002
            time.sleep(max(0.0, due - time.monotonic()))
        state = newest[0]
        print(f"tick {state.tick} rpy {[round(x, 3) for x in state.imu_state.rpy]} "
              f"thigh {state.motor_state[1].q:.2f} feet {sum(state.foot_force)}", flush=True)
    print("Done!")


if __name__ == "__main__":
    main()
