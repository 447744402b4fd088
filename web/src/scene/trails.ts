import { Color, type Vector2 } from "three";
import type { Frame, Vec3 } from "../protocol/types.ts";
import type { Run } from "../source/run.ts";
import { Lines } from "./lines.ts";
import { PALETTES, type Theme } from "./palette.ts";

const SECONDS = 2.5;
const SAMPLES = 150;

interface Sample {
  t: number;
  points: Vec3[];
}

/** Where the base and the feet have been in the last seconds of the run. */
export class Trails {
  readonly object: Lines;
  private samples: Sample[] = [];
  private base = new Color();
  private foot = new Color();

  constructor(resolution: Vector2) {
    this.object = new Lines(SAMPLES * 24, resolution);
    this.object.renderOrder = 1;
  }

  setTheme(theme: Theme): void {
    this.base.set(PALETTES[theme].trail);
    this.foot.set(PALETTES[theme].footTrail);
  }

  clear(): void {
    this.samples = [];
  }

  /** Live: remembers this frame; what lies after it has not happened. */
  push(frame: Frame): void {
    const t = frame.time_ns * 1e-9;
    while (this.samples.length > 0 && (this.samples[this.samples.length - 1]?.t ?? 0) >= t)
      this.samples.pop();
    const last = this.samples[this.samples.length - 1];
    if (last !== undefined && jumped(last.points[0], frame.base.p)) this.samples = [];
    if (last !== undefined && t - last.t < SECONDS / SAMPLES) return;
    this.samples.push({ t, points: [frame.base.p, ...frame.feet.map((foot) => foot.point)] });
    while ((this.samples[0]?.t ?? t) < t - SECONDS) this.samples.shift();
  }

  /** Log: reads the seconds before this frame. */
  fromRun(run: Run, index: number): void {
    this.samples = [];
    const base = run.values("base_p");
    const feet = run.values("foot_point");
    const footCount = run.header.scene.feet.length;
    if (base === null) return;
    const first = run.indexAt((run.time[index] ?? 0) - SECONDS);
    const stride = Math.max(1, Math.floor((index - first) / SAMPLES));
    const at = (values: ArrayLike<number>, i: number): Vec3 => [
      values[i] ?? 0,
      values[i + 1] ?? 0,
      values[i + 2] ?? 0,
    ];
    for (let i = first; i <= index; i += stride) {
      const points = [at(base, 3 * i)];
      if (feet !== null) for (let n = 0; n < footCount; n++) points.push(at(feet, 3 * (i * footCount + n)));
      this.samples.push({ t: run.time[i] ?? 0, points });
    }
  }

  draw(on: boolean): void {
    this.object.begin();
    const newest = this.samples[this.samples.length - 1]?.t ?? 0;
    for (let i = 1; on && i < this.samples.length; i++) {
      const from = this.samples[i - 1];
      const to = this.samples[i];
      if (from === undefined || to === undefined) continue;
      const alphaFrom = fade(newest - from.t);
      const alphaTo = fade(newest - to.t);
      for (let k = 0; k < to.points.length; k++) {
        const a = from.points[k];
        const b = to.points[k];
        if (a === undefined || b === undefined || jumped(a, b)) continue;
        const color = k === 0 ? this.base : this.foot;
        const strength = k === 0 ? 0.95 : 0.7;
        this.object.segment(a, b, color, strength * alphaFrom, strength * alphaTo, k === 0 ? 3 : 2);
      }
    }
    this.object.end();
  }
}

function fade(age: number): number {
  return Math.max(0, 1 - age / SECONDS);
}

/** A reset moves the robot at once; that is not a path. */
function jumped(a: Vec3 | undefined, b: Vec3 | undefined): boolean {
  if (a === undefined || b === undefined) return true;
  return Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]) > 0.4;
}
