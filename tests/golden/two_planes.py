"""A box between a floor and a wall, computed from the facts in PROVENANCE.md alone.

    python3 tests/golden/two_planes.py | gzip -9n > tests/golden/exp_spring_block_two_planes.json.gz
    python3 tests/golden/two_planes.py tests/golden/exp_spring_block_slide.json.gz   # compares itself

A second program: neither Simbody nor this crate. With a file of Simbody's as its argument it computes
that scene and prints how far it is from the file.
"""
import gzip
import json
import math
import sys

SIG = 2.0 ** -45.5  # eps^(7/8)


def add(a, b, s=1.0):
    return [x + s * y for x, y in zip(a, b)]


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def mul(R, v):
    return [dot(row, v) for row in R]


def tmul(R, v):
    return [R[0][i] * v[0] + R[1][i] * v[1] + R[2][i] * v[2] for i in range(3)]


def matrix(q):
    w, x, y, z = q
    return [[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]]


def smooth(x):
    x = min(max(x, 0.0), 1.0)
    return x ** 3 * (10 - 15 * x + 6 * x * x)


class Spring:
    def __init__(self, station, plane, par):
        self.station, self.R, self.o, self.par = station, plane["R"], plane["p"], par
        self.anchor, self.sliding, self.t_last = [0.0, 0.0], 1.0, 0.0

    def evaluate(self, state, R_WB, t, mu_s, mu_k):
        par = self.par
        r = mul(R_WB, self.station)
        p = tmul(self.R, add(add(state[0:3], r), self.o, -1.0))
        v = tmul(self.R, add(state[7:10], cross(state[10:13], r)))
        fe = par["d1"] * math.exp(-par["d2"] * (p[2] - par["d0"]))
        fd = -par["cz"] * v[2] * fe
        fz = fe + fd
        if fz < 0.0:
            fz, fd = 0.0, -fe
        if fz > par["max_fz"]:
            fz = par["max_fz"]
            fe = fz - fd
        limit = (mu_s - self.sliding * (mu_s - mu_k)) * fz
        elastic, damping = [0.0, 0.0], [0.0, 0.0]
        anchor, sliding = p[:2], 1.0
        if limit >= SIG:
            def limited(f):
                n = math.hypot(*f)
                return min(1.0, limit / n) if n > 0.0 else 1.0
            plain = [-par["cxy"] * x for x in v[:2]]
            d1 = [limited(plain) * x for x in plain]
            e2 = [-par["kxy"] * (p[i] - self.anchor[i]) for i in (0, 1)]
            scale = limited([e2[0] + plain[0], e2[1] + plain[1]])
            e2, d2 = [scale * x for x in e2], [scale * x for x in plain]
            k = self.sliding
            elastic = [x * (1 - k) for x in e2]
            damping = [b + (a - b) * k for a, b in zip(d1, d2)]
            anchor = [p[i] + elastic[i] / par["kxy"] for i in (0, 1)]
        dt = t - self.t_last
        if dt > SIG and limit > SIG:
            way = math.hypot(anchor[0] - self.anchor[0], anchor[1] - self.anchor[1])
            sliding = smooth(way / dt / par["v_settle"])
        self.next = anchor, sliding, t
        self.force = [elastic[0] + damping[0], elastic[1] + damping[1], fz]
        stretch = [p[i] - anchor[i] for i in (0, 1)]
        self.stored = fe / par["d2"] + 0.5 * par["kxy"] * dot(stretch, stretch)
        f = mul(self.R, self.force)
        return f, cross(r, f)

    def commit(self):
        self.anchor, self.sliding, self.t_last = self.next


def springs(setup):
    listed, planes = setup["stations_B"], setup["planes_X_GP"]
    unique = [s for i, s in enumerate(listed) if s not in listed[:i]]
    return [Spring(s, X, setup["params"]) for X in planes for s in unique]


