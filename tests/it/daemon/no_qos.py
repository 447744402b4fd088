"""Hears states in a session without zenoh's QoS, as one of zenoh-pico is. Prints a line every 100 states.

    no_qos.py ENDPOINT
"""
import sys
import time

import zenoh

config = zenoh.Config()
for key, value in [
    ("mode", '"client"'),
    ("connect/endpoints", f'["{sys.argv[1]}"]'),
    ("scouting/multicast/enabled", "false"),
    ("transport/unicast/qos/enabled", "false"),
]:
    config.insert_json5(key, value)
heard = 0


def take(_):
    global heard
    heard += 1
    if heard % 100 == 0:
        print("hears", flush=True)


session = zenoh.open(config)
subscriber = session.declare_subscriber("hardstand/quadruped/state", take)
while True:
    time.sleep(1)
