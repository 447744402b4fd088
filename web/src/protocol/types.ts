/** The data of PROTOCOL.md: what every source delivers. SI units, world z up, quaternions `[w, x, y, z]`. */

export type Vec3 = [number, number, number];
export type Quat = [number, number, number, number];

export interface Joint {
  name: string;
  kind: "revolute" | "prismatic";
  q_initial: number;
  q_min: number | null;
  q_max: number | null;
  effort_max: number | null;
  velocity_max: number | null;
}

export interface Foot {
  name: string;
  stations: number[];
}

export interface Station {
  name: string;
  body: string;
  position_body_m: Vec3;
  radius_m: number;
  ring_m: number;
}

export interface Surface {
  name: string;
  kind: "plane" | "heightfield" | "convex";
  moves: boolean;
  position_m: Vec3;
  quat: Quat;
  vertices?: number[];
  triangles?: number[];
}

export interface Region {
  name: string;
  surface: number;
  min_m: [number, number];
  max_m: [number, number];
  mu_static: number | null;
  mu_kinetic: number | null;
}

export interface FaultParameter {
  name: string;
  unit: string;
  min: number | null;
  max: number | null;
  of: "number" | "integer" | "vector" | "joint" | "foot" | "link" | "text";
  optional: boolean;
}

export interface FaultKind {
  kind: string;
  summary: string;
  parameters: FaultParameter[];
}

export interface Scene {
  source: "live" | "log" | "plant";
  robot: string;
  /** Its name in the keys; the plant in the page and older run files have none. */
  name?: string;
  version: string;
  run_id: number;
  layout_hash: string;
  period_ns: number;
  mass_kg: number;
  gravity_m_per_s2: Vec3;
  base_link: string;
  urdf: string;
  joints: Joint[];
  feet: Foot[];
  stations: Station[];
  surfaces: Surface[];
  regions: Region[];
  faults: FaultKind[];
}

export type Mode = "realtime" | "lockstep" | "budgeted";
export type Phase = "waiting" | "running" | "stopped" | "paused" | "awaiting a controller";
export type Authority = "zero" | "fresh" | "held" | "damped" | "stopped";

export const PHASES: readonly Phase[] = ["waiting", "running", "stopped", "paused", "awaiting a controller"];
export const AUTHORITIES: readonly Authority[] = ["zero", "fresh", "held", "damped", "stopped"];

export interface Contact {
  /** From the number of stations on: a point where shapes touch. */
  station: number;
  /** What touches, for such a point. */
  name?: string;
  surface: number;
  p: Vec3;
  normal: Vec3;
  force: Vec3;
  normal_n: number;
  anchor: Vec3 | null;
  slip_m_per_s: number;
  sliding: number;
  mu: number;
  limit_n: number;
}

export interface Command {
  q: number[];
  dq: number[];
  kp: number[];
  kd: number[];
  tau_ff: number[];
}

export interface Frame {
  run_id: number;
  tick: number;
  time_ns: number;
  mode: Mode;
  phase: Phase;
  failure: string | null;
  authority: Authority;
  command_age_ticks: number | null;
  owner: string | null;
  /** Per joint, if controllers have joined: the name of the one that commands it, and its command's age. */
  joint_owners?: (string | null)[];
  joint_ages?: (number | null)[];
  digest: string;
  /** Ahead and to the left, m/s, and turning to the left, rad/s; older run files have none. */
  velocity_command?: Vec3;
  base: { p: Vec3; quat: Quat; v: Vec3; w: Vec3 };
  imu: { quat: Quat; gyro: Vec3; acc: Vec3 };
  q: number[];
  dq: number[];
  tau: number[];
  command: Command | null;
  /** Static and kinetic coefficient of the first station, live. */
  friction?: [number, number] | null;
  foot_contact: boolean[];
  foot_normal_n: number[];
  feet: { point: Vec3; force: Vec3; moment: Vec3 }[];
  contacts: Contact[];
  surfaces: { surface: number; position_m: Vec3; quat: Quat }[];
}

/** What is drawn of another robot of the daemon, beside the one of the page. */
export type Drawn = Pick<Scene, "base_link" | "urdf"> & { joints: Pick<Scene["joints"][number], "name" | "q_initial">[] };

export interface OtherScene {
  name: string;
  /** null when it has gone. */
  robot: Drawn | null;
}

export interface OtherFrame {
  name: string;
  base: Pick<Frame["base"], "p" | "quat">;
  q: number[];
}

export interface Distribution {
  p50: number;
  p99: number;
  p99_9: number;
  p99_99: number;
  max: number;
  counts: number[];
  edges: number[];
}

export interface StatusController {
  name: string;
  role: string;
  session: string;
  period_ticks: number;
  phase_ticks: number;
  offset_ticks: number;
  joints: number;
}

/** The object of `hardstand status --json`; the page reads these fields and ignores others. */
export interface Status {
  run_id: number;
  tick: number;
  time_ns: number;
  mode: Mode;
  phase: Phase;
  authority: Authority;
  command_age_ticks: number | null;
  command_session: string | null;
  speed: number;
  real_time_factor: number;
  fifo_priority: number | null;
  core: number | null;
  memory_locked: boolean;
  wakeup_latency_ns: Distribution;
  tick_cost_ns: Distribution;
  applied_age_ticks: Distribution;
  counters: Record<string, number>;
  refused: string[];
  controllers: StatusController[];
  missing: string[];
}

export interface EventMessage {
  run_id?: number;
  tick: number;
  time_s: number;
  kind: string;
  controller: string;
  asker?: string;
  text: string;
}

export interface LinkMessage {
  connected: boolean;
  text: string;
}

export interface Answer {
  ok: boolean;
  text: string;
  id?: string | number;
  tick?: number;
}

export type MarkKind = "fault" | "rejection" | "deadline" | "condition" | "failure" | "difference";

export interface Mark {
  time_s: number;
  kind: MarkKind;
  text: string;
}

export type ColumnType = "f64" | "f32" | "i16" | "u8" | "i32";

export interface Column {
  name: string;
  width: number;
  type: ColumnType;
  scale?: number;
  offset?: number;
  delta?: boolean;
}

export interface RunHeader {
  scene: Scene;
  title: string;
  frames: number;
  contact_pairs: { station: number; surface: number }[];
  columns: Column[];
  events: EventMessage[];
  marks: Mark[];
  /** What happened how often; older run files have none. */
  counts?: Record<string, number>;
  first_difference: { time_s: number; text: string } | null;
}
