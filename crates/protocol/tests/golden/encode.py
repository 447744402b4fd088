"""Encodes one value of every kind of message with Python's `struct`, from field tables written by
hand. Prints lines of number, name and hex: `python3 encode.py > payloads.hex`.

Each number is a different one: the first is 1; B holds the number, I and Q 1000 more, d a half
more, a text is "t" and the number. A list has two elements. LogTick is written out below.
"""

import struct

JOINT_COMMAND = [("q", "d"), ("dq", "d"), ("kp", "d"), ("kd", "d"), ("tau_ff", "d")]
POSE = [("position_m", "3d"), ("quat_wxyz", "4d")]
FRAME = [("body", "text")] + POSE
DISTRIBUTION = [(n, "Q") for n in ("p50", "p99", "p99_9", "p99_99", "max")] + [("counts", ["Q"])]
FOOT = [("contact", "B"), ("normal_n", "d"), ("point_world_m", "3d"), ("force_world_n", "3d"),
        ("moment_world_nm", "3d"), ("force_foot_n", "3d"), ("moment_foot_nm", "3d"),
        ("potential_energy_j", "d"), ("power_dissipation_w", "d")]
STATION = [(n, "3d") for n in ("position_world_m", "velocity_world_m_per_s", "normal_world", "force_world_n",
                               "friction_elastic_world_n", "friction_damping_world_n", "anchor_world_m")]
STATION += [(n, "d") for n in ("height_m", "normal_n", "normal_elastic_n", "normal_damping_n", "slip_m_per_s",
                               "sliding", "mu", "mu_static", "mu_kinetic", "friction_limit_n",
                               "potential_energy_j", "power_dissipation_w")]
CONSTRAINT = [("active", "B"), ("point_world_m", "3d"), ("force_world_n", "3d"), ("height_m", "d"),
              ("speed_m_per_s", "d")]
BODY = [("position_world_m", "3d"), ("quat_wxyz", "4d"), ("velocity_world_m_per_s", "3d"),
        ("angular_velocity_world_rad_per_s", "3d")]
TOUCH = [("a_kind", "B"), ("a_index", "I"), ("b_kind", "B"), ("b_index", "I"), ("point_world_m", "3d"),
         ("normal_world", "3d"), ("force_world_n", "3d"), ("depth_m", "d"), ("slip_m_per_s", "d"),
         ("sliding", "d"), ("mu", "d")]
HEAD = [("robot", "text"), ("run_id", "I"), ("nonce", "Q"), ("asker", "text")]
FAULT_PART = [("kind", "text"), ("part", "text"), ("name", "text")]

