import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import type { Browser, Page } from "playwright-core";
import type { Frame } from "../src/protocol/types.ts";
import { launch, open, type Watched } from "./browser.ts";
import { FAST, frame, order, shown, SMALL, within } from "./helpers.ts";
import { PAGE, PLANT } from "./paths.ts";
import * as plant from "./plant-page.ts";

/**
 * The page that carries the plant, opened from the disk. HARDSTAND_NATIVE is a shell command that gets a
 * scenario file and a number of ticks as arguments and prints the digest of the state after so many ticks.
 */
const native = process.env["HARDSTAND_NATIVE"];
const missing = existsSync(PLANT) ? false : "docs/plant.html is missing: npm run plant writes it";
const LAWS = ["exponential_spring", "hunt_crossley", "rigid"];

let browser: Browser;
let watched: Watched;
let page: Page;

before(async () => {
  if (missing !== false) return;
  browser = await launch();
  watched = await open(browser, pathToFileURL(PLANT).href + FAST, SMALL);
  page = watched.page;
  await shown(page);
});

after(async () => {
  if (missing === false) await browser.close();
});

function stands(now: Frame, what: string): void {
  const [, x, y] = now.base.quat;
  assert.ok(1 - 2 * (x * x + y * y) > 0.95, `${what}: the base's z-axis points up`);
  within(now.base.p[2], 0.33, 0.03, `${what}: the height of the base`);
}

const refused = (name: string, request: object = {}): Promise<{ ok: boolean; text: string }> =>
  page.evaluate(([n, r]) => window.hardstand!.order(n as string, r as object), [name, request] as const);

test("the page is the ordinary one, with the plant and the right to compile it", { skip: missing }, () => {
  const ordinary = readFileSync(PAGE, "utf8");
  assert.ok(!ordinary.includes("wasm-unsafe-eval"), "the ordinary page must not compile WebAssembly");
  const without = readFileSync(PLANT, "utf8")
    .replace(" 'wasm-unsafe-eval'", "")
    .replace(/<script id="hardstand-plant(-robot)?" type="[a-z/]*">[^<]*<\/script>\n/g, "");
  assert.ok(without === ordinary, "docs/plant.html is of another page: npm run plant writes it anew");
});

test("the plant starts at once, and the robot stands", { skip: missing }, async () => {
  assert.equal(await page.evaluate(() => window.hardstand!.source), "plant");
  await page.waitForFunction(() => window.hardstand!.frame!.tick > 800, undefined, { timeout: 30_000 });
  const now = await frame(page);
  stands(now, "after 0.8 s");
  assert.equal(now.phase, "running");
  const { mass_kg, gravity_m_per_s2 } = (await page.evaluate(() => window.hardstand!.scene))!;
  const weight = mass_kg * Math.hypot(...gravity_m_per_s2);
  const carried = now.contacts.reduce((sum, contact) => sum + contact.force[2], 0);
  within(carried, weight, 0.05 * weight, "the sum of the contact forces");
  assert.ok(await page.isHidden('[data-action="stop"]'), "there is no emergency stop");
  assert.ok(await page.isHidden(".banner"), "no connection is missed");
});

test("pause stops time, and a step back gives the digest again", { skip: missing }, async () => {
  await page.keyboard.press("Space");
  await page.waitForFunction(() => window.hardstand!.frame!.phase === "paused");
  const start = await frame(page);
  await page.waitForTimeout(400);
  assert.equal((await frame(page)).tick, start.tick, "no tick passes");
  await page.keyboard.press("Shift+ArrowRight");
  await page.waitForFunction((t) => window.hardstand!.frame!.tick === t, start.tick + 10);
  assert.notEqual((await frame(page)).digest, start.digest);
  await plant.goTo(page, start.tick + 1500);
  await plant.goTo(page, start.tick);
  const { run_id: _, ...again } = await frame(page);
  const { run_id: __, ...first } = start;
  assert.deepEqual(again, first);
  await page.waitForFunction(
    (digest) => document.querySelector('[aria-label="digest"]')!.textContent === digest,
    start.digest,
  );
});

