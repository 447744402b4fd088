import type { Run } from "../source/run.ts";

export interface Envelope {
  low: number[];
  high: number[];
  most: number;
  time(piece: number): number;
}

const PIECES = 800;

/** The sum of the feet's normal forces over a run, as smallest and largest value of each piece. */
export function envelope(run: Run): Envelope | null {
  const values = run.values("foot_normal_n");
  const width = run.width("foot_normal_n");
  if (values === null || width === 0) return null;
  const pieces = Math.min(PIECES, run.frames);
  const low: number[] = [];
  const high: number[] = [];
  for (let piece = 0; piece < pieces; piece++) {
    const from = Math.floor((piece * run.frames) / pieces);
    const to = Math.max(from + 1, Math.floor(((piece + 1) * run.frames) / pieces));
    let least = Infinity;
    let most = -Infinity;
    for (let frame = from; frame < to; frame++) {
      let sum = 0;
      for (let k = 0; k < width; k++) sum += values[frame * width + k] ?? 0;
      least = Math.min(least, sum);
      most = Math.max(most, sum);
    }
    low.push(least);
    high.push(most);
  }
  // One impact must not flatten all the rest.
  const sorted = [...high].sort((a, b) => a - b);
  const most = 1.15 * (sorted[Math.floor(0.98 * (sorted.length - 1))] ?? 1);
  const time = (piece: number): number =>
    run.time[Math.floor((piece * (run.frames - 1)) / Math.max(pieces - 1, 1))] ?? 0;
  return { low, high, most, time };
}
