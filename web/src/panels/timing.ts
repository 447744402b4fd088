import type { App } from "../app.ts";
import type { Distribution } from "../protocol/types.ts";
import { h, setText } from "../ui/dom.ts";
import { nanoseconds } from "../ui/format.ts";
import { css } from "../ui/theme.ts";
import { Panel } from "./panel.ts";
import { Plot } from "./plot.ts";

type Quantity = "wakeup_latency" | "tick_cost";

interface Part {
  name: Quantity;
  canvas: HTMLCanvasElement;
  cells: HTMLElement[];
  plot: Plot;
}

/** How late the physics thread woke up and what a tick cost: distributions, and in a log over time. */
export class TimingPanel extends Panel {
  private readonly parts: Part[];
  private drawnFor: unknown = null;

  constructor(app: App) {
    super(app, "Timing", true);
    this.parts = (["wakeup_latency", "tick_cost"] as const).map((name) => ({
      name,
      canvas: h("canvas", { class: "histogram" }),
      cells: ["p50", "p99", "p99.9", "max"].map(() => h("span", { class: "num" })),
      plot: new Plot(app, "µs", 88),
    }));
    for (const part of this.parts) {
      const title = part.name === "wakeup_latency" ? "Wake-up latency" : "Cost of a tick";
      const names = ["p50", "p99", "p99.9", "max"].map((name) => h("span", {}, name));
      const table = h("div", { class: "percentiles" }, ...names, ...part.cells);
      this.body.append(h("div", { class: "sub" }, title), table, part.canvas, part.plot.element);
    }
  }

  override rebuild(): void {
    this.drawnFor = null;
    // a log holds what happened in simulated time, and mostly nothing of the machine's
    const run = this.app.player?.run;
    const empty = run !== undefined && this.parts.every((part) => run.values(`${part.name}_us`) === null);
    // the plant in the page has no physics thread
    this.element.hidden = empty || this.app.plant !== null;
    for (const part of this.parts) {
      part.plot.element.hidden = this.app.player === null;
      part.plot.setLines([{ label: part.name, color: "--accent", column: `${part.name}_us`, index: 0 }]);
    }
  }

  override refreshNote(): void {
    const status = this.app.status;
    if (status !== null)
      this.setNote(
        `wake-up p99 ${nanoseconds(status.wakeup_latency_ns.p99)}, × ${status.real_time_factor.toFixed(2)}`,
      );
  }

  refresh(): void {
    if (this.app.player !== null) for (const part of this.parts) part.plot.refresh();
    const now = this.app.status ?? this.app.player?.run ?? null;
    if (now === null || now === this.drawnFor) return;
    this.drawnFor = now;
    for (const part of this.parts) {
      const distribution = this.distribution(part.name);
      part.canvas.hidden = distribution === null;
      const values =
        distribution === null
          ? []
          : [distribution.p50, distribution.p99, distribution.p99_9, distribution.max];
      part.cells.forEach((cell, i) => setText(cell, nanoseconds(values[i])));
      if (distribution !== null) drawHistogram(part.canvas, distribution);
    }
  }

  private distribution(name: Quantity): Distribution | null {
    if (this.app.player === null) return this.app.status?.[`${name}_ns`] ?? null;
    const values = this.app.player.run.values(`${name}_us`);
    return values === null ? null : fromValues(Array.from(values, (us) => us * 1000).filter(Number.isFinite));
  }
}

/** The edges of the daemon: 1, 1.5, 2, 3, 5, 7 µs and so on. */
function fromValues(values: number[]): Distribution {
  const edges: number[] = [];
  for (let decade = 1e3; decade < 1e9; decade *= 10)
    for (const step of [1, 1.5, 2, 3, 5, 7]) edges.push(step * decade);
  edges.push(1e9);
  const counts = new Array<number>(edges.length + 1).fill(0);
  for (const value of values) {
    let i = 0;
    while (i < edges.length && value >= (edges[i] ?? 0)) i++;
    counts[i] = (counts[i] ?? 0) + 1;
  }
  const sorted = values.sort((a, b) => a - b);
  const at = (share: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
  return { p50: at(0.5), p99: at(0.99), p99_9: at(0.999), p99_99: at(0.9999), max: at(1), counts, edges };
}

function drawHistogram(canvas: HTMLCanvasElement, distribution: Distribution): void {
  const ratio = window.devicePixelRatio;
  const width = canvas.clientWidth;
  const height = canvas.clientHeight;
  canvas.width = width * ratio;
  canvas.height = height * ratio;
  const context = canvas.getContext("2d");
  if (context === null) return;
  context.scale(ratio, ratio);
  const { counts, edges } = distribution;
  let first = counts.findIndex((count) => count > 0);
  let last = counts.length - 1;
  while (last > 0 && (counts[last] ?? 0) === 0) last--;
  first = Math.max(0, Math.min(first, last) - 1);
  last = Math.min(counts.length - 1, Math.max(last, first + 7) + 1);
  const most = Math.log10(1 + Math.max(...counts));
  const step = width / (last - first + 1);
  const floor = height - 15;
  context.font = "10px system-ui";
  context.textAlign = "center";
  for (let i = first; i <= last; i++) {
    const x = (i - first) * step;
    // Logarithmic: a single late tick among a million must be seen.
    const size = (Math.log10(1 + (counts[i] ?? 0)) / most) * (floor - 2);
    const from = edges[i - 1] ?? 0;
    context.fillStyle =
      from >= distribution.p99_9 ? css("--bad") : from >= distribution.p99 ? css("--warn") : css("--accent");
    context.globalAlpha = 0.9;
    if (size > 0) {
      context.beginPath();
      context.roundRect(x + 1, floor - size, Math.max(step - 2, 1), size, [2, 2, 0, 0]);
      context.fill();
    }
    context.globalAlpha = 1;
    const edge = edges[i];
    if (edge !== undefined && /^1/.test(String(edge)) && !/^1[5-9]/.test(String(edge))) {
      context.fillStyle = css("--faint");
      context.fillRect(x + step, floor, 1, 3);
      context.fillText(
        nanoseconds(edge).replace(/\.0+ /, " "),
        Math.min(Math.max(x + step, 16), width - 16),
        height - 2,
      );
    }
  }
  context.fillStyle = css("--line-strong");
  context.fillRect(0, floor, width, 1);
}
