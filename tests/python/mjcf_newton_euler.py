"""Rigid-body dynamics of a reference file's model, written for itself: recursive Newton-Euler in
world axes. It has the same functions as `hardstand.Model`, so that `mjcf_compare.py --check` can
test the comparison against MuJoCo without the daemon's code.

A generalized velocity is [angular velocity of the base, linear velocity of the base's origin,
joints], both base parts in the axes that `base_axes` says: "body" or "world". Derivatives are
those of the components: with "body" axes an acceleration of zero means that the components in the
turning frame do not change. A fixed base has no base part.
"""

import numpy as np


def rotation(quat):
    """The rotation matrix of a quaternion w x y z."""
    w, x, y, z = quat
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def product(a, b):
    """The Hamilton product of two quaternions."""
    w, v, s, u = a[0], np.asarray(a[1:]), b[0], np.asarray(b[1:])
    return np.array([w * s - v @ u, *(w * u + s * v + np.cross(v, u))])


class Moving:
    """Where a frame is and how it moves: all in world axes, at the frame's origin."""

    def __init__(self, place, quat, velocity, acceleration):
        self.x, self.quat, self.R = np.array(place), np.array(quat), rotation(quat)
        self.w, self.v = velocity
        self.alpha, self.a = acceleration

    def at(self, point):
        """Velocity and acceleration of the point of this rigid body that is at `point`."""
        d = point - self.x
        turned = np.cross(self.w, d)
        acceleration = self.a + np.cross(self.alpha, d) + np.cross(self.w, turned)
        return self.v + turned, acceleration

    def fixed(self, offset, quat):
        """A frame that is fixed to this one."""
        place = self.x + self.R @ offset
        v, a = self.at(place)
        return Moving(place, product(self.quat, quat), (self.w, v), (self.alpha, a))

    def hinged(self, anchor, axis, state):
        """This frame after a turn about an axis through a point, both given in the frame."""
        q, qd, qdd = state
        place, axis = self.x + self.R @ anchor, self.R @ axis
        v, a = self.at(place)
        w = self.w + axis * qd
        alpha = self.alpha + axis * qdd + np.cross(self.w, axis) * qd
        turn = [np.cos(q / 2), *(np.sin(q / 2) * axis)]
        at_anchor = Moving(place, product(turn, self.quat), (w, v), (alpha, a))
        return at_anchor.fixed(-anchor, [1, 0, 0, 0])

    def slid(self, axis, state):
        """This frame after a slide along an axis that is given in the frame."""
        q, qd, qdd = state
        axis = self.R @ axis
        place = self.x + axis * q
        v, a = self.at(place)
        a = a + axis * qdd + 2 * np.cross(self.w, axis) * qd
        return Moving(place, self.quat, (self.w, v + axis * qd), (self.alpha, a))


class Model:
    """The model of a reference file."""

    def __init__(self, reference, base_axes="body"):
        self.reference, self.base_axes = reference, base_axes
        self.base = reference["base"]
        self.joints = [joint["name"] for joint in reference["joints"]]
        self.bodies = [body["name"] for body in reference["bodies"]]
        self.mass = sum(body["mass"] for body in reference["bodies"] if body["moves"])
        self.rotors = {joint["name"]: joint["armature"] for joint in reference["joints"]}
        for actuator in reference["actuators"]:
            self.rotors[actuator["joint"]] += actuator["gear"] ** 2 * actuator["armature"]

    def mass_matrix(self, base_position, base_quat, q):
        """The matrix whose columns are the forces that unit accelerations take, at rest."""
        size = len(self.joints) + (6 if self.base else 0)
        place, rest = (base_position, base_quat, q), np.zeros(size)
        return np.column_stack([self.forces(place, rest, unit) for unit in np.eye(size)])

    def bias_forces(self, base_position, base_quat, base_velocity, q, dq, gravity):
        """The forces that keep all generalized accelerations zero."""
        v = np.concatenate([base_velocity if self.base else [], dq])
        return self.forces((base_position, base_quat, q), v, np.zeros_like(v), gravity)

    def pose(self, body, base_position, base_quat, q):
        """Position and quaternion of a body's frame in the world."""
        rest = np.zeros(len(q) + (6 if self.base else 0))
        frame = self.frames((base_position, base_quat, q), rest, rest)[0][body]
        return frame.x, frame.quat

    def floating(self, place, v, vdot):
        """How the floating base moves."""
        R = rotation(place[1]) if self.base_axes == "body" else np.eye(3)
        w, lin = R @ v[:3], R @ v[3:6]
        turning = np.cross(w, lin) if self.base_axes == "body" else 0.0
        return Moving(place[0], place[1], (w, lin), (R @ vdot[:3], R @ vdot[3:6] + turning))

    def frames(self, place, v, vdot):
        """Every body's frame, and every joint's anchor and axis, in the world."""
        still = np.zeros(3)
        frames = {"world": Moving(still, [1, 0, 0, 0], (still, still), (still, still))}
        first, lines = (6 if self.base else 0), {}
        states = dict(zip(self.joints, zip(place[2], v[first:], vdot[first:])))
        for body in self.reference["bodies"]:
            if body["name"] == self.base:
                frames[self.base] = self.floating(place, v, vdot)
                continue
            frame = frames[body["parent"]].fixed(np.array(body["pos"]), body["quat"])
            for joint in self.reference["joints"]:
                if joint["body"] != body["name"]:
                    continue
                q, qd, qdd = states[joint["name"]]
                state, axis = (q - joint["ref"], qd, qdd), np.array(joint["axis"])
                anchor = np.array(joint["pos"])
                lines[joint["name"]] = (frame.x + frame.R @ anchor, frame.R @ axis)
                hinge = joint["type"] == "hinge"
                frame = frame.hinged(anchor, axis, state) if hinge else frame.slid(axis, state)
            frames[body["name"]] = frame
        return frames, lines

    def forces(self, place, v, vdot, gravity=(0.0, 0.0, 0.0)):
        """Inverse dynamics."""
        frames, lines = self.frames(place, v, vdot)
        pulls = {name: (np.zeros(3), np.zeros(3)) for name in frames}
        for body in reversed(self.reference["bodies"]):
            frame, (xx, yy, zz, xy, xz, yz) = frames[body["name"]], body["inertia"]
            I = frame.R @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ frame.R.T
            com = frame.x + frame.R @ body["com"]
            force = body["mass"] * (frame.at(com)[1] - gravity)
            moment = I @ frame.alpha + np.cross(frame.w, I @ frame.w) + np.cross(com, force)
            total = pulls[body["name"]]
            pulls[body["name"]] = total = (total[0] + force, total[1] + moment)
            above = pulls[body["parent"]]
            pulls[body["parent"]] = (above[0] + total[0], above[1] + total[1])
        first = 6 if self.base else 0
        tau = []
        for joint, qdd in zip(self.reference["joints"], vdot[first:]):
            (force, moment), (anchor, axis) = pulls[joint["body"]], lines[joint["name"]]
            hinge = joint["type"] == "hinge"
            pull = axis @ (moment - np.cross(anchor, force)) if hinge else axis @ force
            tau.append(pull + self.rotors[joint["name"]] * qdd)
        if not self.base:
            return np.array(tau)
        force, moment = pulls[self.base]
        frame = frames[self.base]
        R = frame.R if self.base_axes == "body" else np.eye(3)
        return np.array([*(R.T @ (moment - np.cross(frame.x, force))), *(R.T @ force), *tau])
