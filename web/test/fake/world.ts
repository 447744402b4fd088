import { readFileSync } from "node:fs";
import type { FaultKind, Scene, Surface, Vec3 } from "../../src/protocol/types.ts";
import { GRAVITY, LEGS, MASS_KG } from "./quadruped.ts";

export interface World {
  surfaces: Surface[];
  height(x: number, y: number): number;
}

export const flat: World = {
  surfaces: [{ name: "ground", kind: "plane", moves: false, position_m: [0, 0, 0], quat: [1, 0, 0, 0] }],
  height: () => 0,
};

/** Stairs ahead, hills to the left, a platform that moves to the right. */
export function terrain(): World {
  const surfaces: Surface[] = [...flat.surfaces];
  const steps = 5;
  for (let i = 0; i < steps; i++)
    surfaces.push(box(`step${i + 1}`, [1.05 + 0.3 * i, 0, 0.02 * (i + 1)], [0.3, 1.4, 0.04 * (i + 1)]));
  surfaces.push(
    box("landing", [1.05 + 0.3 * steps + 0.45, 0, 0.02 * (steps + 1)], [1.2, 1.4, 0.04 * (steps + 1)]),
  );
  surfaces.push(hills());
  surfaces.push({ ...box("platform", [0.2, -1.1, 0.05], [0.6, 0.5, 0.1]), moves: true });
  const height = (x: number, y: number): number => {
    if (Math.abs(y) > 0.7 || x < 0.9) return 0;
    return 0.04 * Math.min(steps + 1, 1 + Math.floor((x - 0.9) / 0.3));
  };
  return { surfaces, height };
}

function box(name: string, position_m: Vec3, size: Vec3): Surface {
  const vertices: number[] = [];
  for (const z of [-0.5, 0.5])
    for (const y of [-0.5, 0.5])
      for (const x of [-0.5, 0.5]) vertices.push(x * size[0], y * size[1], z * size[2]);
  const triangles = [
    0, 2, 1, 1, 2, 3, 4, 5, 6, 5, 7, 6, 0, 1, 4, 1, 5, 4, 2, 6, 3, 3, 6, 7, 0, 4, 2, 2, 4, 6, 1, 3, 5, 3, 7,
    5,
  ];
  return { name, kind: "convex", moves: false, position_m, quat: [1, 0, 0, 0], vertices, triangles };
}

function hills(): Surface {
  const n = 49;
  const vertices: number[] = [];
  const triangles: number[] = [];
  for (let j = 0; j < n; j++) {
    for (let i = 0; i < n; i++) {
      const [u, v] = [i / (n - 1), j / (n - 1)];
      const edge = Math.min(u, v, 1 - u, 1 - v);
      const bump = 0.07 * (Math.sin(9 * u) * Math.cos(7 * v) + 0.6 * Math.sin(17 * u + 5 * v) + 1.1);
      vertices.push(3 * u, 3 * v, Math.min(1, 8 * edge) * bump + 0.001);
      if (i > 0 && j > 0) {
        const k = j * n + i;
        triangles.push(k - n - 1, k - n, k, k - n - 1, k, k - 1);
      }
    }
  }
  return {
    name: "hills",
    kind: "heightfield",
    moves: false,
    position_m: [-0.8, 0.9, 0],
    quat: [1, 0, 0, 0],
    vertices,
    triangles,
  };
}

