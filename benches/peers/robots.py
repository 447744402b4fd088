"""Translates the robots of the benchmarks: `robots.py mujoco|pinocchio OUT_DIR`.

MuJoCo gets NAME.fastest.xml and NAME.defaults.xml, made by MuJoCo's own URDF import, with a free
joint at the base, a ground plane, one position actuator per joint with the same gains and limits,
and contact between the spheres of the feet and the ground only. Pinocchio gets NAME.model, its own
serialisation of what its URDF parser read, and NAME.task: the initial pose, gains, limits, stations
and frames. Rotor inertias, friction, gains and initial joint positions are those of the scenarios.
"""

import sys
import tomllib
import xml.etree.ElementTree as ET
from pathlib import Path

ROBOTS = Path(__file__).resolve().parent.parent / "robots"
# robot: the case whose scenario and gains it has, and the frames whose velocities are asked for
CASES = {
    "go2": ("go2_4", ["FL_foot", "FR_foot", "RL_foot", "RR_foot"]),
    "g1": ("g1_8", ["left_ankle_roll_link", "right_ankle_roll_link",
                    "left_rubber_hand", "right_rubber_hand"]),
    "arm_on_cart": ("arm_on_cart_4", ["cart", "palm", "camera", "counterweight"]),
}
TIMESTEP_S = 0.001


class Task:
    """One robot as its scenario holds it."""

    def __init__(self, name):
        case, self.frames = CASES[name]
        case = tomllib.loads((ROBOTS / "cases.toml").read_text())[case]
        scenario = tomllib.loads((ROBOTS / case["scenario"]).read_text())
        self.urdf = ROBOTS / scenario["robot"]["urdf"]
        self.armature = scenario["joints"]["*"]["armature"]
        self.joints = scenario["initial"]["joints"]
        self.kp, self.kd = case["kp"], case["kd"]
        self.mu = scenario["contact"]["mu_static"]
        self.mu_kinetic = scenario["contact"]["mu_kinetic"]
        feet = {foot["link"] for foot in scenario["feet"]}
        tree = ET.parse(self.urdf)
        self.robot = tree.getroot().get("name")
        self.efforts = {j.get("name"): float(j.find("limit").get("effort"))
                        for j in tree.iter("joint") if j.find("limit") is not None}
        # (link, centre in the link's frame, radius) of each sphere under a foot
        self.spheres = [
            (link.get("name"), numbers(shape.find("origin")),
             float(shape.find("geometry/sphere").get("radius")))
            for link in tree.iter("link") if link.get("name") in feet
            for shape in link.findall("collision")]


def numbers(origin):
    return [float(x) for x in origin.get("xyz").split()] if origin is not None else [0.0] * 3


def mujoco_model(task, fastest):
    """MJCF of a robot that stands; `fastest` with the options that were found to be quickest."""
    import mujoco

    # the root must not be welded to the world, where fusing static bodies would put it
    keep = '<mujoco><compiler fusestatic="false" discardvisual="false"/></mujoco>'
    head = f'<robot name="{task.robot}">'
    spec = mujoco.MjSpec.from_string(task.urdf.read_text().replace(head, head + keep))
    spec.bodies[1].add_freejoint()
    spec.compiler.fusestatic = True
    spec.option.timestep = TIMESTEP_S
    if fastest:
        spec.option.solver = mujoco.mjtSolver.mjSOL_CG
        off = mujoco.mjtDisableBit
        spec.option.disableflags |= off.mjDSBL_SENSOR | off.mjDSBL_ISLAND
    for geom in list(spec.geoms):
        if geom.type != mujoco.mjtGeom.mjGEOM_SPHERE:
            spec.delete(geom)
            continue
        geom.contype, geom.conaffinity, geom.condim = 1, 0, 3
        geom.friction[0] = task.mu
    spec.worldbody.add_geom(name="ground", type=mujoco.mjtGeom.mjGEOM_PLANE, size=[5, 5, 1],
                            contype=0, conaffinity=1, condim=3, friction=[task.mu, 0.005, 0.0001])
    hinges = [j for j in spec.joints if j.type != mujoco.mjtJoint.mjJNT_FREE]
    for joint in hinges:
        joint.armature = task.armature
        effort = task.efforts[joint.name]
        drive = spec.add_actuator(name=joint.name, target=joint.name,
                                  trntype=mujoco.mjtTrn.mjTRN_JOINT)
        drive.set_to_position(kp=task.kp, kv=task.kd)
        drive.forcerange = [-effort, effort]
    model = spec.compile()
    data = mujoco.MjData(model)
    for joint in hinges:
        data.joint(joint.name).qpos[0] = task.joints.get(joint.name, 0.0)
    data.qpos[2] = 1.0
    mujoco.mj_kinematics(model, data)
    spheres = [g for g in range(model.ngeom)
               if model.geom_type[g] == mujoco.mjtGeom.mjGEOM_SPHERE]
    assert len(spheres) == len(task.spheres) and model.nu == len(hinges)
    data.qpos[2] -= min(data.geom_xpos[g][2] - model.geom_size[g][0] for g in spheres)
    ctrl = [task.joints.get(joint.name, 0.0) for joint in hinges]
    spec.add_key(name="stand", qpos=list(data.qpos), ctrl=ctrl)
    spec.compile()
    return spec.to_xml()


def pinocchio_files(task, out, name):
    """Pinocchio's model and the task that goes with it."""
    import numpy as np
    import pinocchio as pin

    model = pin.buildModelFromUrdf(str(task.urdf), pin.JointModelFreeFlyer())
    # with a free flyer before them, joint i drives velocity i + 4
    names = list(model.names)[2:]
    armature = np.zeros(model.nv)
    armature[6:] = task.armature
    model.armature = armature
    q = pin.neutral(model)
    q[7:] = [task.joints.get(joint, 0.0) for joint in names]
    data = model.createData()
    pin.framesForwardKinematics(model, data, q)
    lines, lowest = [], np.inf
    for link, centre, radius in task.spheres:
        frame = model.frames[model.getFrameId(link)]
        at = frame.placement.act(np.array(centre))
        lowest = min(lowest, data.oMi[frame.parentJoint].act(at)[2] - radius)
        lines.append(f"station {frame.parentJoint} {at[0]:.17g} {at[1]:.17g} {at[2]:.17g} {radius}")
    q[2] -= lowest
    lines.append("q " + " ".join(f"{x:.17g}" for x in q))
    lines.append("effort " + " ".join(str(task.efforts[joint]) for joint in names))
    lines.append(f"gains {task.kp} {task.kd}")
    lines.append(f"friction {task.mu} {task.mu_kinetic}")
    lines += [f"frame {model.getFrameId(link)}" for link in task.frames]
    (out / f"{name}.task").write_text("\n".join(lines) + "\n")
    model.saveToText(str(out / f"{name}.model"))


def main():
    engine, out = sys.argv[1], Path(sys.argv[2])
    for name in CASES:
        task = Task(name)
        if engine == "pinocchio":
            pinocchio_files(task, out, name)
        else:
            for kind in ("fastest", "defaults"):
                (out / f"{name}.{kind}.xml").write_text(mujoco_model(task, kind == "fastest"))


if __name__ == "__main__":
    main()
