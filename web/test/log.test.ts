import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import type { Browser } from "playwright-core";
import { launch, open } from "./browser.ts";
import { makeRun } from "./fake/run-file.ts";
import { FakeServer } from "./fake/server.ts";
import { Simulation } from "./fake/simulation.ts";
import { flat, makeScene, quadrupedUrdf } from "./fake/world.ts";
import { drawn, FAST, frame, shown, SMALL, within } from "./helpers.ts";
import { PAGE } from "./paths.ts";

/** The page on recorded runs. HARDSTAND_LOG_PAGE names a page made by `hardstand page` to be tested as well. */
const SECONDS = 6;
const PUSH_FRAME = 120;
/** 60 frames a second, rounded to ticks. */
const FRAME_S = 0.017;
const scene = makeScene("log", quadrupedUrdf(), flat, 3);
const simulate = (force: number): Buffer =>
  makeRun({
    scene,
    simulation: new Simulation(3, flat, "trot"),
    seconds: SECONDS,
    title: `push-${force}.mcap`,
    at: (simulation, i) => {
      if (i === PUSH_FRAME)
        simulation.order("push", {
          link: "trunk",
          force_n: [0, force, 0],
          point_m: [0, 0, 0],
          duration_s: 0.1,
        });
    },
  });
const first = simulate(60);
const second = simulate(180);
const folder = mkdtempSync(join(tmpdir(), "hardstand-page-"));

let browser: Browser;

before(async () => {
  browser = await launch();
});

after(async () => {
  await browser.close();
  rmSync(folder, { recursive: true });
});

test("a served log: values, scrubbing, marks, playing", async (t) => {
  const server = await FakeServer.start({ page: PAGE, run: first });
  t.after(() => server.stop());
  const { page, errors, requests } = await open(browser, server.url + FAST, SMALL);
  await shown(page);

  // The decoded values are those of the simulation, to the resolution of their columns.
  const simulation = new Simulation(3, flat, "trot");
  simulation.step(17 * 100);
  const wanted = simulation.frame();
  await page.evaluate((t) => window.hardstand!.seek(t), 100 * FRAME_S + 1e-6);
  const got = await frame(page);
  assert.equal(got.tick, wanted.tick);
  assert.equal(got.digest, wanted.digest);
  wanted.base.p.forEach((value, k) => within(got.base.p[k]!, value, 1e-5, "base.p"));
  wanted.q.forEach((value, k) => within(got.q[k]!, value, 2e-4, "q"));
  wanted.tau.forEach((value, k) => within(got.tau[k]!, value, 5e-3, "tau"));
  assert.equal(got.contacts.length, wanted.contacts.length);
  wanted.contacts.forEach((contact, k) => {
    within(got.contacts[k]!.normal_n, contact.normal_n, 0.02, "normal_n");
    within(got.contacts[k]!.p[0], contact.p[0], 1e-4, "p");
  });
  assert.equal(got.command_age_ticks, wanted.command_age_ticks);
  assert.equal(got.authority, wanted.authority);

  // Scrubbing on the canvas, and a click on a mark.
  const box = (await page.locator(".timeline canvas").boundingBox())!;
  await page.mouse.click(box.x + box.width / 2, box.y + 20);
  within(await page.evaluate(() => window.hardstand!.time_s), SECONDS / 2, 0.1, "the time in the middle");
  const mark = (await page.evaluate(() => window.hardstand!.marks)).find((one) => one.kind === "condition")!;
  await page.mouse.click(box.x + (box.width * mark.time_s) / (352 * FRAME_S - FRAME_S) + 2, box.y + 4);
  within(await page.evaluate(() => window.hardstand!.time_s), mark.time_s, 1e-6, "the time of the mark");

  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowLeft");
  const t0 = await page.evaluate(() => window.hardstand!.time_s);
  await page.keyboard.press("Space");
  await page.waitForTimeout(1200);
  await page.keyboard.press("Space");
  const t1 = await page.evaluate(() => window.hardstand!.time_s);
  assert.ok(t1 > t0, "playing moves time");
  const still = await page.evaluate(() => window.hardstand!.drawn);
  await page.waitForTimeout(900);
  assert.ok(
    (await page.evaluate(() => window.hardstand!.drawn)) - still <= 12,
    "a still log is soon no longer drawn",
  );
  assert.deepEqual(errors, []);
  assert.ok(requests.every((request) => !request.startsWith("ws")));
  await page.context().close();
});

