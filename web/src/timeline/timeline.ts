import type { App } from "../app.ts";
import type { Frame, Mark, MarkKind } from "../protocol/types.ts";
import { h, setText } from "../ui/dom.ts";
import { clock } from "../ui/format.ts";
import { css } from "../ui/theme.ts";
import { envelope, type Envelope } from "./envelope.ts";

const LIVE_WINDOW_S = 60;
const LIVE_STEP_S = 0.05;
const NEAR_PX = 6;

export const MARK_COLOR: Record<MarkKind, string> = {
  fault: "--warn",
  rejection: "--reject",
  deadline: "--command",
  condition: "--measured",
  failure: "--bad",
  difference: "--ghost",
};

/** The run from left to right: the load on the feet, marks, and where we are. */
export class Timeline {
  readonly element = h("div", { class: "timeline" });
  private readonly canvas = h("canvas", { tabIndex: 0, "aria-label": "time line" });
  private readonly tip = h("div", { class: "tip", hidden: true });
  private from = 0;
  private to = 1;
  private load: Envelope | null = null;
  private readonly recent: { t: number; load: number }[] = [];
  private scrubbing = false;
  private width = 1;
  private height = 1;

  constructor(private readonly app: App) {
    this.element.append(this.canvas, this.tip);
    this.canvas.addEventListener("pointerdown", (event) => this.down(event));
    this.canvas.addEventListener("pointermove", (event) => this.move(event));
    this.canvas.addEventListener("pointerup", () => (this.scrubbing = false));
    this.canvas.addEventListener("pointerleave", () => (this.tip.hidden = true));
    this.canvas.addEventListener("wheel", (event) => this.zoom(event), { passive: false });
    this.canvas.addEventListener("dblclick", () => this.whole());
    new ResizeObserver(() => this.draw()).observe(this.element);
    app.on("marks", () => this.draw());
    app.on("frame", (frame) => {
      if (app.player === null) this.remember(frame);
    });
  }

  rebuild(): void {
    const run = this.app.player?.run;
    this.element.classList.toggle("live", run === undefined);
    this.load = run === undefined ? null : envelope(run);
    this.whole();
  }

  whole(): void {
    const run = this.app.player?.run;
    this.from = run?.start ?? 0;
    this.to = run?.end ?? 1;
    this.draw();
  }

  draw(): void {
    const ratio = window.devicePixelRatio;
    const { clientWidth: width, clientHeight: height } = this.element;
    if (width === 0) return;
    if (
      this.canvas.width !== Math.round(width * ratio) ||
      this.canvas.height !== Math.round(height * ratio)
    ) {
      this.canvas.width = Math.round(width * ratio);
      this.canvas.height = Math.round(height * ratio);
    }
    this.width = width;
    this.height = height;
    if (this.app.player === null) {
      this.to = Math.max(this.app.time_s, 1e-3);
      this.from = this.to - LIVE_WINDOW_S;
    }
    const context = this.canvas.getContext("2d");
    if (context === null) return;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    const track = height - 16;
    context.fillStyle = css("--raised");
    context.beginPath();
    context.roundRect(0, 0, width, track, 6);
    context.fill();
    context.save();
    context.clip();
    this.drawLoad(context, track);
    context.restore();
    this.drawAxis(context, track);
    const last = new Map<MarkKind, number>();
    for (const mark of this.app.marks) {
      // Thousands of missed deadlines are one bar; drawing each of them would only cost.
      const x = Math.round(this.x(mark.time_s));
      if (last.get(mark.kind) === x) continue;
      last.set(mark.kind, x);
      this.drawMark(context, mark, track);
    }
    this.drawPlayhead(context, track);
  }

  /** The load on the feet in the last minute of a live run. */
  private remember(frame: Frame): void {
    const t = frame.time_ns * 1e-9;
    while (this.recent.length > 0 && (this.recent[this.recent.length - 1]?.t ?? 0) >= t) this.recent.pop();
    if (t - (this.recent[this.recent.length - 1]?.t ?? -1) < LIVE_STEP_S) return;
    this.recent.push({ t, load: frame.foot_normal_n.reduce((sum, force) => sum + force, 0) });
    while ((this.recent[0]?.t ?? t) < t - LIVE_WINDOW_S) this.recent.shift();
  }

  private drawRecent(context: CanvasRenderingContext2D, track: number): void {
    const scene = this.app.scene;
    if (scene === null || this.recent.length < 2) return;
    const most = 2 * scene.mass_kg * Math.hypot(...scene.gravity_m_per_s2);
    context.strokeStyle = css("--accent");
    context.globalAlpha = 0.75;
    context.beginPath();
    for (const { t, load } of this.recent)
      context.lineTo(this.x(t), track - 3 - Math.min(load / most, 1) * (track - 10));
    context.stroke();
    context.globalAlpha = 1;
  }

