"""Decodes every published payload of a running daemon, written from docs/protocol.md alone, and
checks what must hold for a robot that stands. Run by tests/it/python.rs."""
import argparse
import json
import queue
import secrets
import struct
import sys
import time
import xml.etree.ElementTree as ET

import zenoh

# (field, struct code), (field, [fields of one element]), (field, ("one", fields)), (field, "text")
JOINT_READING = [("q", "d"), ("dq", "d"), ("tau", "d")]
STATE = [
    ("layout_hash", "Q"), ("run_id", "I"), ("tick", "Q"), ("time_ns", "Q"),
    ("mode", "B"), ("phase", "B"), ("failure", "B"), ("authority", "B"),
    ("command_age_ticks", "I"), ("command_session", "Q"), ("command_seq", "Q"), ("digest", "Q"),
    ("imu_quat_wxyz", "4d"), ("imu_angular_velocity_rad_per_s", "3d"),
    ("imu_specific_force_m_per_s2", "3d"),
    ("truth_base_position_m", "3d"), ("truth_base_quat_wxyz", "4d"),
    ("truth_base_velocity_m_per_s", "3d"), ("truth_base_angular_velocity_rad_per_s", "3d"),
    ("velocity_command", "3d"),
    ("joints", JOINT_READING), ("foot_contact", [("", "B")]), ("foot_normal_n", [("", "d")]),
]
FOOT_READING = [
    ("contact", "B"), ("normal_n", "d"), ("point_world_m", "3d"), ("force_world_n", "3d"),
    ("moment_world_nm", "3d"), ("force_foot_n", "3d"), ("moment_foot_nm", "3d"),
    ("potential_energy_j", "d"), ("power_dissipation_w", "d"),
]
STATION_READING = [
    ("position_world_m", "3d"), ("velocity_world_m_per_s", "3d"), ("normal_world", "3d"),
    ("force_world_n", "3d"), ("friction_elastic_world_n", "3d"),
    ("friction_damping_world_n", "3d"), ("anchor_world_m", "3d"), ("height_m", "d"),
    ("normal_n", "d"), ("normal_elastic_n", "d"), ("normal_damping_n", "d"),
    ("slip_m_per_s", "d"), ("sliding", "d"), ("mu", "d"), ("mu_static", "d"), ("mu_kinetic", "d"),
    ("friction_limit_n", "d"), ("potential_energy_j", "d"), ("power_dissipation_w", "d"),
]
CONSTRAINT_READING = [
    ("active", "B"), ("point_world_m", "3d"), ("force_world_n", "3d"), ("height_m", "d"),
    ("speed_m_per_s", "d"),
]
CONTACTS = [
    ("layout_hash", "Q"), ("run_id", "I"), ("tick", "Q"), ("time_ns", "Q"),
    ("feet", FOOT_READING), ("stations", STATION_READING),
    ("constraints", CONSTRAINT_READING),
]
DISTRIBUTION = [("p50", "Q"), ("p99", "Q"), ("p99_9", "Q"), ("p99_99", "Q"), ("max", "Q"),
                ("counts", [("", "Q")])]