test("an order and a dragged link push the robot", { skip: missing }, async () => {
  await plant.pausedAtStart(page);
  const before = await plant.goTo(page, 600);
  await order(page, "push", plant.push(80));
  const after = await plant.goTo(page, 700);
  assert.ok(after.base.v[1] > before.base.v[1] + 0.05, `the base moves at ${after.base.v[1]} m/s`);
  await page.waitForSelector('[data-panel="events"] .event:has-text("push")', { state: "attached" });
  assert.equal(await page.evaluate(() => window.hardstand!.marks.length), 1);
  await plant.goTo(page, 600);
  assert.equal(await page.evaluate(() => window.hardstand!.marks.length), 0, "the push is forgotten");
  assert.notEqual((await plant.goTo(page, 700)).digest, after.digest);

  const [x, y] = (await page.evaluate(() => window.hardstand!.screenPoint("trunk")))!;
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x - 60, y, { steps: 4 });
  await page.mouse.up();
  await page.waitForFunction(() => window.hardstand!.marks.length === 1);
});

test("feet slip more on slippery ground", { skip: missing }, async () => {
  const slips: number[] = [];
  for (const mu of [0.8, 0.05]) {
    await plant.pausedAtStart(page);
    await plant.goTo(page, 600);
    await order(page, "friction", { mu_static: mu, mu_kinetic: 0.75 * mu });
    await order(page, "push", plant.push(30));
    slips.push(await plant.slipped(page, 400));
  }
  assert.ok(slips[1]! > slips[0]! + 0.01, `with 0.8 the feet slip ${slips[0]} m, with 0.05 ${slips[1]} m`);
});

test("the same inputs after a reset give the same digest", { skip: missing }, async () => {
  const inputs: plant.Input[] = [
    { tick: 300, order: "push", request: plant.push(60) },
    { tick: 450, order: "friction", request: { mu_static: 0.4, mu_kinetic: 0.3 } },
    { tick: 700, order: "fault", request: { kind: "motor_derated", joint: "FL_calf_joint", share: 0.5 } },
  ];
  const digests: string[] = [];
  for (let i = 0; i < 2; i++) {
    await plant.pausedAtStart(page);
    digests.push((await plant.give(page, inputs, 1200)).digest);
  }
  assert.equal(digests[1], digests[0]);
  await plant.pausedAtStart(page);
  assert.notEqual((await plant.goTo(page, 1200)).digest, digests[0], "the inputs count");
});

test("saved states, run until, and orders that are refused", { skip: missing }, async () => {
  await plant.pausedAtStart(page);
  const early = await plant.goTo(page, 200);
  await page.click('[data-action="snapshot"]');
  await plant.goTo(page, 300);
  const { id } = (await page.evaluate(() => window.hardstand!.order("snapshot"))) as { id: number };
  await order(page, "restore", { id: id - 1 });
  assert.equal((await frame(page)).digest, early.digest);
  assert.match((await refused("restore", { id })).text, /not of this run/);
  await order(page, "speed", { speed: 0 });
  await order(page, "run_until", { time_s: 1.2345 });
  await page.waitForFunction(() => window.hardstand!.frame!.phase === "paused");
  assert.equal((await frame(page)).tick, 1235);
  await order(page, "speed", { speed: 1 });
  for (const name of ["stop", "arm"]) assert.match((await refused(name)).text, /knows no emergency stop/);
  const others: [string, object][] = [
    ["clear", {}],
    ["nonsense", {}],
    ["step", { ticks: 0.5 }],
    ["run_until", { time_s: 0 }],
    ["speed", { speed: -1 }],
    ["push", { link: "no such link", force_n: [0, 0, 1], point_m: [0, 0, 0], duration_s: 1 }],
    ["fault", { kind: "motor_derated", share: 2 }],
  ];
  for (const [name, request] of others) {
    const answer = await refused(name, request);
    assert.ok(!answer.ok && answer.text.length > 10, `${name}: ${answer.text}`);
  }
  assert.equal((await frame(page)).tick, 1235, "no refused order changes the state");
});