export function makeScene(source: "live" | "log", urdf: string, world: World, runId: number): Scene {
  const kinds = ["hip", "thigh", "calf"] as const;
  const limits = { hip: [-1.05, 1.05, 23.7], thigh: [-1.5, 3.5, 23.7], calf: [-2.72, -0.84, 35.5] } as const;
  const initial = { hip: 0, thigh: 0.8, calf: -1.5 };
  return {
    source,
    robot: "quadruped",
    version: "fake",
    run_id: runId,
    layout_hash: "0123456789abcdef",
    period_ns: 1_000_000,
    mass_kg: MASS_KG,
    gravity_m_per_s2: [0, 0, -GRAVITY],
    base_link: "trunk",
    urdf,
    joints: LEGS.flatMap((leg) =>
      kinds.map((kind) => ({
        name: `${leg}_${kind}_joint`,
        kind: "revolute" as const,
        q_initial: initial[kind],
        q_min: limits[kind][0],
        q_max: limits[kind][1],
        effort_max: limits[kind][2],
        velocity_max: kind === "calf" ? 20 : 30,
      })),
    ),
    feet: LEGS.map((name, i) => ({ name, stations: [i] })),
    stations: [
      ...LEGS.map((name) => ({
        name: `${name}.0`,
        body: `${name}_foot`,
        position_body_m: [0, 0, 0] as Vec3,
        radius_m: 0.022,
        ring_m: 0,
      })),
      ...[0, 1, 2, 3, 4, 5, 6, 7].map((i) => ({
        name: `trunk.${i}`,
        body: "trunk",
        position_body_m: [i & 1 ? 0.19 : -0.19, i & 2 ? 0.05 : -0.05, i & 4 ? 0.055 : -0.055] as Vec3,
        radius_m: 0.01,
        ring_m: 0,
      })),
    ],
    surfaces: world.surfaces,
    regions: [
      { name: "ice", surface: 0, min_m: [-1.2, -0.9], max_m: [-0.5, 0.2], mu_static: 0.1, mu_kinetic: 0.08 },
    ],
    faults: source === "live" ? FAULTS : [],
  };
}

export function quadrupedUrdf(): string {
  return readFileSync(new URL("../../../../../config/robots/quadruped.urdf", import.meta.url), "utf8");
}

const duration = { name: "duration_s", unit: "s", min: 0, max: null, of: "number", optional: true } as const;
const joint = { name: "joint", unit: "", min: null, max: null, of: "joint", optional: false } as const;
const number = (name: string, unit: string, min: number, max: number) =>
  ({ name, unit, min, max, of: "number", optional: false }) as const;

export const FAULTS: FaultKind[] = [
  {
    kind: "encoder_stuck",
    summary: "position and velocity keep their last values",
    parameters: [joint, duration],
  },
  {
    kind: "encoder_offset",
    summary: "adds this offset to the position, as a step",
    parameters: [{ ...joint, optional: true }, number("offset", "rad", -1000, 1000), duration],
  },
  { kind: "motor_dead", summary: "makes no effort", parameters: [{ ...joint, optional: true }, duration] },
  {
    kind: "motor_derated",
    summary: "largest effort is multiplied by share",
    parameters: [{ ...joint, optional: true }, number("share", "", 0, 1), duration],
  },
  {
    kind: "imu_gyro_bias",
    summary: "added to the angular velocity, in the axes of the IMU",
    parameters: [
      { name: "bias_rad_per_s", unit: "rad/s", min: -1000, max: 1000, of: "vector", optional: false },
      duration,
    ],
  },
  {
    kind: "foot_sensor_stuck",
    summary: "contact and normal force keep their last values",
    parameters: [{ name: "foot", unit: "", min: null, max: null, of: "foot", optional: false }, duration],
  },
  {
    kind: "payload",
    summary: "a mass at a point of the link",
    parameters: [
      { name: "link", unit: "", min: null, max: null, of: "link", optional: false },
      number("mass_kg", "kg", 0, 1000),
      { name: "point_m", unit: "m", min: -1000, max: 1000, of: "vector", optional: true },
      duration,
    ],
  },
  {
    kind: "link_drop",
    summary: "commands are lost",
    parameters: [
      number("probability", "", 0, 1),
      { name: "length", unit: "", min: 1, max: 1000000, of: "integer", optional: true },
      { name: "seed", unit: "", min: 0, max: null, of: "integer", optional: true },
      duration,
    ],
  },
];