STATUS = [
    ("run_id", "I"), ("tick", "Q"), ("time_ns", "Q"), ("period_ns", "Q"), ("mode", "B"),
    ("phase", "B"), ("failure", "B"), ("authority", "B"), ("command_age_ticks", "I"),
    ("command_session", "Q"), ("speed", "d"), ("real_time_factor", "d"), ("fifo_priority", "B"), ("core", "I"),
    ("memory_locked", "B"), ("wakeup_latency_ns", ("one", DISTRIBUTION)),
    ("tick_cost_ns", ("one", DISTRIBUTION)), ("applied_age_ticks", ("one", DISTRIBUTION)),
    ("counters", [("name", "text"), ("value", "Q")]), ("refused", [("", "text")]),
    ("controllers", [("name", "text"), ("role", "B"), ("session", "Q"), ("period_ticks", "Q"),
                     ("phase_ticks", "Q"), ("offset_ticks", "Q"), ("joints", "I")]),
    ("missing", [("", "text")]),
]
MODEL = [
    ("layout_hash", "Q"), ("run_id", "I"), ("period_ns", "Q"), ("hold_ticks", "Q"),
    ("damped_ticks", "Q"), ("proof_commands", "Q"), ("kp_max", "d"), ("kd_max", "d"),
    ("mass_kg", "d"), ("gravity_m_per_s2", "3d"),
    ("version", "text"), ("robot", "text"), ("base_link", "text"),
    ("joints", [("name", "text"), ("kind", "B"), ("q_initial", "d"), ("q_min", "d"),
                ("q_max", "d"), ("effort_max", "d"), ("velocity_max", "d")]),
    ("feet", [("name", "text"), ("stations", [("", "I")])]),
    ("stations", [("name", "text"), ("body", "text"), ("position_body_m", "3d"), ("model", "B"),
                  ("round_m", "d"), ("ring_m", "d")]),
    ("surfaces", [("name", "text"), ("kind", "B"), ("moves", "B"), ("position_m", "3d"),
                  ("quat_wxyz", "4d")]),
    ("foot_frames", [("body", "text"), ("position_m", "3d"), ("quat_wxyz", "4d")]),
    ("imu_body", "text"), ("imu_position_m", "3d"), ("imu_quat_wxyz", "4d"),
    ("regions", [("name", "text"), ("surface", "I"), ("min_m", "2d"), ("max_m", "2d")]),
    ("hold_gains", [("kp", "d"), ("kd", "d")]),
    ("constraints", [("name", "text"), ("body", "text"), ("position_body_m", "3d"),
                     ("plane_body", "text"), ("normal", "3d")]),
    ("links", [("", "text")]),
    ("bodies", [("name", "text"), ("mass_kg", "d"), ("joint", "B"), ("axis", "3d"),
                ("position_m", "3d"), ("quat_wxyz", "4d")]),
    ("shapes", [("carrier", "B"), ("index", "I"), ("kind", "B"), ("size_m", "3d"),
                ("position_m", "3d"), ("quat_wxyz", "4d"), ("vertices_m", [("", "d")]),
                ("model", "B"), ("mu_static", "d"), ("mu_kinetic", "d")]),
]
BODIES = [
    ("layout_hash", "Q"), ("run_id", "I"), ("tick", "Q"), ("time_ns", "Q"),
    ("points_left_out", "I"),
    ("bodies", [("position_world_m", "3d"), ("quat_wxyz", "4d"), ("velocity_world_m_per_s", "3d"),
                ("angular_velocity_world_rad_per_s", "3d")]),
    ("points", [("a_kind", "B"), ("a_index", "I"), ("b_kind", "B"), ("b_index", "I"),
                ("point_world_m", "3d"), ("normal_world", "3d"), ("force_world_n", "3d"),
                ("depth_m", "d"), ("slip_m_per_s", "d"), ("sliding", "d"), ("mu", "d")]),
]
SENSORS = [
    ("layout_hash", "Q"), ("run_id", "I"), ("tick", "Q"), ("time_ns", "Q"),
    ("truth_imu_quat_wxyz", "4d"), ("truth_imu_angular_velocity_rad_per_s", "3d"),
    ("truth_imu_specific_force_m_per_s2", "3d"), ("truth_gyro_bias_rad_per_s", "3d"),
    ("truth_accel_bias_m_per_s2", "3d"),
    ("joints", [("truth_q", "d"), ("truth_dq", "d"), ("truth_tau", "d")]),
    ("feet", [("force_foot_n", "3d"), ("moment_foot_nm", "3d"), ("truth_normal_n", "d"),
              ("truth_force_foot_n", "3d"), ("truth_moment_foot_nm", "3d")]),
]
ORDER_REPLY = [("verdict", "B"), ("tick", "Q"), ("reason", "text")]
SCHEMAS = {"state": ("State", 1, STATE), "contacts": ("Contacts", 2, CONTACTS),
           "bodies": ("Bodies", 25, BODIES), "sensors": ("Sensors", 27, SENSORS),
           "status": ("Status", 4, STATUS), "model": ("Model", 5, MODEL),
           "friction": ("OrderReply", 9, ORDER_REPLY)}