test("a plant that fails says why, and goes on after a step back", { skip: missing }, async () => {
  await plant.pausedAtStart(page);
  const { digest } = await plant.goTo(page, 100);
  await order(page, "push", { ...plant.push(1e6), duration_s: 1 });
  await order(page, "resume");
  await page.waitForFunction(() => window.hardstand!.frame!.failure !== null, undefined, { timeout: 20_000 });
  assert.equal((await frame(page)).phase, "paused");
  assert.match((await refused("resume")).text, /^The plant has failed: .+ Step back, or reset\.$/);
  assert.deepEqual(
    await page.evaluate(() => window.hardstand!.marks.map((mark) => mark.kind)),
    ["fault", "failure"],
  );
  assert.equal((await plant.goTo(page, 100)).digest, digest);
  stands(await plant.goTo(page, 1000), "without the push");
});

for (const law of LAWS) {
  test(`the robot stands with the contact law ${law}`, { skip: missing }, async () => {
    await plant.chooseLaw(page, law);
    stands(await plant.goTo(page, 1000), law);
    assert.match(await plant.download(page), new RegExp(`model = "${law}"`));
  });
}

test("phone width: the panel is not cut off", { skip: missing }, async () => {
  const phone = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };
  const small = await open(browser, pathToFileURL(PLANT).href + FAST, phone);
  await shown(small.page);
  assert.ok((await small.page.evaluate(() => document.documentElement.scrollWidth)) <= 390);
  for (const part of ['[aria-label="digest"]', '[aria-label="contact law"]', ".commands"]) {
    const box = (await small.page.locator(part).boundingBox())!;
    assert.ok(box.x >= 0 && box.x + box.width <= 390, part);
  }
  assert.deepEqual(small.errors, []);
  await small.page.context().close();
});

const alone = missing || (native === undefined ? "HARDSTAND_NATIVE names no native run" : false);
test("native runs have the same digests", { skip: alone, timeout: 600_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), "hardstand-plant-"));
  const scene = (await page.evaluate(() => window.hardstand!.scene))!;
  const links = [...new Set(scene.stations.map((station) => station.body))];
  const joints = scene.joints.map((joint) => joint.name);
  const robot = await page.evaluate(() => document.getElementById("hardstand-plant-robot")!.textContent!);
  for (const [i, law] of LAWS.entries()) {
    for (const seed of [2 * i + 1, 2 * i + 2]) {
      const ticks = 1500 + 211 * seed;
      await plant.chooseLaw(page, law);
      const inputs = plant.randomInputs(seed, links, joints, ticks);
      const { digest } = await plant.give(page, inputs, ticks);
      const scenario = await plant.download(page);
      const file = join(folder, `${law}-${seed}.toml`);
      writeFileSync(file, scenario);
      const urdf = join(folder, /^urdf = "(.+)"$/m.exec(scenario)?.[1] ?? "robot.urdf");
      mkdirSync(dirname(urdf), { recursive: true });
      writeFileSync(urdf, (JSON.parse(robot) as { robot: string }).robot);
      const printed = execFileSync("sh", ["-c", `${native} "$@"`, "sh", file, String(ticks)]);
      assert.equal(printed.toString().trim(), digest, `${law}, seed ${seed}, ${ticks} ticks: ${JSON.stringify(inputs)}`);
    }
  }
  rmSync(folder, { recursive: true });
});

test("no console error, and nothing but the page itself is read", { skip: missing }, () => {
  assert.deepEqual(watched.errors, []);
  const others = watched.requests.filter((request) => !/^(data|blob):/.test(request));
  assert.deepEqual(others, [pathToFileURL(PLANT).href + FAST]);
});