  private drawLoad(context: CanvasRenderingContext2D, track: number): void {
    if (this.app.player === null) this.drawRecent(context, track);
    const load = this.load;
    if (load === null || load.most <= 0) return;
    context.fillStyle = css("--accent");
    context.globalAlpha = 0.3;
    const y = (value: number): number => track - 3 - (value / load.most) * (track - 10);
    context.beginPath();
    load.high.forEach((value, i) => context.lineTo(this.x(load.time(i)), y(value)));
    for (let i = load.low.length - 1; i >= 0; i--)
      context.lineTo(this.x(load.time(i)), Math.max(y(load.low[i] ?? 0), 0) + 1);
    context.closePath();
    context.fill();
    context.globalAlpha = 1;
  }

  private drawAxis(context: CanvasRenderingContext2D, track: number): void {
    const span = this.to - this.from;
    const raw = (span / this.width) * 90;
    const power = 10 ** Math.floor(Math.log10(raw));
    const step = ([1, 2, 5, 10].find((factor) => factor * power >= raw) ?? 10) * power;
    const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
    context.font = "10px system-ui";
    context.textAlign = "center";
    context.fillStyle = css("--faint");
    for (let t = Math.ceil(this.from / step) * step; t <= this.to; t += step) {
      if (t < -1e-9) continue;
      const x = this.x(t);
      context.globalAlpha = 0.35;
      context.fillRect(x, 0, 1, track);
      context.globalAlpha = 1;
      context.fillText(`${t.toFixed(digits)} s`, Math.min(Math.max(x, 14), this.width - 14), this.height - 3);
    }
  }

  private drawMark(context: CanvasRenderingContext2D, mark: Mark, track: number): void {
    const x = this.x(mark.time_s);
    if (x < -8 || x > this.width + 8) return;
    context.fillStyle = css(MARK_COLOR[mark.kind]);
    const strong = mark.kind === "difference" || mark.kind === "failure";
    context.globalAlpha = strong ? 0.95 : 0.6;
    context.fillRect(x - (strong ? 1 : 0.5), 0, strong ? 2 : 1, track);
    context.globalAlpha = 1;
    context.beginPath();
    context.moveTo(x - 5, 0);
    context.lineTo(x + 5, 0);
    context.lineTo(x, 8);
    context.closePath();
    context.fill();
  }

  private drawPlayhead(context: CanvasRenderingContext2D, track: number): void {
    const at = this.x(this.app.time_s);
    if (at < -1 || at > this.width + 1) return;
    const x = Math.min(Math.max(at, 1), this.width - 1);
    context.fillStyle = css("--text");
    context.fillRect(x - 1, 0, 2, track + 2);
    if (this.app.player === null) return;
    context.beginPath();
    context.arc(x, track + 1, 5, 0, 2 * Math.PI);
    context.fill();
  }

  private x(time: number): number {
    return ((time - this.from) / (this.to - this.from)) * this.width;
  }

  private timeAt(event: PointerEvent | WheelEvent): number {
    const box = this.canvas.getBoundingClientRect();
    return this.from + ((event.clientX - box.left) / box.width) * (this.to - this.from);
  }

  private markNear(time: number): Mark | null {
    const reach = (NEAR_PX / this.width) * (this.to - this.from);
    let best: Mark | null = null;
    for (const mark of this.app.marks) {
      const distance = Math.abs(mark.time_s - time);
      if (distance <= reach && (best === null || distance < Math.abs(best.time_s - time))) best = mark;
    }
    return best;
  }

  private down(event: PointerEvent): void {
    if (this.app.player === null) return;
    this.canvas.setPointerCapture(event.pointerId);
    this.scrubbing = true;
    const time = this.timeAt(event);
    this.app.player.seek(this.markNear(time)?.time_s ?? time);
  }

  private move(event: PointerEvent): void {
    const time = this.timeAt(event);
    if (this.scrubbing) this.app.player?.seek(time);
    const mark = this.markNear(time);
    this.tip.hidden = mark === null && this.app.player === null;
    const text =
      mark === null ? clock(Math.max(time, 0)) : `${mark.time_s.toFixed(3)} s  ${mark.kind}: ${mark.text}`;
    setText(this.tip, text);
    this.tip.style.color = mark === null ? "" : css(MARK_COLOR[mark.kind]);
    const half = this.tip.offsetWidth / 2;
    const x = Math.min(Math.max(this.x(mark?.time_s ?? time), half), this.width - half);
    this.tip.style.transform = `translateX(${Math.round(x - half)}px)`;
  }

  private zoom(event: WheelEvent): void {
    const run = this.app.player?.run;
    if (run === undefined) return;
    event.preventDefault();
    const centre = this.timeAt(event);
    const factor = Math.exp(0.0016 * event.deltaY);
    const shift = event.deltaX * ((this.to - this.from) / this.width);
    this.from = Math.max(run.start, centre - (centre - this.from) * factor + shift);
    this.to = Math.min(run.end, centre + (this.to - centre) * factor + shift);
    if (this.to - this.from < 0.02) this.to = this.from + 0.02;
    this.draw();
  }
}