def run(setup, h, times):
    """The samples at these times: classical Runge-Kutta steps, the memory committed at stage 1."""
    all_springs, m, g = springs(setup), setup["mass"], setup["gravity_G"]
    I, mu_s, mu_k = setup["inertia_diag_B_about_com"], setup["mu_s"], setup["mu_k"]
    state = setup["p0"] + setup["quat0"] + setup["v0_G"] + setup["omega0_G"]
    wanted = {round(t / h) for t in times}

    def slope(x, t):
        R = matrix(x[3:7])
        f, tau = [m * a for a in g], [0.0] * 3
        for spring in all_springs:
            fs, ts = spring.evaluate(x, R, t, mu_s, mu_k)
            f, tau = add(f, fs), add(tau, ts)
        w = x[10:13]
        wb = tmul(R, w)
        spin = [I[i] * wb[i] for i in range(3)]
        alpha = add(tmul(R, tau), cross(wb, spin), -1.0)
        alpha = mul(R, [alpha[i] / I[i] for i in range(3)])
        q0, q = x[3], x[4:7]
        turn = [-0.5 * dot(w, q)] + [0.5 * y for y in add([q0 * y for y in w], cross(w, q))]
        return x[7:10] + turn + [y / m for y in f] + alpha

    for n in range(max(wanted) + 1):
        t = n * h
        k1 = slope(state, t)
        if n in wanted:
            yield sample(setup, state, t, all_springs)
        for spring in all_springs:
            spring.commit()
        k2 = slope(add(state, k1, h / 2), t + h / 2)
        k3 = slope(add(state, k2, h / 2), t + h / 2)
        k4 = slope(add(state, k3, h), t + h)
        for k, weight in ((k1, 1), (k2, 2), (k3, 2), (k4, 1)):
            state = add(state, k, weight * h / 6)
        length = math.sqrt(dot(state[3:7], state[3:7]))
        state[3:7] = [x / length for x in state[3:7]]


def sample(setup, state, t, all_springs):
    wb, I = tmul(matrix(state[3:7]), state[10:13]), setup["inertia_diag_B_about_com"]
    kinetic = 0.5 * setup["mass"] * dot(state[7:10], state[7:10])
    return {
        "t": t, "quat": state[3:7], "p": state[0:3], "omega": state[10:13], "v": state[7:10],
        "f_P": [s.force for s in all_springs],
        "anchor_P": [s.next[0] for s in all_springs],
        "sliding": [s.next[1] for s in all_springs],
        "ke": kinetic + 0.5 * sum(I[i] * wb[i] ** 2 for i in range(3)),
        "pe_springs": sum(s.stored for s in all_springs),
        "pe_gravity": -setup["mass"] * dot(setup["gravity_G"], state[0:3]),
    }


def two_planes():
    corners = [[x, y, z] for z in (-0.1, 0.1) for x, y in
               ((0.1, 0.1), (0.1, -0.1), (-0.1, -0.1), (-0.1, 0.1))]
    params = {"d0": 0.0065905, "d1": 0.5336, "d2": 1150.0, "cz": 0.5, "max_fz": 100000.0,
              "kxy": 20000.0, "cxy": 282.842712474619, "v_settle": 0.01}
    floor = {"R": [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]], "p": [0.0, 0.0, 0.0]}
    wall = {"R": [[0.0, 0.0, -1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]], "p": [0.6, 0.0, 0.0]}
    setup = {"gravity_G": [0.0, 0.0, -9.8], "mass": 10.0, "com_B": [0.0, 0.0, 0.0],
             "inertia_diag_B_about_com": [0.9, 1.0, 1.1], "stations_B": corners + corners,
             "planes_X_GP": [floor, wall], "spring_i_uses_plane": "i/8 (integer division)",
             "params": params, "mu_s": 0.3, "mu_k": 0.2, "quat0": [1.0, 0.0, 0.0, 0.0],
             "p0": [0.0, 0.0, 0.1033], "omega0_G": [0.0, 0.0, 0.5], "v0_G": [2.0, 0.3, 0.0],
             "sliding0": 1.0, "events": [], "t_end": 0.6}
    return {"what": "a box that slides on a floor into a wall, each station listed once a plane",
            "name": "two_planes", "generator": "tests/golden/two_planes.py", "setup": setup,
            "fixed_step": {"h": 1e-4}}


def main():
    if len(sys.argv) < 2:
        scene = two_planes()
        times = [0.01 * i for i in range(61)]
        scene["samples"] = list(run(scene["setup"], scene["fixed_step"]["h"], times))
        json.dump(scene, sys.stdout)
        return
    with gzip.open(sys.argv[1]) as file:
        scene = json.load(file)
    worst = {}
    samples = scene["samples"]
    for ours in run(scene["setup"], scene["fixed_step"]["h"], [s["t"] for s in samples]):
        theirs = min(samples, key=lambda s: abs(s["t"] - ours["t"]))
        for key in ("p", "quat", "v", "omega", "f_P", "anchor_P", "sliding", "pe_springs"):
            flat = [x for x in json.dumps([ours[key], theirs[key]]).replace("[", "").replace(
                "]", "").split(",")]
            half = len(flat) // 2
            off = max(abs(float(a) - float(b)) for a, b in zip(flat[:half], flat[half:]))
            worst[key] = max(worst.get(key, 0.0), off)
    print(worst)


if __name__ == "__main__":
    main()
