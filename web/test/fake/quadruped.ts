import type { Quat, Vec3 } from "../../src/protocol/types.ts";
import { add, conjugate, fromRpy, rotate, scale, sub } from "./vector.ts";

/** Kinematics of config/robots/quadruped.urdf. */
export const LEGS = ["FL", "FR", "RL", "RR"] as const;
export const MASS_KG = 14.56;
export const GRAVITY = 9.80665;
export const FOOT_RADIUS = 0.022;
export const STANCE_HEIGHT = 0.3333;
const LINK = 0.213;
const HIP_OFFSET = 0.095;

interface Leg {
  hip: Vec3;
  side: number;
  nominal: Vec3;
}

export const legs: Leg[] = LEGS.map((name) => {
  const front = name[0] === "F" ? 1 : -1;
  const side = name[1] === "L" ? 1 : -1;
  return { hip: [0.19 * front, 0.05 * side, 0], side, nominal: [0.19 * front - 0.0156, 0.145 * side, 0] };
});

/** Joint angles that bring the foot's centre to this place. */
export function inverse(leg: number, base: Vec3, quat: Quat, foot: Vec3): Vec3 {
  const { hip, side } = legs[leg]!;
  const [x, y, z] = sub(rotate(conjugate(quat), sub(foot, base)), hip);
  const length = Math.sqrt(Math.max(y * y + z * z - HIP_OFFSET ** 2, 1e-6));
  let q0 = Math.atan2(z, y) - Math.atan2(-length, side * HIP_OFFSET);
  if (q0 > Math.PI) q0 -= 2 * Math.PI;
  if (q0 < -Math.PI) q0 += 2 * Math.PI;
  const reach = Math.min(Math.hypot(x, length), 1.99 * LINK);
  const q2 = -Math.acos((reach * reach) / (2 * LINK * LINK) - 1);
  return [q0, Math.atan2(-x, length) - q2 / 2, q2];
}

export function forward(leg: number, q: Vec3): Vec3 {
  const { hip, side } = legs[leg]!;
  const x = -LINK * (Math.sin(q[1]) + Math.sin(q[1] + q[2]));
  const down = LINK * (Math.cos(q[1]) + Math.cos(q[1] + q[2]));
  const [c, s] = [Math.cos(q[0]), Math.sin(q[0])];
  const y = side * HIP_OFFSET;
  return add(hip, [x, c * y + s * down, s * y - c * down]);
}

/** Efforts that hold the force of the ground on the foot. */
export function efforts(leg: number, quat: Quat, q: Vec3, force: Vec3): Vec3 {
  const f = rotate(conjugate(quat), force);
  const at = forward(leg, q);
  return [0, 1, 2].map((k) => {
    const moved: Vec3 = [...q];
    moved[k]! += 1e-5;
    const column = scale(sub(forward(leg, moved), at), 1e5);
    return -(column[0] * f[0] + column[1] * f[1] + column[2] * f[2]);
  }) as Vec3;
}

export type Gait = "stand" | "trot";

export interface Pose {
  base: Vec3;
  quat: Quat;
  rpy: Vec3;
  feet: Vec3[];
  load: number[];
}

const CYCLE_S = 0.52;
const STANCE = 0.58;
const SPEED = 0.32;

/** Where base and feet are at a time, before pushes: a sway, or a trot. */
export function pose(t: number, gait: Gait, ground: (x: number, y: number) => number, shift: Vec3): Pose {
  const walking = gait === "trot";
  const x0 = walking ? SPEED * t : 0;
  const sway = walking ? 0.35 : 1;
  const rpy: Vec3 = [
    0.035 * sway * Math.sin(2.1 * t) - 0.6 * shift[1],
    0.045 * sway * Math.sin(1.7 * t + 1) + 0.6 * shift[0],
    0.07 * sway * Math.sin(1.1 * t),
  ];
  const feet: Vec3[] = [];
  const load: number[] = [];
  let level = 0;
  legs.forEach((leg, i) => {
    const offset = i === 0 || i === 3 ? 0 : 0.5;
    const cycle = walking ? t / CYCLE_S + offset : 0;
    const k = Math.floor(cycle);
    const phase = cycle - k;
    const hold = (n: number): number =>
      walking ? leg.nominal[0] + SPEED * CYCLE_S * (n - offset + STANCE / 2) : leg.nominal[0];
    const swing = walking ? Math.max(0, (phase - STANCE) / (1 - STANCE)) : 0;
    const smooth = swing * swing * (3 - 2 * swing);
    const x = hold(k) + smooth * (hold(k + 1) - hold(k));
    const low = ground(hold(k), leg.nominal[1]) * (1 - smooth) + ground(hold(k + 1), leg.nominal[1]) * smooth;
    feet.push([x, leg.nominal[1], low + FOOT_RADIUS + 0.06 * Math.sin(Math.PI * swing)]);
    const rise = Math.min(phase, STANCE - phase) / 0.07;
    load.push(walking ? Math.min(Math.max(rise, 0), 1) : 1);
    level += low / 4;
  });
  const base: Vec3 = add(
    [
      x0 + 0.014 * sway * Math.sin(1.9 * t),
      0.02 * sway * Math.sin(1.3 * t),
      STANCE_HEIGHT - 0.01 + level + 0.012 * sway * Math.sin(2.9 * t),
    ],
    shift,
  );
  return { base, quat: fromRpy(...rpy), rpy, feet, load };
}
