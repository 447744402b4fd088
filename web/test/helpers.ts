import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import type { Frame } from "../src/protocol/types.ts";
import { FakeServer } from "./fake/server.ts";
import { Simulation } from "./fake/simulation.ts";
import { flat, makeScene, quadrupedUrdf, type World } from "./fake/world.ts";
import { PAGE } from "./paths.ts";

export const SMALL = { viewport: { width: 900, height: 620 } };
/** The lowest quality: tests run without a graphics card. */
export const FAST = "?quality=3";

export async function liveFake(
  world: World = flat,
  port = 0,
  runId = 7,
): Promise<{ server: FakeServer; simulation: Simulation }> {
  const simulation = new Simulation(runId, world, "stand");
  simulation.step(300);
  const server = await FakeServer.start({
    page: PAGE,
    port,
    scene: makeScene("live", quadrupedUrdf(), world, runId),
    simulation,
  });
  return { server, simulation };
}

export const shown = (page: Page): Promise<unknown> =>
  page.waitForFunction(
    () =>
      window.hardstand?.frame != null &&
      window.hardstand.linkPose(window.hardstand.scene!.base_link) !== null,
    undefined,
    {
      timeout: 30_000,
    },
  );

export const frame = (page: Page): Promise<Frame> => page.evaluate(() => window.hardstand!.frame!);

/** Waits until a drawing has begun after now. */
export const drawn = async (page: Page): Promise<void> => {
  const before = await page.evaluate(() => window.hardstand!.drawn);
  await page
    .waitForFunction((n) => window.hardstand!.drawn > n + 1, before, { timeout: 20_000 })
    .catch(() => undefined);
};

export async function order(page: Page, name: string, request: object = {}): Promise<void> {
  const answer = await page.evaluate(([n, r]) => window.hardstand!.order(n as string, r as object), [
    name,
    request,
  ] as const);
  assert.ok(answer.ok, `${name}: ${answer.text}`);
}

export const within = (value: number, wanted: number, tolerance: number, what: string): void =>
  assert.ok(Math.abs(value - wanted) <= tolerance, `${what} is ${value}, not ${wanted} ± ${tolerance}`);
