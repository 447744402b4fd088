import type { readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { Frame, Scene } from "../src/protocol/types.ts";
import type { Simulation } from "./fake/simulation.ts";

/** A URDF with mesh files, its meshes numbered as the viewer does, standing still. */
export function meshRobot(
  path: string,
  read: typeof readFileSync,
): { urdf: string; meshes: Buffer[]; scene: Partial<Scene>; still(simulation: Simulation): Simulation } {
  const files: string[] = [];
  const root = process.env["MESH_ROOT"] ?? dirname(path);
  const urdf = read(path, "utf8").replace(/filename="([^"]+)"/g, (_, name: string) => {
    const file = name.startsWith("package://")
      ? join(root, name.slice("package://".length))
      : resolve(dirname(path), name);
    let index = files.indexOf(file);
    if (index < 0) index = files.push(file) - 1;
    return `filename="mesh/${index}"`;
  });
  const joints = [
    ...urdf.matchAll(/<joint\s[^>]*?name="([^"]+)"[^>]*?type="(revolute|continuous|prismatic)"/g),
  ].map((match) => match[1] ?? "");
  const children = new Set([...urdf.matchAll(/<child\s+link="([^"]+)"/g)].map((match) => match[1]));
  const base =
    [...urdf.matchAll(/<link\s+name="([^"]+)"/g)]
      .map((match) => match[1] ?? "")
      .find((name) => !children.has(name)) ?? "";
  const zero = joints.map(() => 0);
  const stance = joints.map((name) =>
    /calf|KFE|knee/i.test(name)
      ? /knee/.test(name)
        ? 0.6
        : -1.5
      : /thigh|HFE/i.test(name)
        ? 0.8
        : /hip_pitch|ankle_pitch/.test(name)
          ? -0.3
          : 0,
  );
  const unitree = joints.includes("FL_calf_joint");
  const height = Number(process.env["MESH_HEIGHT"] ?? 0.6);
  return {
    urdf,
    meshes: files.map((file) => read(file)),
    scene: {
      robot: /<robot[^>]*name="([^"]+)"/.exec(urdf)?.[1] ?? "robot",
      base_link: base,
      joints: joints.map((name) => ({
        name,
        kind: "revolute",
        q_initial: 0,
        q_min: -2,
        q_max: 2,
        effort_max: 50,
        velocity_max: 20,
      })),
      layout_hash: "mesh",
    },
    still(simulation) {
      const frame = simulation.frame.bind(simulation);
      simulation.frame = (): Frame => ({
        ...frame(),
        base: { p: [0, 0, height], quat: [1, 0, 0, 0], v: [0, 0, 0], w: [0, 0, 0] },
        contacts: unitree ? frame().contacts : [],
        q: stance.map((q, i) => q + 0.04 * Math.sin(simulation.time + i)),
        dq: zero,
        tau: zero,
        command: null,
      });
      return simulation;
    },
  };
}