PAYLOADS = [
    (1, "State", [
        ("layout_hash", "Q"), ("run_id", "I"), ("tick", "Q"), ("time_ns", "Q"), ("mode", "B"), ("phase", "B"),
        ("failure", "B"), ("authority", "B"), ("command_age_ticks", "I"), ("command_session", "Q"),
        ("command_seq", "Q"), ("digest", "Q"), ("imu_quat_wxyz", "4d"),
        ("imu_angular_velocity_rad_per_s", "3d"), ("imu_specific_force_m_per_s2", "3d"),
        ("truth_base_position_m", "3d"), ("truth_base_quat_wxyz", "4d"), ("truth_base_velocity_m_per_s", "3d"),
        ("truth_base_angular_velocity_rad_per_s", "3d"),
        ("velocity_command", "3d"), ("joints", [("q", "d"), ("dq", "d"), ("tau", "d")]),
        ("foot_contact", ["B"]), ("foot_normal_n", ["d"])]),
    (2, "Contacts", [("layout_hash", "Q"), ("run_id", "I"), ("tick", "Q"), ("time_ns", "Q"), ("feet", FOOT),
                     ("stations", STATION), ("constraints", CONSTRAINT)]),
    (3, "Command", [("layout_hash", "Q"), ("run_id", "I"), ("session", "Q"), ("seq", "Q"), ("answers_tick", "Q"),
                    ("applies_tick", "Q"), ("joints", JOINT_COMMAND)]),
    (4, "Status", [
        ("run_id", "I"), ("tick", "Q"), ("time_ns", "Q"), ("period_ns", "Q"), ("mode", "B"), ("phase", "B"),
        ("failure", "B"), ("authority", "B"), ("command_age_ticks", "I"), ("command_session", "Q"), ("speed", "d"),
        ("real_time_factor", "d"), ("fifo_priority", "B"), ("core", "I"), ("memory_locked", "B"),
        ("wakeup_latency_ns", DISTRIBUTION, 1), ("tick_cost_ns", DISTRIBUTION, 1),
        ("applied_age_ticks", DISTRIBUTION, 1), ("counters", [("name", "text"), ("value", "Q")]),
        ("refused", ["text"]),
        ("controllers", [("name", "text"), ("role", "B"), ("session", "Q"), ("period_ticks", "Q"),
                         ("phase_ticks", "Q"), ("offset_ticks", "Q"), ("joints", "I")]),
        ("missing", ["text"])]),
    (5, "Model", [
        ("layout_hash", "Q"), ("run_id", "I"), ("period_ns", "Q"), ("hold_ticks", "Q"), ("damped_ticks", "Q"),
        ("proof_commands", "Q"), ("kp_max", "d"), ("kd_max", "d"), ("mass_kg", "d"), ("gravity_m_per_s2", "3d"),
        ("version", "text"), ("robot", "text"), ("base_link", "text"),
        ("joints", [("name", "text"), ("kind", "B"), ("q_initial", "d"), ("q_min", "d"), ("q_max", "d"),
                    ("effort_max", "d"), ("velocity_max", "d")]),
        ("feet", [("name", "text"), ("stations", ["I"])]),
        ("stations", [("name", "text"), ("body", "text"), ("position_body_m", "3d"), ("model", "B"),
                      ("round_m", "d"), ("ring_m", "d")]),
        ("surfaces", [("name", "text"), ("kind", "B"), ("moves", "B")] + POSE),
        ("foot_frames", FRAME), ("imu_frame", FRAME, 1),
        ("regions", [("name", "text"), ("surface", "I"), ("min_m", "2d"), ("max_m", "2d")]),
        ("hold_gains", [("kp", "d"), ("kd", "d")]),
        ("constraints", [("name", "text"), ("body", "text"), ("position_body_m", "3d"), ("plane_body", "text"),
                         ("normal", "3d")]), ("links", ["text"]),
        ("bodies", [("name", "text"), ("mass_kg", "d"), ("joint", "B"), ("axis", "3d")] + POSE),
        ("shapes", [("carrier", "B"), ("index", "I"), ("kind", "B"), ("size_m", "3d")] + POSE
         + [("vertices_m", ["d"]), ("model", "B"), ("mu_static", "d"), ("mu_kinetic", "d")])]),
    (7, "Keyframe", [("run_id", "I"), ("tick", "Q"), ("words", ["Q"])]),
    (8, "Friction", HEAD + [("layout_hash", "Q"), ("scope", "B"), ("index", "I"), ("mu_static", "d"),
                     ("mu_kinetic", "d")]),
    (9, "OrderReply", [("verdict", "B"), ("tick", "Q"), ("reason", "text")]),
    (10, "Control", HEAD + [("number", "Q"), ("rewind", "B")]),
    (11, "Push", HEAD + [("link", "text"), ("point_link_m", "3d"), ("force_world_n", "3d"),
                  ("ticks", "Q")]),
    (12, "SavedState", [("layout_hash", "Q"), ("physics_hash", "Q"), ("run_id", "I"), ("tick", "Q"),
                        ("checksum", "Q"), ("controllers", ["text"]), ("words", ["Q"])]),
    (13, "Join", HEAD + [("layout_hash", "Q"), ("physics_hash", "Q"), ("session", "Q"), ("role", "B"), ("period_ticks", "Q"),
                  ("phase_ticks", "Q"), ("offset_ticks", "Q"), ("controller", "text"), ("units", "text"),
                  ("joints", ["text"])]),
    (14, "JoinReply", [("verdict", "B"), ("mode", "B"), ("run_id", "I"), ("session", "Q"), ("first_tick", "Q"),
                       ("in_force", JOINT_COMMAND), ("reason", "text")]),
    (15, "Leave", HEAD + [("session", "Q")]),
    (16, "Speed", HEAD + [("speed", "d")]),
    (17, "Event", [("run_id", "I"), ("tick", "Q"), ("time_ns", "Q"), ("kind", "text"), ("controller", "text"),
                   ("asker", "text"), ("text", "text")]),
    (19, "Ground", [("surfaces", [("vertices_m", ["d"]), ("triangles", ["I"])])]),
    (20, "Fault", HEAD + FAULT_PART + [("values", ["d"]), ("ticks", "Q")]),
    (21, "Clear", HEAD + FAULT_PART),
    (22, "Velocity", HEAD + [("velocity_command", "3d")]),
    (23, "LogLink", [("run_id", "I"), ("tick", "Q"), ("follows", "Q"), ("value", "Q"), ("end", "B")]),
    (24, "Drives", [("layout_hash", "Q"), ("run_id", "I"), ("tick", "Q"), ("time_ns", "Q"), ("bus_v", "d"),
                    ("joints", [(n, "d") for n in ("motor_q", "motor_dq", "truth_q", "truth_dq", "current_a",
                                                   "winding_c", "housing_c")] + [("flags", "I")])]),
    (27, "Sensors", [("layout_hash", "Q"), ("run_id", "I"), ("tick", "Q"), ("time_ns", "Q"),
                     ("truth_imu_quat_wxyz", "4d")]
     + [(n, "3d") for n in ("truth_imu_angular_velocity_rad_per_s", "truth_imu_specific_force_m_per_s2",
                            "truth_gyro_bias_rad_per_s", "truth_accel_bias_m_per_s2")]
     + [("joints", [(n, "d") for n in ("truth_q", "truth_dq", "truth_tau")]),
        ("feet", [("force_foot_n", "3d"), ("moment_foot_nm", "3d"), ("truth_normal_n", "d"),
                  ("truth_force_foot_n", "3d"), ("truth_moment_foot_nm", "3d")])]),
    (26, "Constraint", HEAD + [("name", "text"), ("active", "B")]),
    (28, "Anchors", HEAD + [("layout_hash", "Q"), ("scope", "B"), ("index", "I")]),
    (25, "Bodies", [("layout_hash", "Q"), ("run_id", "I"), ("tick", "Q"), ("time_ns", "Q"),
                    ("points_left_out", "I"), ("bodies", BODY), ("points", TOUCH)]),
]


