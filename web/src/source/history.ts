import type { Frame, Scene } from "../protocol/types.ts";
import type { SeriesSource } from "./series.ts";

const WINDOW_S = 10;
const CAPACITY = 6000;

/** The last seconds of a live run, by the names of the columns of a run file. */
export class History implements SeriesSource {
  private times: number[] = [];
  private rows: Float32Array[] = [];
  private readonly offsets = new Map<string, { at: number; width: number }>();
  private readonly size: number;

  constructor(scene: Scene) {
    const joints = scene.joints.length;
    const widths: [string, number][] = [
      ["q", joints],
      ["dq", joints],
      ["tau", joints],
      ["command_q", joints],
      ["command_dq", joints],
      ["foot_normal_n", scene.feet.length],
      ["imu_gyro", 3],
      ["imu_acc", 3],
      ["base_p", 3],
      ["base_v", 3],
      ["command_age", 1],
    ];
    let at = 0;
    for (const [name, width] of widths) {
      this.offsets.set(name, { at, width });
      at += width;
    }
    this.size = at;
  }

  get start(): number {
    return this.times[0] ?? 0;
  }

  get end(): number {
    return this.times[this.times.length - 1] ?? 0;
  }

  push(frame: Frame): void {
    const time = frame.time_ns * 1e-9;
    // After a step back, what lies ahead has not happened.
    while (this.times.length > 0 && this.end >= time) {
      this.times.pop();
      this.rows.pop();
    }
    const row = new Float32Array(this.size).fill(NaN);
    const put = (name: string, values: ArrayLike<number> | null | undefined): void => {
      const place = this.offsets.get(name);
      if (place === undefined || values == null) return;
      for (let i = 0; i < place.width; i++) row[place.at + i] = values[i] ?? NaN;
    };
    put("q", frame.q);
    put("dq", frame.dq);
    put("tau", frame.tau);
    put("command_q", frame.command?.q);
    put("command_dq", frame.command?.dq);
    put("foot_normal_n", frame.foot_normal_n);
    put("imu_gyro", frame.imu.gyro);
    put("imu_acc", frame.imu.acc);
    put("base_p", frame.base.p);
    put("base_v", frame.base.v);
    put("command_age", frame.command_age_ticks === null ? null : [frame.command_age_ticks]);
    this.times.push(time);
    this.rows.push(row);
    let drop = Math.max(0, this.times.length - CAPACITY);
    while ((this.times[drop] ?? time) < time - WINDOW_S) drop++;
    // Dropping in blocks keeps the cost of a frame constant.
    if (drop > 120 || this.times.length > CAPACITY) {
      this.times.splice(0, drop);
      this.rows.splice(0, drop);
    }
  }

  column(name: string, index: number): { t: number[]; v: Float32Array } | null {
    const place = this.offsets.get(name);
    if (place === undefined || index >= place.width) return null;
    const v = new Float32Array(this.rows.length);
    for (let i = 0; i < this.rows.length; i++) v[i] = this.rows[i]?.[place.at + index] ?? NaN;
    return { t: this.times, v };
  }
}
