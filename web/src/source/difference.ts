import type { Run } from "./run.ts";

export interface Difference {
  time_s: number;
  text: string;
}

/** Where the second run leaves the first: as its file says, or else at the first differing frame. */
export function firstDifference(first: Run, second: Run): Difference | null {
  if (second.header.first_difference !== null) return second.header.first_difference;
  const byDigest = first.has("digest") && second.has("digest");
  const ticks1 = first.values("tick");
  const ticks2 = second.values("tick");
  if (ticks1 === null || ticks2 === null) return null;
  let j = 0;
  for (let i = 0; i < first.frames; i++) {
    const tick = ticks1[i] ?? 0;
    while (j < second.frames && (ticks2[j] ?? 0) < tick) j++;
    if (j >= second.frames) return null;
    if (ticks2[j] !== tick) continue;
    const time_s = first.time[i] ?? 0;
    if (byDigest) {
      if (first.digestAt(i) !== second.digestAt(j))
        return { time_s, text: `digests differ from tick ${tick} on` };
    } else if (far(first, i, second, j)) {
      return { time_s, text: `poses differ from tick ${tick} on` };
    }
  }
  return null;
}

function far(first: Run, i: number, second: Run, j: number): boolean {
  for (const name of ["base_p", "q"]) {
    const a = first.values(name);
    const b = second.values(name);
    const width = first.width(name);
    if (a === null || b === null || width !== second.width(name)) continue;
    for (let k = 0; k < width; k++) {
      if (Math.abs((a[i * width + k] ?? 0) - (b[j * width + k] ?? 0)) > 1e-4) return true;
    }
  }
  return false;
}