class Reader:
    def __init__(self, data, at):
        self.data, self.at, self.offsets = data, at, []

    def take(self, code):
        values = struct.unpack_from("<" + code, self.data, self.at)
        self.at += struct.calcsize("<" + code)
        return values[0] if len(values) == 1 else list(values)

    def value(self, kind):
        if kind == "text":
            return self.take(f"{self.take('Q')}s").decode()
        if isinstance(kind, str):
            return self.take(kind)
        if isinstance(kind, tuple):
            return self.record(kind[1])
        return [self.record(kind) for _ in range(self.take("Q"))]

    def record(self, fields):
        if fields[0][0] == "":
            return self.value(fields[0][1])
        out = {}
        for name, kind in fields:
            self.offsets.append((name, self.at, kind))
            out[name] = self.value(kind)
        return out


def decode(what, sample, offsets=False):
    name, kind, fields = SCHEMAS[what]
    data = sample.payload.to_bytes()
    assert data[:4] == bytes([0x48, 0x53, 7, kind]), (what, data[:4])
    encoding = str(sample.encoding)
    assert encoding == f"application/octet-stream;hardstand.{name}.v7", encoding
    reader = Reader(data, 4)
    out = reader.record(fields)
    assert reader.at == len(data), f"{what}: {len(data)} bytes, {reader.at} described"
    if offsets:
        print(f"{what}: {len(data)} bytes")
        seen = set()
        for field, at, code in reader.offsets:
            if field not in seen:
                print(f"  {at:4} {field} {code if isinstance(code, str) else 'list'}")
            seen.add(field)
    return out


def ask(link, key, payload=None):
    until = time.monotonic() + 20
    while time.monotonic() < until:
        for reply in link.get(key, payload=payload, timeout=1.0):
            if reply.ok is not None:
                return reply.ok
        time.sleep(0.05)
    sys.exit(f"no daemon answers on {key}")


def near(what, value, expected, within):
    print(f"{what}: {value:.4f}, expected {expected:.4f} ± {within}")
    assert abs(value - expected) <= within, what


def check_friction(link, key, model, contacts):
    """Changes the friction of the second foot; the others keep theirs."""
    def ask_for(scope, index, mu_static, mu_kinetic):
        text = lambda s: struct.pack("<Q", len(s)) + s.encode()
        head = text(key.split("/")[1]) + struct.pack("<IQ", model["run_id"], secrets.randbits(63) + 1)
        body = struct.pack("<QBIdd", model["layout_hash"], scope, index, mu_static, mu_kinetic)
        payload = struct.pack("<2sBB", b"HS", 7, 8) + head + text("decode.py") + body
        return decode("friction", ask(link, key + "friction", payload))

    refused = ask_for(2, 1, 0.5, 0.9)
    print("refused:", refused["reason"])
    assert (refused["verdict"], refused["tick"]) == (1, 0), refused
    assert "mu_kinetic is 0.9" in refused["reason"], refused
    accepted = ask_for(2, 1, 0.625, 0.5)
    print("friction from tick", accepted["tick"])
    assert (accepted["verdict"], accepted["reason"]) == (0, ""), accepted
    shown = {"tick": 0}
    while shown["tick"] <= accepted["tick"]:
        shown = decode("contacts", contacts.get(timeout=20))
    mus = [(s["mu_static"], s["mu_kinetic"]) for s in shown["stations"]]
    own = {s * len(model["surfaces"]) for s in model["feet"][1]["stations"]}
    for i, mu in enumerate(mus):
        assert (mu == (0.625, 0.5)) == (i in own), mus


def check_bodies(bodies, model):
    """A box that lies beside the robot, on the ground."""
    assert bodies["layout_hash"] == model["layout_hash"] and bodies["run_id"] == model["run_id"]
    (box,), (described,) = bodies["bodies"], model["bodies"]
    assert (described["name"], described["mass_kg"], described["joint"]) == ("box", 3.0, 0), described
    (shape,) = (s for s in model["shapes"] if s["carrier"] == 2)
    assert (shape["index"], shape["kind"]) == (0, 2), shape
    assert all(abs(a - b) < 1e-12 for a, b in zip(shape["size_m"], (0.3, 0.3, 0.2))), shape
    near("height of the box, m", box["position_world_m"][2], 0.1, 0.01)
    assert bodies["points_left_out"] == 0 and len(bodies["points"]) >= 4, bodies
    own = [p for p in bodies["points"] if (p["a_kind"], p["a_index"]) == (2, 0)]
    weight = -described["mass_kg"] * model["gravity_m_per_s2"][2]
    near("force of the ground on the box, N", sum(p["force_world_n"][2] for p in own), weight,
         0.02 * weight)
    for point in own:
        assert point["b_kind"] == 0 and point["b_index"] < len(model["surfaces"]), point
        assert point["normal_world"] == [0.0, 0.0, 1.0] and abs(point["depth_m"]) < 0.01, point


