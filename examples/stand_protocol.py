"""A controller in Python: it answers every state and holds the initial joint positions.

    pip install eclipse-zenoh && python3 examples/stand_protocol.py --seconds 10

docs/protocol.md describes every byte that it reads and writes; offsets count from the header.
"""
import argparse
import hashlib
import json
import queue
import secrets
import struct
import time
import zenoh

STATE, COMMAND, MODEL = 1, 3, 5  # kinds of messages
ZERO, DAMPED = 0, 3  # authorities under which no command is in force


def checked(payload, kind):
    data = payload.to_bytes()
    if data[:4] != struct.pack("<2sBB", b"HS", 7, kind):
        raise SystemExit(f"header {data[:4]!r}: another kind of message or protocol version")
    return data


def public(session):
    """The number by which a session is published."""
    return int.from_bytes(hashlib.sha3_256(struct.pack("<Q", session)).digest()[:8], "little")


def ask_model(session, robot):
    for _ in range(600):  # half a minute
        for reply in session.get(f"hardstand/{robot}/model", timeout=1.0):
            if reply.ok is not None:
                return read_model(checked(reply.ok.payload, MODEL))
        time.sleep(0.05)
    raise SystemExit(f"no daemon answers on hardstand/{robot}/model; check that it runs")


def read_model(data):
    at = 96  # end of the fixed part

    def take(layout):
        nonlocal at
        values = struct.unpack_from(layout, data, at)
        at += struct.calcsize(layout)
        return values

    def text():
        return take(f"<{take('<Q')[0]}s")[0].decode()

    _version, _robot, _base_link = text(), text(), text()
    joints = [(text(), take("<B5d")[1]) for _ in range(take("<Q")[0])]
    return struct.unpack_from("<Q", data, 4)[0], joints  # layout hash, [(name, q_initial)]


def control(session, robot, seconds, full):
    layout_hash, joints = ask_model(session, robot)
    #                           q  dq   kp     kd   tau_ff
    points = [struct.pack("<5d", q, 0.0, 100.0, 3.0, 0.0) for _, q in joints]
    joints_part = struct.pack("<Q", len(points)) + b"".join(points)
    states = queue.Queue()
    _subscriber = session.declare_subscriber(f"hardstand/{robot}/state", states.put)
    key = f"hardstand/{robot}/cmd"
    cmd = session.declare_publisher(key, express=True, congestion_control=full)
    # mine is secret: who knows it can command in this controller's name
    mine, seq, owned, until = secrets.randbits(63) + 1, 0, False, time.monotonic() + seconds
    while time.monotonic() < until:
        try:
            sample = states.get(timeout=10.0)
        except queue.Empty:
            return print("no state for 10 s: the daemon has stopped")
        while not states.empty():  # only the newest state is worth an answer
            sample = states.get_nowait()
        run_id, tick, _, _, phase, _, authority, _, owner = struct.unpack_from(
            "<IQQ4BIQ", checked(sample.payload, STATE), 12)
        ours = owner == public(mine)
        if owned and (not ours or authority in (ZERO, DAMPED)):
            # all further commands of a session that lost the robot are rejected: start a new session
            mine, owned = secrets.randbits(63) + 1, False
            print(f"lost the robot at tick {tick}, now session {public(mine):016x}", flush=True)
        owned = owned or (phase == 1 and ours)
        seq += 1
        head = struct.pack("<2sBBQI4Q", b"HS", 7, COMMAND, layout_hash, run_id, mine, seq, tick, 0)
        cmd.put(head + joints_part)


options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
for name, default in ("connect", "tcp/127.0.0.1:7447"), ("robot", "quadruped"), ("seconds", 10.0):
    options.add_argument(f"--{name}", default=default, type=type(default))
options.add_argument("--small", action="store_true", help="no QoS and short batches, as zenoh-pico")
a = options.parse_args()
config = zenoh.Config()
for key, value in [("connect/endpoints", [a.connect]), ("connect/timeout_ms", -1),
                   ("connect/exit_on_failure", False), ("listen/endpoints", []),
                   ("scouting/multicast/enabled", False), ("scouting/delay", 0)]:
    config.insert_json5(key, json.dumps(value))
full = zenoh.CongestionControl.DROP  # the command, if the link is full
if a.small:
    # without QoS, zenoh 1.10.2 would drop all further commands after the first one
    full = zenoh.CongestionControl.BLOCK
    config.insert_json5("transport/unicast/qos/enabled", "false")
    config.insert_json5("transport/link/tx/batch_size", "2048")
with zenoh.open(config) as link:  # left open, the session would keep the process alive
    control(link, a.robot, a.seconds, full)
