import uPlot from "uplot";
import type { App } from "../app.ts";
import { h } from "../ui/dom.ts";
import { css } from "../ui/theme.ts";

export interface Line {
  label: string;
  color: string;
  column: string;
  index: number;
  dashed?: boolean;
}

export const SERIES_COLORS = [
  "--measured",
  "--command",
  "--effort",
  "--accent",
  "--good",
  "--warn",
  "--bad",
  "--ghost",
];

const PIECES = 900;
const LIVE_WINDOW_S = 10;

/** Some columns of the shown run over time; the last 10 s of it when live. */
export class Plot {
  readonly element = h("div", { class: "plot" });
  private chart: uPlot | null = null;
  private lines: Line[] = [];
  private readonly now = h("div", { class: "now" });
  private readonly unit: HTMLElement;
  private drawn: unknown = null;
  private drawnGhost: unknown = null;

  constructor(
    private readonly app: App,
    unit: string,
    private readonly height = 104,
  ) {
    this.unit = h("span", { class: "unit" }, unit);
    this.element.append(this.unit);
    new ResizeObserver(() => {
      if (this.chart !== null && this.element.clientWidth > 0) {
        this.chart.setSize({ width: this.element.clientWidth, height: this.height });
      }
    }).observe(this.element);
    this.element.addEventListener("click", (event) => this.seek(event));
  }

  setLines(lines: Line[], unit?: string): void {
    this.lines = lines;
    if (unit !== undefined) this.unit.textContent = unit;
    this.reset();
  }

  reset(): void {
    this.chart?.destroy();
    this.chart = null;
    this.drawn = null;
  }

  refresh(): void {
    const source = this.app.series;
    if (source === null || this.lines.length === 0 || this.element.clientWidth === 0) return;
    const still = this.app.player !== null;
    // The data of a log never change; only the line of the present moves.
    if (this.chart === null || !still || this.drawn !== source || this.drawnGhost !== this.app.ghost) {
      const data = this.collect();
      if (data === null) return;
      if (this.chart === null) this.chart = this.make(data);
      else this.chart.setData(data, false);
      this.drawn = source;
      this.drawnGhost = this.app.ghost;
      const end = still ? source.end : Math.max(this.app.time_s, source.end);
      const start = still ? source.start : Math.max(end - LIVE_WINDOW_S, 0);
      this.chart.setScale("x", { min: start, max: still ? end : start + LIVE_WINDOW_S });
    }
    this.now.hidden = !still;
    if (still) this.now.style.transform = `translateX(${this.chart.valToPos(this.app.time_s, "x")}px)`;
  }

  private collect(): uPlot.AlignedData | null {
    const source = this.app.series;
    if (source === null) return null;
    const first = this.lines.map((line) => source.column(line.column, line.index));
    const lead = first.find((column) => column !== null);
    if (lead == null) return null;
    const at = thinIndices(lead.t.length, first);
    const table: uPlot.AlignedData = [
      at.map((i) => lead.t[i] ?? 0),
      ...first.map((column) => at.map((i) => finite(column?.v[i]))),
    ];
    const ghost = this.app.ghost;
    if (ghost === null) return table;
    const second = this.lines.map((line) => ghost.column(line.column, line.index));
    const at2 = thinIndices(ghost.frames, second);
    const table2: uPlot.AlignedData = [
      at2.map((i) => ghost.time[i] ?? 0),
      ...second.map((column) => at2.map((i) => finite(column?.v[i]))),
    ];
    return uPlot.join([table2, table]);
  }

  private make(data: uPlot.AlignedData): uPlot {
    const axis = {
      stroke: css("--faint"),
      font: "10px system-ui",
      ticks: { show: false },
      grid: { stroke: css("--line"), width: 1 },
    };
    const series: uPlot.Series[] = [{}];
    const ghosted = data.length > this.lines.length + 1;
    if (ghosted) {
      for (const _ of this.lines)
        series.push({ stroke: css("--ghost"), width: 1.2, points: { show: false }, spanGaps: true });
    }
    for (const line of this.lines) {
      series.push({
        stroke: css(line.color),
        width: 1.4,
        dash: line.dashed ? [4, 3] : [],
        points: { show: false },
        spanGaps: ghosted,
      });
    }
    const chart = new uPlot(
      {
        width: this.element.clientWidth,
        height: this.height,
        legend: { show: false },
        cursor: { drag: { x: false, y: false }, points: { show: false }, y: false },
        scales: { x: { time: false } },
        padding: [14, 12, 0, 0],
        axes: [
          { ...axis, size: 20, values: (_u, splits) => splits.map((s) => `${Number(s.toFixed(3))} s`) },
          { ...axis, size: 40, space: 22 },
        ],
        series,
      },
      data,
      this.element,
    );
    chart.over.append(this.now);
    return chart;
  }

  private seek(event: MouseEvent): void {
    if (this.chart === null || this.app.player === null) return;
    const box = this.chart.over.getBoundingClientRect();
    this.app.player.seek(this.chart.posToVal(event.clientX - box.left, "x"));
  }
}

function finite(value: number | undefined): number | null {
  return value !== undefined && Number.isFinite(value) ? value : null;
}

type Values = { v: ArrayLike<number> } | null;

/** Of each piece the places of the smallest and the largest value of each line: spikes stay visible. */
function thinIndices(n: number, lines: readonly Values[]): number[] {
  const out: number[] = [];
  if (n <= 2 * PIECES) {
    for (let i = 0; i < n; i++) out.push(i);
    return out;
  }
  for (let piece = 0; piece < PIECES; piece++) {
    const from = Math.floor((piece * n) / PIECES);
    const to = Math.floor(((piece + 1) * n) / PIECES);
    const kept = new Set<number>();
    for (const line of lines) {
      if (line === null) continue;
      let low = from;
      let high = from;
      for (let i = from + 1; i < to; i++) {
        if ((line.v[i] ?? NaN) < (line.v[low] ?? NaN)) low = i;
        if ((line.v[i] ?? NaN) > (line.v[high] ?? NaN)) high = i;
      }
      kept.add(low).add(high);
    }
    out.push(...[...kept].sort((a, b) => a - b));
  }
  return out;
}
