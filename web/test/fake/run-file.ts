import { gzipSync } from "node:zlib";
import {
  AUTHORITIES,
  PHASES,
  type Column,
  type Frame,
  type Mark,
  type RunHeader,
  type Scene,
} from "../../src/protocol/types.ts";
import type { Simulation } from "./simulation.ts";

/** Writes run files as PROTOCOL.md describes them, with every type of column. */
export function makeRun(options: {
  scene: Scene;
  simulation: Simulation;
  seconds: number;
  title: string;
  rate?: number;
  at?: (simulation: Simulation, frame: number) => void;
  firstDifference?: RunHeader["first_difference"];
}): Buffer {
  const { scene, simulation, seconds, title } = options;
  const stride = Math.round(1000 / (options.rate ?? 60));
  const frames: Frame[] = [];
  const events: RunHeader["events"] = [];
  const marks: Mark[] = [];
  simulation.onEvent = (event) => {
    events.push(event);
    if (event.kind === "fault" || event.kind === "push")
      marks.push({ time_s: event.time_s, kind: "fault", text: event.text });
  };
  const count = Math.floor((seconds * 1000) / stride);
  let late = 0;
  for (let i = 0; i < count; i++) {
    options.at?.(simulation, i);
    frames.push(simulation.frame());
    simulation.step(stride);
    const missed = simulation.counters["missed_deadlines"] ?? 0;
    if (missed > late) {
      late = missed;
      marks.push({ time_s: simulation.time, kind: "deadline", text: "a deadline was missed" });
      marks.push({ time_s: simulation.time + 0.4, kind: "rejection", text: "2 commands rejected: late" });
    }
  }
  marks.push({ time_s: 0.62 * seconds, kind: "condition", text: "foot.FL.slip > 0.02" });
  return encode({ scene, title, frames, events, marks, firstDifference: options.firstDifference ?? null });
}

interface Data {
  scene: Scene;
  title: string;
  frames: Frame[];
  events: RunHeader["events"];
  marks: Mark[];
  firstDifference: RunHeader["first_difference"];
}

