import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import type { Frame } from "../src/protocol/types.ts";
import { frame, order } from "./helpers.ts";

/** The plant page by hand: it is paused, and goes to ticks on its own. */

const LONGEST_STEP = 2000;

export interface Input {
  tick: number;
  order: "push" | "friction" | "fault";
  request: Record<string, unknown>;
}

/** Runs on, or back, to a tick. */
export async function goTo(page: Page, tick: number): Promise<Frame> {
  for (;;) {
    const now = (await frame(page)).tick;
    if (now === tick) return frame(page);
    await order(page, "step", { ticks: Math.min(tick - now, LONGEST_STEP) });
  }
}

export async function pausedAtStart(page: Page): Promise<void> {
  await order(page, "reset");
  await order(page, "pause");
  await goTo(page, 0);
}

/** A paused new run with this law. */
export async function chooseLaw(page: Page, law: string): Promise<void> {
  const run = (await frame(page)).run_id;
  await page.selectOption('[aria-label="contact law"]', law);
  await page.waitForFunction((id) => window.hardstand!.frame!.run_id !== id, run, { timeout: 20_000 });
  await pausedAtStart(page);
}

export async function give(page: Page, inputs: readonly Input[], ticks: number): Promise<Frame> {
  for (const input of inputs) {
    await goTo(page, input.tick);
    await order(page, input.order, input.request);
  }
  return goTo(page, ticks);
}

export const push = (force: number): Input["request"] => ({
  link: "trunk",
  force_n: [0, force, 0],
  point_m: [0, 0, 0],
  duration_s: 0.1,
});

/** How far the feet slip together while so many ticks pass, in m. */
export async function slipped(page: Page, ticks: number): Promise<number> {
  const step = 10;
  let sum = 0;
  for (let i = 0; i < ticks; i += step) {
    await order(page, "step", { ticks: step });
    const { contacts } = await frame(page);
    for (const contact of contacts) sum += contact.slip_m_per_s * step * 1e-3;
  }
  return sum;
}

export async function download(page: Page): Promise<string> {
  const [file] = await Promise.all([
    page.waitForEvent("download"),
    page.click('[data-action="scenario"]', { timeout: 20_000 }),
  ]);
  return readFileSync(await file.path(), "utf8");
}

/** Numbers from 0 to 1 that depend on the seed only (mulberry32). */
export function generator(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Pushes, a change of friction and a fault, at random ticks. */
export function randomInputs(seed: number, links: string[], joints: string[], ticks: number): Input[] {
  const random = generator(seed);
  const between = (low: number, high: number): number => low + (high - low) * random();
  const one = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
  const three = (size: number): number[] => [0, 0, 0].map(() => between(-size, size));
  const tick = (): number => Math.floor(between(0, ticks + 1));
  const pushes = Array.from({ length: 4 }, (): Input => {
    const request = {
      link: one(links),
      force_n: three(50),
      point_m: three(0.05),
      duration_s: Math.ceil(between(0, 150)) * 1e-3,
    };
    return { tick: tick(), order: "push", request };
  });
  const mu_static = between(0.2, 1);
  const friction = { mu_static, mu_kinetic: mu_static * between(0.5, 1) };
  const fault = one([
    { kind: "motor_derated", joint: one(joints), share: between(0.2, 1), duration_s: 0.2 },
    { kind: "encoder_offset", joint: one(joints), offset: between(-0.1, 0.1) },
    { kind: "encoder_noise", amplitude: between(0, 0.02), seed: Math.floor(between(0, 1e6)) },
    { kind: "payload", link: one(links), mass_kg: between(0, 3), point_m: three(0.05) },
    { kind: "battery_sag", share: between(0.5, 1), duration_s: 0.5 },
  ]);
  const all: Input[] = [
    ...pushes,
    { tick: tick(), order: "friction", request: friction },
    { tick: tick(), order: "fault", request: fault },
  ];
  return all.sort((a, b) => a.tick - b.tick);
}
