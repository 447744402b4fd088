import {
  AUTHORITIES,
  PHASES,
  type Column,
  type Contact,
  type Frame,
  type Quat,
  type RunHeader,
  type Vec3,
} from "../protocol/types.ts";
import type { SeriesSource } from "./series.ts";

const MISSING: Partial<Record<Column["type"], number>> = { i16: -32768, i32: -2147483648 };
const BYTES = { f64: 8, f32: 4, i16: 2, u8: 1, i32: 4 } as const;

type Values = Float64Array | Float32Array;
type Stored = Float64Array | Float32Array | Int16Array | Uint8Array | Int32Array;

const FAILURES = [null, "a number is not finite", "a number is out of range", "too many shapes touch"];

interface Place {
  column: Column;
  start: number;
}

/** A recorded run: its header, and columns that are decoded when they are first used. */
export class Run implements SeriesSource {
  readonly header: RunHeader;
  readonly frames: number;
  readonly time: Values;
  private readonly bytes: Uint8Array;
  private readonly places = new Map<string, Place>();
  private readonly decoded = new Map<string, Values>();

  constructor(bytes: Uint8Array) {
    const magic = String.fromCharCode(...bytes.subarray(0, 4));
    if (magic !== "HSR1") throw new Error("This is not a run file of this version (HSR1).");
    const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(4, true);
    this.header = JSON.parse(new TextDecoder().decode(bytes.subarray(8, 8 + length))) as RunHeader;
    this.bytes = bytes;
    this.frames = this.header.frames;
    let start = 8 + length;
    for (const column of this.header.columns) {
      this.places.set(column.name, { column, start });
      start += this.frames * column.width * BYTES[column.type];
    }
    if (start > bytes.length) throw new Error(`The run file ends ${start - bytes.length} bytes too early.`);
    const time = this.values("time_s");
    if (time === null || this.frames === 0) throw new Error("The run file has no frames.");
    this.time = time;
  }

  static async load(compressed: Blob): Promise<Run> {
    const stream = compressed.stream().pipeThrough(new DecompressionStream("gzip"));
    return new Run(new Uint8Array(await new Response(stream).arrayBuffer()));
  }

  get start(): number {
    return this.time[0] ?? 0;
  }

  get end(): number {
    return this.time[this.frames - 1] ?? 0;
  }

  has(name: string): boolean {
    return this.places.has(name);
  }

  width(name: string): number {
    return this.places.get(name)?.column.width ?? 0;
  }

