"""Writes services.json: for each service its RIHS01 hash, and one encoded request and answer, made with PyPI rosbags
(0.11.9), which knows no services: their hash is computed here as REP-2011 has it, from the descriptions that rosbags
makes of request and answer.

    pip install rosbags==0.11.9 && python3 tests/ros2/services.py > tests/ros2/services.json

The services of the action FollowJointTrajectory (control_msgs, jazzy) and its messages, which are no services and stand
beside them under their names, with "request" alone.

Definitions, without comments and constants: std_srvs (jazzy), github.com/ros-simulation/simulation_interfaces 1.0 to
1.5, and in LATER what 2.1 changed (its change log: "optional via boolean flags"; names and order as Gazebo's
gz_simulation_interfaces uses them). Default values count for no hash. The hashes KNOWN stand in code that ROS 2 generated (rosidl_generator_c, rolling and jazzy) or in hiroz-msgs 0.2.1.
"""
import hashlib
import json

import numpy
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

SIM = "simulation_interfaces"
MESSAGES = {
    "service_msgs/msg/ServiceEventInfo": "uint8 event_type\nbuiltin_interfaces/Time stamp\nuint8[16] client_gid\n"
    "int64 sequence_number",
    f"{SIM}/msg/Result": "uint8 result\nstring error_message",
    f"{SIM}/msg/SimulationState": "uint8 state",
    f"{SIM}/msg/SimulatorFeatures": "uint16[] features\nstring[] spawn_formats\nstring custom_info",
    f"{SIM}/msg/EntityState": "std_msgs/Header header\ngeometry_msgs/Pose pose\ngeometry_msgs/Twist twist\n"
    "geometry_msgs/Accel acceleration",
    "control_msgs/msg/JointTolerance": "string name\nfloat64 position\nfloat64 velocity\nfloat64 acceleration",
    "control_msgs/msg/JointComponentTolerance": "string joint_name\nuint16 component\nfloat64 position\n"
    "float64 velocity\nfloat64 acceleration",
}
FOLLOW = "control_msgs/action/FollowJointTrajectory"
ACTION = {
    f"{FOLLOW}_Goal": "trajectory_msgs/JointTrajectory trajectory\n"
    "trajectory_msgs/MultiDOFJointTrajectory multi_dof_trajectory\ncontrol_msgs/JointTolerance[] path_tolerance\n"
    "control_msgs/JointComponentTolerance[] component_path_tolerance\ncontrol_msgs/JointTolerance[] goal_tolerance\n"
    "control_msgs/JointComponentTolerance[] component_goal_tolerance\nbuiltin_interfaces/Duration goal_time_tolerance",
    f"{FOLLOW}_Result": "int32 error_code\nstring error_string",
    f"{FOLLOW}_Feedback": "std_msgs/Header header\nstring[] joint_names\n"
    "trajectory_msgs/JointTrajectoryPoint desired\ntrajectory_msgs/JointTrajectoryPoint actual\n"
    "trajectory_msgs/JointTrajectoryPoint error\nstring[] multi_dof_joint_names\n"
    "trajectory_msgs/MultiDOFJointTrajectoryPoint multi_dof_desired\n"
    "trajectory_msgs/MultiDOFJointTrajectoryPoint multi_dof_actual\n"
    "trajectory_msgs/MultiDOFJointTrajectoryPoint multi_dof_error",
    f"{FOLLOW}_FeedbackMessage": f"unique_identifier_msgs/UUID goal_id\n{FOLLOW}_Feedback feedback",
}
SERVICES = {
    "std_srvs/srv/SetBool": ("bool data", "bool success\nstring message"),
    "std_srvs/srv/Trigger": ("", "bool success\nstring message"),
    f"{SIM}/srv/GetSimulatorFeatures": ("", f"{SIM}/SimulatorFeatures features"),
    f"{SIM}/srv/GetSimulationState": ("", f"{SIM}/SimulationState state\n{SIM}/Result result"),
    f"{SIM}/srv/SetSimulationState": (f"{SIM}/SimulationState state", f"{SIM}/Result result"),
    f"{SIM}/srv/StepSimulation": ("uint64 steps", f"{SIM}/Result result"),
    f"{SIM}/srv/ResetSimulation": ("uint8 scope", f"{SIM}/Result result"),
    f"{SIM}/srv/GetEntityState": ("string entity", f"{SIM}/Result result\n{SIM}/EntityState state"),
    f"{SIM}/srv/SetEntityState": (f"string entity\n{SIM}/EntityState state", f"{SIM}/Result result"),
    f"{FOLLOW}_SendGoal": (f"unique_identifier_msgs/UUID goal_id\n{FOLLOW}_Goal goal",
                           "bool accepted\nbuiltin_interfaces/Time stamp"),
    f"{FOLLOW}_GetResult": ("unique_identifier_msgs/UUID goal_id", f"int8 status\n{FOLLOW}_Result result"),
    "action_msgs/srv/CancelGoal": ("action_msgs/GoalInfo goal_info",
                                   "int8 return_code\naction_msgs/GoalInfo[] goals_canceling"),
}
KNOWN = {
    "std_srvs/srv/SetBool": "abe9e4bb6b41b40e6789712c00ec8871923e089af3f667a79992a428cff2da0a",
    "std_srvs/srv/Trigger": "eeff2cd6fa5ad9d27cdf4dec64818317839b62f212a91e6b5304b634b2062c5f",
    f"{SIM}/srv/StepSimulation": "913fe0653690ce6bf8f09f316e6a626747012e9fca31e26719910d417aa8565c",
    f"{FOLLOW}_SendGoal": "b13789dddc325a7a962825c45e28c77d37237ec129dd0c34dc5994562938c57f",
    f"{FOLLOW}_GetResult": "e3ceb38e3e1867c8dc0f46014df26e90eb93422f27e9e97f936e07f94be4bc8b",
    f"{FOLLOW}_FeedbackMessage": "80398fcb9674a79081a9906e2ccf0c804dd7cb15e22e362e606ee87186beab71",
    f"{SIM}/srv/ResetSimulation": "4ce285d7ff9b8ac70dcc95161f32bf54c05a6f4b13427990e41ab40c36c39646",
}
# the services of a later release, under their name and its number
LATER = {
    (f"{SIM}/srv/SetEntityState", "2.1"): (
        f"string entity\n{SIM}/EntityState state\nbool set_pose\nbool set_twist\nbool set_acceleration",
        f"{SIM}/Result result",
    ),
}
# rosbags names these in its descriptions; the numbers are those of type_description_interfaces/FieldType (char is uint8)
NUMBERS = {"int8": 2, "char": 3, "uint8": 3, "uint16": 5, "int32": 6, "uint32": 7, "int64": 8, "uint64": 9, "float64": 11, "bool": 15,
           "string": 17}