def check_sensors(sensors, state, contacts):
    """Encoders that show 0.01 rad too much, a gyroscope with a bias, and feet without errors."""
    assert sensors["layout_hash"] == state["layout_hash"] and sensors["run_id"] == state["run_id"]
    for joint, truth in zip(state["joints"], sensors["joints"], strict=True):
        assert abs(joint["q"] - truth["truth_q"] - 0.01) < 1e-12, (joint, truth)
        assert (joint["dq"], joint["tau"]) == (truth["truth_dq"], truth["truth_tau"]), truth
    bias = sensors["truth_gyro_bias_rad_per_s"]
    true = sensors["truth_imu_angular_velocity_rad_per_s"]
    shown = state["imu_angular_velocity_rad_per_s"]
    assert all(b != 0 and abs(s - t - b) < 1e-12 for s, t, b in zip(shown, true, bias)), bias
    assert sensors["truth_accel_bias_m_per_s2"] == [0.0, 0.0, 0.0]
    near("true specific force on z, m/s²", sensors["truth_imu_specific_force_m_per_s2"][2], 9.81, 0.05)
    for foot, contact in zip(sensors["feet"], contacts["feet"], strict=True):
        assert foot["force_foot_n"] == foot["truth_force_foot_n"], foot
        assert foot["moment_foot_nm"] == foot["truth_moment_foot_nm"], foot
        assert abs(foot["truth_normal_n"] - contact["normal_n"]) < 1e-9, foot
        off = [a - b for a, b in zip(foot["truth_force_foot_n"], contact["force_foot_n"])]
        assert max(map(abs, off)) < 1e-9, off


def check_status(status, model):
    assert status["period_ns"] == model["period_ns"], status
    assert (status["mode"], status["speed"]) == (0, 1.0), status
    assert (status["controllers"], status["missing"]) == ([], []), status
    assert (status["phase"], status["failure"]) == (1, 0) and status["authority"] < 4, status
    assert status["command_session"] != 0, status
    dropped = next(c["value"] for c in status["counters"] if c["name"] == "reports_dropped")
    for name, ticks in ("wakeup_latency_ns", 1), ("tick_cost_ns", 1), ("applied_age_ticks", 0):
        d = status[name]
        assert len(d["counts"]) == (38 if ticks else 19), name
        assert d["p50"] <= d["p99"] <= d["p99_9"] <= d["p99_99"] <= d["max"], (name, d)
        if ticks:
            assert sum(d["counts"]) == status["tick"] - dropped, (name, d)
    ages = status["applied_age_ticks"]
    assert 0 < sum(ages["counts"]) <= status["tick"], ages
    assert ages["max"] <= model["hold_ticks"], ages