function encode({ scene, title, frames, events, marks, firstDifference }: Data): Buffer {
  const keys = new Map<string, { station: number; surface: number }>();
  for (const frame of frames) {
    for (const { station, surface } of frame.contacts)
      keys.set(`${station} ${surface}`, { station, surface });
  }
  const pairs = [...keys.values()].sort((a, b) => a.station - b.station);
  const contact = (
    frame: Frame,
    pick: (contact: Frame["contacts"][number]) => number[],
    width: number,
  ): number[] =>
    pairs.flatMap((pair) => {
      const found = frame.contacts.find(
        (one) => one.station === pair.station && one.surface === pair.surface,
      );
      return found === undefined ? new Array<number>(width).fill(NaN) : pick(found);
    });
  const columns: Column[] = [];
  const parts: Buffer[] = [];
  const put = (
    name: string,
    type: Column["type"],
    step: number,
    values: (frame: Frame, i: number) => number[],
  ): void => {
    const rows = frames.map(values);
    const width = rows[0]?.length ?? 0;
    if (width === 0) return;
    const delta = type === "i16" || type === "i32";
    const column: Column = { name, width, type };
    if (type === "i16" || (type === "i32" && step !== 1)) column.scale = step;
    if (delta) column.delta = true;
    columns.push(column);
    parts.push(store(rows.flat(), column, width));
  };
  put("time_s", "f64", 1, (frame) => [frame.time_ns * 1e-9]);
  put("tick", "i32", 1, (frame) => [frame.tick]);
  put("base_p", "i32", 1e-5, (frame) => frame.base.p);
  put("base_quat", "i16", 1 / 32000, (frame) => frame.base.quat);
  put("base_v", "i16", 1e-3, (frame) => frame.base.v);
  put("base_w", "i16", 1e-3, (frame) => frame.base.w);
  put("imu_quat", "i16", 1 / 32000, (frame) => frame.imu.quat);
  put("imu_gyro", "i16", 1e-3, (frame) => frame.imu.gyro);
  put("imu_acc", "i16", 5e-3, (frame) => frame.imu.acc);
  put("velocity_command", "i16", 1e-3, (frame) => frame.velocity_command ?? []);
  put("q", "i16", 2e-4, (frame) => frame.q);
  put("dq", "i16", 5e-3, (frame) => frame.dq);
  put("tau", "i16", 5e-3, (frame) => frame.tau);
  put("command_q", "i16", 2e-4, (frame) => frame.command?.q ?? frame.q.map(() => NaN));
  put("authority", "u8", 1, (frame) => [AUTHORITIES.indexOf(frame.authority)]);
  put("command_age", "i32", 1, (frame) => [frame.command_age_ticks ?? -1]);
  put("phase", "u8", 1, (frame) => [PHASES.indexOf(frame.phase)]);
  put("failure", "u8", 1, () => [0]);
  put("foot_contact", "u8", 1, (frame) => frame.foot_contact.map(Number));
  put("foot_normal_n", "i16", 0.02, (frame) => frame.foot_normal_n);
  put("foot_point", "i32", 1e-5, (frame) => frame.feet.flatMap((foot) => foot.point));
  put("foot_force", "f32", 1, (frame) => frame.feet.flatMap((foot) => foot.force));
  put("contact_p", "f32", 1, (frame) => contact(frame, (one) => one.p, 3));
  put("contact_normal", "i16", 1 / 32000, (frame) => contact(frame, (one) => one.normal, 3));
  put("contact_force", "i16", 0.02, (frame) => contact(frame, (one) => one.force, 3));
  put("contact_anchor", "f32", 1, (frame) => contact(frame, (one) => one.anchor ?? [NaN, NaN, NaN], 3));
  put("contact_normal_n", "i16", 0.02, (frame) => contact(frame, (one) => [one.normal_n], 1));
  put("contact_slip", "i16", 1e-4, (frame) => contact(frame, (one) => [one.slip_m_per_s], 1));
  put("contact_sliding", "u8", 1, (frame) =>
    contact(frame, (one) => [one.sliding], 1).map((value) => value || 0),
  );
  put("contact_mu", "i16", 1e-3, (frame) => contact(frame, (one) => [one.mu], 1));
  put("contact_limit_n", "i16", 0.02, (frame) => contact(frame, (one) => [one.limit_n], 1));
  put("surface_pose", "f32", 1, (frame) =>
    frame.surfaces.flatMap((surface) => [...surface.position_m, ...surface.quat]),
  );
  put("wakeup_latency_us", "f32", 1, (_frame, i) => [
    4 + 3 * Math.abs(Math.sin(12.9 * i)) + (i % 241 === 0 ? 80 : 0),
  ]);
  put("tick_cost_us", "f32", 1, (_frame, i) => [
    1.6 + 0.6 * Math.abs(Math.sin(7.3 * i)) + (i % 97 === 0 ? 9 : 0),
  ]);
  put("digest", "u8", 1, (frame) => [...Buffer.from(frame.digest, "hex")]);
  const header: RunHeader = {
    scene,
    title,
    frames: frames.length,
    contact_pairs: pairs,
    columns,
    events,
    marks,
    first_difference: firstDifference,
  };
  const text = Buffer.from(JSON.stringify(header));
  const head = Buffer.alloc(8);
  head.write("HSR1");
  head.writeUInt32LE(text.length, 4);
  return gzipSync(Buffer.concat([head, text, ...parts]), { level: 9 });
}

function store(values: number[], column: Column, width: number): Buffer {
  const { type } = column;
  const size = { f64: 8, f32: 4, i16: 2, u8: 1, i32: 4 }[type];
  const out = Buffer.alloc(values.length * size);
  const wrap = (value: number): number => (type === "i16" ? (value << 16) >> 16 : value | 0);
  const scale = column.scale ?? 1;
  const before = new Array<number>(width).fill(0);
  values.forEach((value, i) => {
    if (type === "f64") out.writeDoubleLE(value, 8 * i);
    else if (type === "f32") out.writeFloatLE(value, 4 * i);
    else if (type === "u8") out.writeUInt8(value, i);
    else {
      const largest = type === "i16" ? 32767 : 2147483647;
      const whole = Number.isNaN(value)
        ? -32768
        : Math.min(Math.max(Math.round(value / scale), -largest), largest);
      const stored = wrap(whole - before[i % width]!);
      before[i % width] = whole;
      if (type === "i16") out.writeInt16LE(stored, 2 * i);
      else out.writeInt32LE(stored, 4 * i);
    }
  });
  return out;
}
