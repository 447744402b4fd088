/** Numbers as text, with a true minus sign and without a jumping width. */
export function fixed(value: number | null | undefined, digits: number): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  const text = value.toFixed(digits);
  return text.startsWith("-") ? (Number(text) === 0 ? text.slice(1) : `−${text.slice(1)}`) : text;
}

export function nanoseconds(ns: number | null | undefined): string {
  if (ns === null || ns === undefined || !Number.isFinite(ns)) return "–";
  if (ns < 1000) return `${ns.toFixed(0)} ns`;
  if (ns < 1e6) return `${three(ns / 1e3)} µs`;
  if (ns < 1e9) return `${three(ns / 1e6)} ms`;
  return `${three(ns / 1e9)} s`;
}

function three(value: number): string {
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
}

export function count(value: number): string {
  return value.toLocaleString("en-US").replaceAll(",", "\u202f");
}

export function clock(time_s: number): string {
  const minutes = Math.floor(time_s / 60);
  const seconds = time_s - 60 * minutes;
  return `${minutes}:${seconds.toFixed(3).padStart(6, "0")}`;
}

/** Joint names without what all of them share. */
export function shortName(name: string): string {
  return name.replace(/_joint$/, "");
}
