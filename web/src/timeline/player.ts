import type { Run } from "../source/run.ts";

/** Moves through a recorded run. Time is that of the run, in s. */
export class Player {
  time: number;
  playing = false;
  speed = 1;
  loop = false;
  private until: number | null = null;
  readonly run: Run;
  private readonly changed: () => void;

  constructor(run: Run, changed: () => void) {
    this.run = run;
    this.changed = changed;
    this.time = run.start;
  }

  get index(): number {
    return this.run.indexAt(this.time);
  }

  play(until: number | null = null): void {
    if (this.time >= this.run.end && until === null) this.time = this.run.start;
    this.until = until;
    this.playing = true;
    this.changed();
  }

  pause(): void {
    this.playing = false;
    this.until = null;
    this.changed();
  }

  seek(time: number): void {
    this.time = Math.min(Math.max(time, this.run.start), this.run.end);
    this.changed();
  }

  step(frames: number): void {
    this.playing = false;
    const index = Math.min(Math.max(this.index + frames, 0), this.run.frames - 1);
    this.seek(this.run.time[index] ?? 0);
  }

  /** Returns whether the time moved. */
  advance(wall_s: number): boolean {
    if (!this.playing) return false;
    const speed = this.speed === 0 ? 16 : this.speed;
    // A tab that was in the background must not jump.
    let time = this.time + Math.min(wall_s, 0.1) * speed;
    const end = Math.min(this.until ?? this.run.end, this.run.end);
    if (time >= end) {
      if (this.loop && this.until === null) {
        time = this.run.start;
      } else {
        time = end;
        this.playing = false;
        this.until = null;
      }
    }
    this.time = time;
    this.changed();
    return true;
  }
}
