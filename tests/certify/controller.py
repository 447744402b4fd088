"""A controller with a memory, to be certified: it filters what it sees, and holds against it.

--law good depends on the states and on nothing else; --law bad stiffens for good once a state has come five times,
which happens when it was stopped for long, and from tick 80 on puts wall time into one torque; --law hash stiffens one
joint by the order of a set of names, which Python draws anew in each process unless PYTHONHASHSEED is set.
"""
import argparse
import json
import os
import queue
import secrets
import struct
import time
import zenoh

STATE, COMMAND, MODEL, JOIN, JOIN_REPLY = 1, 3, 5, 13, 14


def head(kind):
    return struct.pack("<2sBB", b"HS", 7, kind)


def text(t):
    return struct.pack("<Q", len(t)) + t.encode()


def ask(session, key, payload=None):
    while True:
        for reply in session.get(key, payload=payload, timeout=5.0):
            if reply.ok is not None:
                return reply.ok.payload.to_bytes()
        time.sleep(0.02)


def joints_of(data):
    at, found = 96, []
    for _ in range(3):  # version, robot, base link
        at += 8 + struct.unpack_from("<Q", data, at)[0]
    count, at = struct.unpack_from("<Q", data, at)[0], at + 8
    for _ in range(count):
        length = struct.unpack_from("<Q", data, at)[0]
        name = data[at + 8:at + 8 + length].decode()
        found.append((name, struct.unpack_from("<d", data, at + 9 + length)[0]))
        at += 8 + length + 1 + 5 * 8
    return found


def run(session, robot, law):
    states = queue.Queue()
    _subscriber = session.declare_subscriber(f"hardstand/{robot}/state", states.put)
    model = ask(session, f"hardstand/{robot}/model")
    layout, run_id = struct.unpack_from("<QI", model, 4)
    mine = secrets.randbits(63) + 1
    joints = joints_of(model)
    wish = head(JOIN) + text(robot) + struct.pack("<IQ", run_id, secrets.randbits(63) + 1) + text("snake")
    wish += struct.pack("<QQQB3Q", layout, 0, mine, 0, 1, 0, 0) + text("snake") + text("SI")
    wish += struct.pack("<Q", len(joints)) + b"".join(text(name) for name, _ in joints)
    reply = ask(session, f"hardstand/{robot}/join", wish)
    verdict, _, run_id, _, first, _ = struct.unpack_from("<BBIQQQ", reply, 4)
    assert verdict == 0, reply
    cmd = session.declare_publisher(f"hardstand/{robot}/cmd", express=True)
    answers, seen, came, stiffer = {}, [q for _, q in joints], {}, 0.0
    first_of_set = list({name for name, _ in joints} | {str(i) for i in range(1000)}).index(joints[0][0])
    while True:
        data = states.get(timeout=30.0).payload.to_bytes()
        run_number, tick = struct.unpack_from("<IQ", data, 12)
        if run_number != run_id or tick < first:
            continue
        came[tick] = came.get(tick, 0) + 1
        if law == "bad" and tick >= 20 and came[tick] == 5:
            stiffer = 1.0
        if tick not in answers:
            points = []
            for i, (name, q) in enumerate(joints):
                seen[i] += 0.1 * (struct.unpack_from("<d", data, 256 + 24 * i)[0] - seen[i])
                late = law == "bad" and tick >= 80 and i == 4
                torque = 1e-3 * (time.time() % 1.0) if late else 0.0
                if law == "hash" and i == 0:
                    torque = 1e-6 * first_of_set
                points.append(struct.pack("<5d", q - 0.1 * (seen[i] - q), 0.0, 100.0 + stiffer, 3.0, torque))
            answers[tick] = head(COMMAND) + struct.pack(
                "<QI5Q", layout, run_id, mine, tick, tick, tick, len(joints)) + b"".join(points)
        cmd.put(answers[tick])


options = argparse.ArgumentParser()
options.add_argument("--law", choices=["good", "bad", "hash"], default="good")
law = options.parse_args().law
config = zenoh.Config()
for key, value in [("connect/endpoints", [os.environ["HARDSTAND_CONNECT"]]), ("listen/endpoints", []),
                   ("scouting/multicast/enabled", False)]:
    config.insert_json5(key, json.dumps(value))
with zenoh.open(config) as link:
    run(link, os.environ["HARDSTAND_ROBOT"], law)
