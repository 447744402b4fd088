"""A controller in Python that joins, so that in lockstep every run with it is the same:

    hardstand run config/quadruped.toml --mode lockstep --duration 10
    pip install eclipse-zenoh && python3 examples/lockstep.py

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

STATE, COMMAND, MODEL, JOIN, JOIN_REPLY = 1, 3, 5, 13, 14  # kinds of messages
REQUIRED = 0  # ticks wait for this controller
REAL_TIME = 0  # a mode
RUNNING = 1  # a phase
ZERO, DAMPED = 0, 3  # authorities under which no command is in force


def checked(payload, kind):
    data = payload.to_bytes()
    if data[:4] != struct.pack("<2sBB", b"HS", 7, kind):
        raise SystemExit(f"header {data[:4]!r}: another kind of message or protocol version")
    return data


def text(t):
    return struct.pack("<Q", len(t.encode())) + t.encode()


def ask(session, key, payload=None):
    for _ in range(600):  # half a minute
        for reply in session.get(key, payload=payload, timeout=5.0):
            if reply.ok is not None:
                return reply.ok.payload
        time.sleep(0.05)
    raise SystemExit(f"no daemon answers on {key}; check that it runs")


def read_model(data):
    """Layout hash, run, [(name, q_initial)]."""
    at = 96  # end of the fixed part

    def take(layout):
        nonlocal at
        values = struct.unpack_from(layout, data, at)
        at += struct.calcsize(layout)
        return values

    def name():
        return take(f"<{take('<Q')[0]}s")[0].decode()

    _version, _robot, _base_link = name(), name(), name()
    joints = [(name(), take("<B5d")[1]) for _ in range(take("<Q")[0])]
    return *struct.unpack_from("<QI", data, 4), joints


def join(session, mine, a):
    """Joins the current run: layout hash, run, [(name, q_initial)], first state to answer."""
    layout_hash, run_id, joints = read_model(
        checked(ask(session, f"hardstand/{a.robot}/model"), MODEL))
    request = struct.pack("<2sBB", b"HS", 7, JOIN) + text(a.robot)
    request += struct.pack("<IQ", run_id, secrets.randbits(63) + 1) + text(a.name)  # the order's head
    request += struct.pack("<QQQB3Q", layout_hash, 0, mine, REQUIRED, a.period, a.phase, a.offset)
    request += text(a.name) + text("SI") + struct.pack("<Q", len(joints))
    request += b"".join(text(name) for name, _ in joints)
    data = checked(ask(session, f"hardstand/{a.robot}/join", request), JOIN_REPLY)
    verdict, _mode, run_id, public, first, count = struct.unpack_from("<BBIQQQ", data, 4)
    if verdict != 0:
        raise SystemExit(data[34 + 40 * count + 8:].decode())
    print(f"joined run {run_id} as session {public:016x}, from tick {first} on", flush=True)
    return layout_hash, run_id, joints, first


def control(session, a):
    states = queue.Queue()  # before joining: the first state must not be missed
    _subscriber = session.declare_subscriber(f"hardstand/{a.robot}/state/due", states.put)
    mine = secrets.randbits(63) + 1  # secret: who knows it can command in this controller's name
    public = hashlib.sha3_256(struct.pack("<Q", mine)).digest()[7::-1].hex()
    # tells the daemon when this process dies, so that it can be restarted
    _alive = session.liveliness().declare_token(f"hardstand/{a.robot}/alive/{public}")
    layout_hash, run, joints, first = join(session, mine, a)
    cmd = session.declare_publisher(f"hardstand/{a.robot}/cmd", express=True)
    answers = {}
    while True:
        try:
            data = checked(states.get(timeout=5.0).payload, STATE)
        except queue.Empty:
            return print(f"no state for 5 s; {len(answers)} answers given")
        run_id, tick, _, mode, phase, _, authority = struct.unpack_from("<IQQ4B", data, 12)
        late = tick > first + a.period + a.offset and authority in (ZERO, DAMPED)
        lost = mode == REAL_TIME and phase == RUNNING and late
        if run_id > run or lost:  # a reset or restore, or this controller was late: join again
            layout_hash, run, joints, first = join(session, mine, a)
            answers.clear()
        if run_id != run:
            continue
        if tick < first or tick % a.period != a.phase:
            continue
        if tick not in answers:
            gain = 100.0 + struct.unpack_from("<d", data, 72)[0]  # some use of the state
            points = [struct.pack("<5d", q, 0.0, gain, 3.0, 0.0) for _, q in joints]
            answers[tick] = struct.pack("<2sBBQI5Q", b"HS", 7, COMMAND, layout_hash, run, mine,
                                        tick, tick, tick + a.offset, len(points)) + b"".join(points)
        cmd.put(answers[tick])  # a state that comes again gets the same answer again


options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
for name, default in [("connect", "tcp/127.0.0.1:7447"), ("robot", "quadruped"), ("name", "python"),
                      ("period", 1), ("phase", 0), ("offset", 0)]:
    options.add_argument(f"--{name}", default=default, type=type(default))
a = options.parse_args()
config = zenoh.Config()
for key, value in [("connect/endpoints", [a.connect]), ("connect/timeout_ms", -1),
                   ("connect/exit_on_failure", False), ("listen/endpoints", []),
                   ("scouting/multicast/enabled", False), ("scouting/delay", 0)]:
    config.insert_json5(key, json.dumps(value))
with zenoh.open(config) as link:  # left open, the session would keep the process alive
    control(link, a)