  /** The last frame that is not after this time. */
  indexAt(time: number): number {
    let low = 0;
    let high = this.frames - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.time[middle] ?? 0) <= time + 1e-9) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** All values of a column, frame-major; missing ones are NaN. */
  values(name: string): Values | null {
    const known = this.decoded.get(name);
    if (known !== undefined) return known;
    const place = this.places.get(name);
    if (place === undefined) return null;
    const values = decode(this.bytes, place, this.frames);
    this.decoded.set(name, values);
    return values;
  }

  column(name: string, index: number): { t: ArrayLike<number>; v: ArrayLike<number> } | null {
    const values = this.values(name);
    const width = this.width(name);
    if (values === null || index >= width) return null;
    const v = new Float32Array(this.frames);
    for (let frame = 0; frame < this.frames; frame++) v[frame] = values[frame * width + index] ?? NaN;
    // Where there is no command, it has no age.
    if (name === "command_age") v.forEach((age, frame) => (v[frame] = age < 0 ? NaN : age));
    return { t: this.time, v };
  }

  frameAt(i: number): Frame {
    const { scene } = this.header;
    const joints = scene.joints.length;
    const feet = scene.feet.length;
    const take = (name: string, width: number): number[] => {
      const values = this.values(name);
      if (values === null) return new Array<number>(width).fill(0);
      return Array.from(values.subarray(i * width, (i + 1) * width));
    };
    const vec = (name: string): Vec3 => take(name, 3) as Vec3;
    const quat = (name: string): Quat => (this.has(name) ? (take(name, 4) as Quat) : [1, 0, 0, 0]);
    const one = (name: string, otherwise: number): number => this.values(name)?.[i] ?? otherwise;
    const age = one("command_age", -1);
    const authority = AUTHORITIES[one("authority", 0)] ?? "zero";
    const failure = one("failure", 0);
    const points = take("foot_point", 3 * feet);
    const forces = take("foot_force", 3 * feet);
    const moments = take("foot_moment", 3 * feet);
    const three = (values: number[], n: number): Vec3 => values.slice(3 * n, 3 * n + 3) as Vec3;
    const commandQ = this.has("command_q") ? take("command_q", joints) : null;
    return {
      run_id: scene.run_id,
      tick: one("tick", i),
      time_ns: Math.round((this.time[i] ?? 0) * 1e9),
      mode: "realtime",
      phase: PHASES[one("phase", 1)] ?? "running",
      failure: FAILURES[failure] ?? null,
      authority,
      command_age_ticks: age < 0 ? null : age,
      owner: null,
      digest: this.digestAt(i),
      ...(this.has("velocity_command") ? { velocity_command: vec("velocity_command") } : {}),
      base: { p: vec("base_p"), quat: quat("base_quat"), v: vec("base_v"), w: vec("base_w") },
      imu: { quat: quat("imu_quat"), gyro: vec("imu_gyro"), acc: vec("imu_acc") },
      q: take("q", joints),
      dq: take("dq", joints),
      tau: take("tau", joints),
      command:
        commandQ === null || age < 0
          ? null
          : {
              q: commandQ,
              dq: take("command_dq", joints),
              kp: take("command_kp", joints),
              kd: take("command_kd", joints),
              tau_ff: take("command_tau_ff", joints),
            },
      foot_contact: take("foot_contact", feet).map((value) => value > 0.5),
      foot_normal_n: take("foot_normal_n", feet),
      feet: scene.feet.map((_, n) => ({
        point: three(points, n),
        force: three(forces, n),
        moment: three(moments, n),
      })),
      contacts: this.contactsAt(i),
      surfaces: this.surfacesAt(i),
    };
  }

  digestAt(i: number): string {
    const values = this.values("digest");
    if (values === null) return "";
    return Array.from(values.subarray(8 * i, 8 * i + 8), (byte) => byte.toString(16).padStart(2, "0")).join(
      "",
    );
  }

  private contactsAt(i: number): Contact[] {
    const pairs = this.header.contact_pairs;
    const count = pairs.length;
    const normals = this.values("contact_normal_n");
    const force = this.values("contact_force");
    const p = this.values("contact_p");
    if (p === null || force === null) return [];
    const scalar = (name: string, n: number, otherwise: number): number =>
      this.values(name)?.[i * count + n] ?? otherwise;
    const vector = (values: Values | null, n: number): Vec3 | null => {
      if (values === null) return null;
      const at = 3 * (i * count + n);
      return [values[at] ?? NaN, values[at + 1] ?? NaN, values[at + 2] ?? NaN];
    };
    const contacts: Contact[] = [];
    for (let n = 0; n < count; n++) {
      const pair = pairs[n];
      const f = vector(force, n) ?? [0, 0, 0];
      const normal_n = normals?.[i * count + n] ?? Math.hypot(...f);
      if (pair === undefined || !(normal_n > 0)) continue;
      const anchor = vector(this.values("contact_anchor"), n);
      const mu = scalar("contact_mu", n, 0);
      contacts.push({
        station: pair.station,
        surface: pair.surface,
        p: vector(p, n) ?? [0, 0, 0],
        normal: vector(this.values("contact_normal"), n) ?? [0, 0, 1],
        force: f,
        normal_n,
        anchor: anchor === null || Number.isNaN(anchor[0]) ? null : anchor,
        slip_m_per_s: scalar("contact_slip", n, 0),
        sliding: scalar("contact_sliding", n, 0),
        mu,
        limit_n: scalar("contact_limit_n", n, mu * normal_n),
      });
    }
    return contacts;
  }

  private surfacesAt(i: number): Frame["surfaces"] {
    const values = this.values("surface_pose");
    if (values === null) return [];
    const moving = this.header.scene.surfaces.flatMap((surface, index) => (surface.moves ? [index] : []));
    return moving.map((surface, n) => {
      const at = 7 * (i * moving.length + n);
      const pose = Array.from(values.subarray(at, at + 7));
      return { surface, position_m: pose.slice(0, 3) as Vec3, quat: pose.slice(3) as Quat };
    });
  }
}

function decode(bytes: Uint8Array, place: Place, frames: number): Values {
  const { column, start } = place;
  const count = frames * column.width;
  // A copy, because a typed array has to begin at a multiple of its element's size.
  const raw = bytes.slice(start, start + count * BYTES[column.type]).buffer;
  const stored = typed(raw, column.type);
  if (column.delta === true) {
    // Typed integers wrap by themselves.
    for (let i = column.width; i < count; i++) stored[i] = (stored[i] ?? 0) + (stored[i - column.width] ?? 0);
  }
  const scale = column.scale ?? 1;
  const offset = column.offset ?? 0;
  if (stored instanceof Float64Array || stored instanceof Float32Array) {
    if (scale === 1 && offset === 0) return stored;
  }
  const exact = column.type === "i32" || column.type === "f64";
  const values = exact ? new Float64Array(count) : new Float32Array(count);
  const missing = MISSING[column.type] ?? NaN;
  for (let i = 0; i < count; i++) {
    const value = stored[i] ?? 0;
    values[i] = value === missing ? NaN : offset + scale * value;
  }
  return values;
}

function typed(raw: ArrayBuffer, type: Column["type"]): Stored {
  switch (type) {
    case "f64":
      return new Float64Array(raw);
    case "f32":
      return new Float32Array(raw);
    case "i16":
      return new Int16Array(raw);
    case "u8":
      return new Uint8Array(raw);
    case "i32":
      return new Int32Array(raw);
  }
}