test("two runs: ghost and first difference; a dropped file", async (t) => {
  const server = await FakeServer.start({ page: PAGE, run: first, run2: second });
  t.after(() => server.stop());
  const { page, errors } = await open(browser, server.url + FAST, SMALL);
  await shown(page);
  const difference = (await page.evaluate(() => window.hardstand!.marks)).find(
    (mark) => mark.kind === "difference",
  )!;
  within(difference.time_s, (PUSH_FRAME + 1) * FRAME_S, 1e-3, "the first difference");
  const apart = async (time: number): Promise<number> => {
    await page.evaluate((t) => window.hardstand!.seek(t), time);
    await drawn(page);
    return page.evaluate(() => {
      const a = window.hardstand!.linkPose("trunk")!.position_m;
      const b = window.hardstand!.ghostLinkPose("trunk")!.position_m;
      return Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
    });
  };
  assert.ok((await apart(1)) < 1e-6, "the runs are one before the push");
  assert.ok((await apart(2.3)) > 0.01, "and differ after it");
  await page.context().close();

  const alone = await FakeServer.start({ page: PAGE, run: first });
  t.after(() => alone.stop());
  const dropped = await open(browser, alone.url + FAST, SMALL);
  await shown(dropped.page);
  await dropped.page.evaluate((text) => {
    const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
    const transfer = new DataTransfer();
    transfer.items.add(new File([bytes], "second.hsr"));
    window.dispatchEvent(new DragEvent("drop", { dataTransfer: transfer, bubbles: true, cancelable: true }));
  }, second.toString("base64"));
  await dropped.page.waitForFunction(() =>
    window.hardstand!.marks.some((mark) => mark.kind === "difference"),
  );
  assert.deepEqual([...errors, ...dropped.errors], []);
  await dropped.page.context().close();
});

async function mailed(path: string): Promise<void> {
  const { page, errors, requests } = await open(browser, pathToFileURL(path).href + FAST, SMALL);
  await shown(page);
  const start = await page.evaluate(() => window.hardstand!.time_s);
  await page.evaluate(() => window.hardstand!.play());
  await page.waitForFunction((t) => window.hardstand!.time_s > t + 0.3, start, { timeout: 20_000 });
  const up = await page.evaluate(
    () => window.hardstand!.linkPose(window.hardstand!.scene!.base_link)!.position_m[2],
  );
  assert.ok(up > 0.1, `the base is at ${up} m`);
  assert.deepEqual(errors, []);
  assert.deepEqual(
    requests.filter(
      (request) =>
        !request.startsWith("data:") && !request.startsWith("file:") && !request.startsWith("blob:"),
    ),
    [],
  );
  assert.equal(
    requests.filter((request) => request.startsWith("file:")).length,
    1,
    "nothing but the page itself is read",
  );
  await page.context().close();
}

test("a mailed page needs no server and no network", async () => {
  const minute = makeRun({
    scene,
    simulation: new Simulation(3, flat, "trot"),
    seconds: 60,
    title: "minute.mcap",
  });
  const html = readFileSync(PAGE, "utf8").replace(
    "</body>",
    () => `<script id="hardstand-run" type="text/plain">${minute.toString("base64")}</script>\n</body>`,
  );
  const path = join(folder, "run.html");
  writeFileSync(path, html);
  const size = statSync(path).size;
  assert.ok(size <= 5e6, `${size} bytes for a minute`);
  await mailed(path);
});

test("a page made by hardstand page", { skip: process.env["HARDSTAND_LOG_PAGE"] === undefined }, async () => {
  await mailed(process.env["HARDSTAND_LOG_PAGE"] ?? "");
});

test("without a run the page says so", async () => {
  const { page, errors } = await open(browser, pathToFileURL(PAGE).href, SMALL);
  await page.waitForSelector("text=No run is loaded");
  assert.deepEqual(errors, []);
  await page.context().close();
});