ARRAY, BOUNDED, UNBOUNDED = 48, 96, 144
# what a struct without fields has
EMPTY = "uint8 structure_needs_at_least_one_member"

store = get_typestore(Stores.ROS2_JAZZY)
for name, text in MESSAGES.items():
    if name not in store.fielddefs:
        store.register(get_types_from_msg(text, name))


def define(name, request, answer):
    for part, text in (("Request", request), ("Response", answer)):
        register(f"{name}_{part}", text or EMPTY)


def register(name, text):
    # rosbags takes it for a message, and puts msg/ into its name
    (fields,) = get_types_from_msg(text, name).values()
    for known in (store.fielddefs, store.types, store.cache):
        known.pop(name, None)
    store.register({name: fields})


for name, text in ACTION.items():
    register(name, text)


for name, (request, answer) in SERVICES.items():
    define(name, request, answer)


def scalar(kind):
    """Number and nested name of a type that is no array."""
    node, what = int(kind[0]), kind[1]
    return (1, what) if node == 2 else (NUMBERS[what[0]], "")


def described(fields):
    out = []
    for name, kind in fields:
        node, what = int(kind[0]), kind[1]
        number, nested, capacity = (*scalar(kind), 0) if node < 3 else (*scalar(what[0]), what[1])
        number += {3: ARRAY, 4: UNBOUNDED}.get(node, 0)
        out.append((name, number, capacity, nested))
    return out


