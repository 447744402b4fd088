const LONGEST_STEP_MS = 500;
const WINDOW_MS = 500;

/** Turns wall time into ticks that are due, and measures what was reached. */
export class Pace {
  /** Simulated s per s of wall time; 0 is as fast as possible. */
  speed = 1;
  /** What was reached of late, in simulated s per s of wall time. */
  reached: number | null = null;
  /** Computing for one simulated second, in ms. */
  costMs: number | null = null;
  private readonly period_s: number;
  private last: number | null = null;
  private owed = 0;
  private wallMs = 0;
  private computedMs = 0;
  private ticks = 0;

  constructor(period_s: number) {
    this.period_s = period_s;
  }

  /** Time that passes from here to the next call of `due` does not count. */
  interrupt(): void {
    this.last = null;
    this.owed = 0;
    this.wallMs = 0;
    this.computedMs = 0;
    this.ticks = 0;
    this.reached = null;
  }

  due(now: number): number {
    // A window that was covered, or a machine that slept, must not be caught up with.
    const wall = this.last === null ? 0 : Math.min(Math.max(now - this.last, 0), LONGEST_STEP_MS);
    this.last = now;
    this.wallMs += wall;
    if (this.speed === 0) return Infinity;
    this.owed += (wall * 1e-3 * this.speed) / this.period_s;
    return Math.floor(this.owed);
  }

  /** Ticks that were due and not computed are forgone: simulated time falls behind. */
  done(ticks: number, computedMs: number, late: boolean): void {
    this.owed = late || this.speed === 0 ? 0 : this.owed - ticks;
    this.ticks += ticks;
    this.computedMs += computedMs;
    if (this.wallMs < WINDOW_MS) return;
    const simulated_s = this.ticks * this.period_s;
    this.reached = simulated_s / (this.wallMs * 1e-3);
    if (simulated_s > 0) this.costMs = this.computedMs / simulated_s;
    this.wallMs = 0;
    this.computedMs = 0;
    this.ticks = 0;
  }
}
