import type { App } from "../app.ts";
import type { Quat } from "../protocol/types.ts";
import { h, setText } from "../ui/dom.ts";
import { fixed } from "../ui/format.ts";
import { key } from "./joints.ts";
import { Panel } from "./panel.ts";
import { Plot } from "./plot.ts";

const AXES = ["x", "y", "z"] as const;
const COLORS = ["--bad", "--good", "--measured"];

/** What the IMU measures, and the base's true motion as numbers. */
export class ImuPanel extends Panel {
  private readonly cells = new Map<string, HTMLElement>();
  private readonly gyro: Plot;
  private readonly acc: Plot;

  constructor(app: App) {
    super(app, "IMU and base", false);
    this.gyro = new Plot(app, "rad/s", 96);
    this.acc = new Plot(app, "m/s²", 96);
    const pairs = h("div", { class: "pairs" });
    for (const name of ["roll", "height", "pitch", "speed", "yaw", "turning"]) {
      const cell = h("span");
      this.cells.set(name, cell);
      pairs.append(h("span", {}, name), cell);
    }
    this.body.append(
      pairs,
      h("div", { class: "legend" }, ...AXES.map((axis, i) => key(COLORS[i] ?? "--text", axis))),
      h("div", { class: "sub" }, "Angular velocity"),
      this.gyro.element,
      h("div", { class: "sub" }, "Specific force"),
      this.acc.element,
    );
  }

  override rebuild(): void {
    const lines = (column: string) =>
      AXES.map((axis, i) => ({ label: axis, color: COLORS[i] ?? "--text", column, index: i }));
    this.gyro.setLines(lines("imu_gyro"));
    this.acc.setLines(lines("imu_acc"));
  }

  override refreshNote(): void {
    const frame = this.app.frame;
    if (frame === null) return;
    const [, x, y] = frame.base.quat;
    const tilt = Math.acos(Math.min(Math.max(1 - 2 * (x * x + y * y), -1), 1));
    this.setNote(`height ${fixed(frame.base.p[2], 3)} m, tilt ${fixed((tilt * 180) / Math.PI, 1)}°`);
  }

  refresh(): void {
    const frame = this.app.frame;
    if (frame === null) return;
    const [roll, pitch, yaw] = angles(frame.imu.quat);
    this.put("roll", `${fixed(roll, 2)}°`);
    this.put("pitch", `${fixed(pitch, 2)}°`);
    this.put("yaw", `${fixed(yaw, 2)}°`);
    this.put("height", `${fixed(frame.base.p[2], 4)} m`);
    this.put("speed", `${fixed(Math.hypot(...frame.base.v), 3)} m/s`);
    this.put("turning", `${fixed(Math.hypot(...frame.base.w), 3)} rad/s`);
    this.gyro.refresh();
    this.acc.refresh();
  }

  private put(name: string, text: string): void {
    const cell = this.cells.get(name);
    if (cell !== undefined) setText(cell, text);
  }
}

function angles([w, x, y, z]: Quat): [number, number, number] {
  const degrees = 180 / Math.PI;
  const sine = Math.min(Math.max(2 * (w * y - z * x), -1), 1);
  return [
    Math.atan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y)) * degrees,
    Math.asin(sine) * degrees,
    Math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z)) * degrees,
  ];
}