def check(link, robot, offsets):
    key = f"hardstand/{robot}/"
    inboxes = {what: queue.Queue() for what in ("state", "contacts", "bodies", "sensors", "status")}
    subscribers = [link.declare_subscriber(key + what, inbox.put)
                   for what, inbox in inboxes.items()]
    model = decode("model", ask(link, key + "model"), offsets)
    urdf = ET.fromstring(ask(link, key + "model/urdf").payload.to_string())
    names = {j.get("name") for j in urdf.iter("joint") if j.get("type") not in (None, "fixed")}
    assert {j["name"] for j in model["joints"]} == names, names
    print("joints:", *(j["name"] for j in model["joints"]))
    print("feet:", *(f["name"] for f in model["feet"]))
    mass = sum(float(m.get("value")) for m in urdf.iter("mass"))
    near("mass_kg", model["mass_kg"], mass, 1e-9)

    state = {"time_ns": 0}
    while state["time_ns"] < 1_500_000_000:
        state = decode("state", inboxes["state"].get(timeout=20))
    # of the same tick, though a busy machine may lose some of each
    same = {"state": state, "contacts": {"tick": 0}, "sensors": {"tick": 0}}
    while len({message["tick"] for message in same.values()}) > 1:
        oldest = min(same, key=lambda what: same[what]["tick"])
        same[oldest] = decode(oldest, inboxes[oldest].get(timeout=20))
    state, contacts, sensors = same.values()
    accepted = 0
    while accepted == 0:  # the first status may be from before the controller came
        status = decode("status", inboxes["status"].get(timeout=20))
        counters = {c["name"]: c["value"] for c in status["counters"]}
        accepted = counters["commands_accepted"]
    bodies = {"tick": 0}
    while bodies["tick"] < state["tick"]:
        bodies = decode("bodies", inboxes["bodies"].get(timeout=20))
    check_bodies(bodies, model)
    check_sensors(sensors, state, contacts)
    if offsets:
        decode("sensors", inboxes["sensors"].get(timeout=20), True)
        decode("bodies", inboxes["bodies"].get(timeout=20), True)
        decode("state", inboxes["state"].get(timeout=20), True)
        decode("contacts", inboxes["contacts"].get(timeout=20), True)
    decode("status", ask(link, key + "status"), offsets)

    assert state["layout_hash"] == contacts["layout_hash"] == model["layout_hash"]
    assert state["run_id"] == contacts["run_id"] == status["run_id"] == model["run_id"]
    assert state["tick"] == contacts["tick"], "state and contacts of the same tick"
    assert state["time_ns"] == state["tick"] * model["period_ns"]
    assert (state["phase"], state["failure"]) == (1, 0) and state["authority"] in (1, 2), state
    assert len(state["joints"]) == len(model["joints"])
    assert len(contacts["feet"]) == len(model["feet"]) == len(state["foot_contact"])
    assert len(contacts["stations"]) == len(model["stations"]) * len(model["surfaces"])
    assert state["foot_contact"] == [1] * len(model["feet"]), state["foot_contact"]
    near("|imu_quat|", sum(x * x for x in state["imu_quat_wxyz"]) ** 0.5, 1, 1e-9)
    near("specific force on z, m/s²", state["imu_specific_force_m_per_s2"][2], 9.81, 0.05)
    weight = -model["mass_kg"] * model["gravity_m_per_s2"][2]
    carried = sum(f["force_world_n"][2] for f in contacts["feet"])
    near("sum of the feet's forces on z, N", carried, weight, 0.02 * weight)
    near("the same from state, N", sum(state["foot_normal_n"]), weight, 0.02 * weight)
    for foot, described in zip(contacts["feet"], model["feet"]):
        own = sum(contacts["stations"][s * len(model["surfaces"])]["normal_n"]
                  for s in described["stations"])
        assert abs(own - foot["normal_n"]) < 1e-9, described
    for station in contacts["stations"]:
        parts = zip(station["friction_elastic_world_n"], station["friction_damping_world_n"])
        friction = sum((e + d) ** 2 for e, d in parts) ** 0.5
        assert friction <= station["friction_limit_n"] * (1 + 1e-9) + 1e-9, station
    check_status(status, model)
    print("counters:", json.dumps(counters))
    assert [r["name"] for r in model["regions"]] == ["aside"], model["regions"]
    assert model["regions"][0]["max_m"] == [6.0, 7.0], model["regions"]
    check_friction(link, key, model, inboxes["contacts"])
    for subscriber in subscribers:
        subscriber.undeclare()


options = argparse.ArgumentParser(description=__doc__)
options.add_argument("--connect", required=True)
options.add_argument("--robot", default="quadruped")
options.add_argument("--offsets", action="store_true", help="print the offset of every field")
a = options.parse_args()
config = zenoh.Config()
for key, value in [("connect/endpoints", [a.connect]), ("connect/timeout_ms", -1),
                   ("connect/exit_on_failure", False), ("listen/endpoints", []),
                   ("scouting/multicast/enabled", False)]:
    config.insert_json5(key, json.dumps(value))
with zenoh.open(config) as link:
    check(link, a.robot, a.offsets)
print("all payloads are as described")