def fields_of(name):
    """Name, number, capacity and nested type of each field."""
    if not name.endswith("_Event"):
        return described(store.fielddefs[name][1])
    service = name.removesuffix("_Event")
    return [("info", 1, 0, "service_msgs/msg/ServiceEventInfo"),
            ("request", BOUNDED + 1, 1, f"{service}_Request"), ("response", BOUNDED + 1, 1, f"{service}_Response")]


def used(name, seen):
    for _, _, _, nested in fields_of(name):
        if nested and nested not in seen:
            seen.add(nested)
            used(nested, seen)
    return seen


def description(name, fields):
    return {"type_name": name, "fields": [
        {"name": field, "type": {"type_id": number, "capacity": capacity, "string_capacity": 0,
                                 "nested_type_name": nested}} for field, number, capacity, nested in fields]}


def message_rihs01(name):
    whole = {"type_description": description(name, fields_of(name)),
             "referenced_type_descriptions": [description(n, fields_of(n)) for n in sorted(used(name, set()))]}
    return hashlib.sha256(json.dumps(whole).encode()).hexdigest()


def rihs01(service):
    parts = [f"{service}_{part}" for part in ("Request", "Response", "Event")]
    own = [(f"{what}_message", 1, 0, part) for what, part in zip(("request", "response", "event"), parts)]
    seen = set(parts)
    for part in parts:
        used(part, seen)
    whole = {"type_description": description(service, own),
             "referenced_type_descriptions": [description(n, fields_of(n)) for n in sorted(seen)]}
    return hashlib.sha256(json.dumps(whole).encode()).hexdigest()


counter = 0


def fill(name):
    return store.types[name](*[value(kind) for _, kind in store.fielddefs[name][1]])


def value(kind):
    """No two values are the same."""
    global counter
    node, what = int(kind[0]), kind[1]
    counter += 1
    if node == 2:
        return fill(what)
    if node == 1:
        if what[0] == "string":
            return "s" * (counter % 5) + str(counter)
        if what[0] == "bool":
            return True
        return counter + 0.25 if what[0].startswith("float") else counter % 127
    element, count = what
    count = count if node == 3 else 2
    if int(element[0]) == 1 and element[1][0] != "string":
        return numpy.array([value(element) for _ in range(count)], dtype=element[1][0])
    return [value(element) for _ in range(count)]


def vector(name):
    parts = {}
    for part in ("Request", "Response"):
        kind = f"{name}_{part}"
        parts[part] = store.serialize_cdr(fill(kind), kind).tobytes().hex()
    return {"hash": f"RIHS01_{rihs01(name)}", "request": parts["Request"], "answer": parts["Response"]}


services = {}
for name in SERVICES:
    known = KNOWN.get(name, rihs01(name))
    assert rihs01(name) == known, (name, rihs01(name), known)
    services[name] = vector(name)
for (name, release), (request, answer) in LATER.items():
    define(name, request, answer)
    services[f"{name} {release}"] = vector(name)
for name in (f"{FOLLOW}_FeedbackMessage", "action_msgs/msg/GoalStatusArray"):
    assert message_rihs01(name) == KNOWN.get(name, message_rihs01(name)), name
    request = store.serialize_cdr(fill(name), name).tobytes().hex()
    services[name] = {"hash": f"RIHS01_{message_rihs01(name)}", "request": request, "answer": ""}
print(json.dumps(services, indent=1))