class Encoder:
    def __init__(self):
        self.count, self.out = 0, b""

    def number(self, code):
        self.count += 1
        value = {"B": self.count, "I": 1000 + self.count, "Q": 1000 + self.count, "d": self.count + 0.5}[code]
        self.out += struct.pack("<" + code, value)

    def value(self, kind, times=2):
        if kind == "text":
            self.count += 1
            text = f"t{self.count}".encode()
            self.out += struct.pack("<Q", len(text)) + text
        elif isinstance(kind, str):
            for _ in range(int(kind[:-1] or 1)):
                self.number(kind[-1])
        else:
            if times == 2:
                self.out += struct.pack("<Q", 2)
            for _ in range(times):
                for field in kind:
                    self.value(*((field,) if isinstance(field, str) else field[1:]))


def log_tick():
    """Every event, and commands with every verdict: the same values as in golden.rs."""
    pack = lambda layout, *values: struct.pack("<" + layout, *values)
    out = pack("IQ", 1001, 1002)
    out += pack("Q", 3)
    for i, verdict in enumerate([(0, 0), (1, 0), (2, 15)]):
        out += pack("4QIBB", 3 + i, 4 + i, 5 + i, 6 + i, 1, *verdict)
    out += pack("Q5d", 1, 0.5, 1.5, 2.5, 3.5, 4.5)
    scope_foot, part_joint, part_region = (2, 7), (1, 8), (5, 9)
    events = [
        pack("BI3d3dQ", 0, 3, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7),
        pack("BBIdd", 1, *scope_foot, 0.5, 0.25),
        pack("B5QB4Q", 2, 11, 12, 13, 14, 15, 1, 1 << 5, 0, 0, 1 << 63),
        pack("BQ", 3, 16),
        pack("B", 4),
        pack("B", 5),
        pack("BBBI4dQ", 6, 6, *part_joint, 0.5, 0.0, 0.0, 0.0, 2**64 - 1),
        pack("BBBB", 7, 1, 25, 0),
        pack("BBBBI", 7, 0, 1, *part_region),
        pack("B3d", 8, 0.5, -0.25, 0.125),
        pack("BIB", 9, 2, 1),
        pack("BBI", 10, 1, 21),
        pack("BI6d", 11, 22, 1, 2, 3, 4, 5, 6),
    ]
    out += pack("Q", len(events)) + b"".join(events)
    return out + pack("BBBQQ", 3, 1, 2, 17, 18)


def body(fields):
    encoder = Encoder()
    for field in fields:
        encoder.value(*field[1:])
    return encoder.out


# a view is a state, the contacts, what the drives obey, whom, and what is beside the robot
OWNER = [("controller", "Q"), ("age_ticks", "I")]
VIEW = next(f for _, name, f in PAYLOADS if name == "State")
VIEW = VIEW + next(f for _, name, f in PAYLOADS if name == "Contacts") + [("references", JOINT_COMMAND), ("surfaces", POSE), ("owners", OWNER)]
VIEW += [("bodies", BODY), ("points", TOUCH)]
PAYLOADS.insert(-6, (18, "View", VIEW))
MESSAGES = [(code, name, body(fields)) for code, name, fields in PAYLOADS] + [(6, "LogTick", log_tick())]
for code, name, payload in sorted(MESSAGES):
    print(code, name, (b"HS" + bytes([7, code]) + payload).hex())
