import assert from "node:assert/strict";
import { execSync } from "node:child_process";
import { after, before, test } from "node:test";
import type { Browser } from "playwright-core";
import { launch, open, type Watched } from "./browser.ts";
import type { FakeServer } from "./fake/server.ts";
import type { Quat } from "../src/protocol/types.ts";
import { drawn, FAST, frame, liveFake, order, shown, SMALL, within } from "./helpers.ts";

/**
 * The page on a live robot. HARDSTAND_VIEW_URL names a running `hardstand view` with a standing robot to
 * be tested instead of the fake; HARDSTAND_RESTART is then a shell command that restarts the daemon.
 */
const given = process.env["HARDSTAND_VIEW_URL"];
const restart = process.env["HARDSTAND_RESTART"];

let browser: Browser;
let server: FakeServer | null = null;
let watched: Watched;
let url = given ?? "";

before(async () => {
  browser = await launch();
  if (given === undefined) {
    server = (await liveFake()).server;
    url = server.url;
  }
  watched = await open(browser, url + FAST, SMALL);
  await shown(watched.page);
  await watched.page.evaluate(() => window.hardstand!.ready());
});

after(async () => {
  await browser.close();
  await server?.stop();
});

test("the robot is upright, on its feet and moving", async () => {
  const { page } = watched;
  const first = await frame(page);
  await page.waitForTimeout(700);
  const second = await frame(page);
  assert.ok(second.tick > first.tick, "time passes");
  await drawn(page);
  const look = await page.evaluate(() => {
    const scene = window.hardstand!.scene!;
    const feet = window.hardstand!.frame!.contacts.map((contact) => contact.p[2]);
    return { base: window.hardstand!.linkPose(scene.base_link)!, feet, count: scene.feet.length };
  });
  const [, x, y] = look.base.quat;
  assert.ok(1 - 2 * (x * x + y * y) > 0.9, "the base's z-axis points up");
  assert.ok(look.base.position_m[2] > 0.15, "the base is above the ground");
  assert.equal(look.feet.length, look.count, "each foot stands");
  for (const height of look.feet) within(height, 0, 0.02, "a contact's height");
  assert.deepEqual(await page.evaluate(() => window.hardstand!.failedMeshes), []);
});

test("the drawn arrows add up to the weight", async () => {
  const { page } = watched;
  const sums: number[] = [];
  for (let i = 0; i < 6; i++) {
    await page.waitForTimeout(150);
    sums.push(
      await page.evaluate(() => window.hardstand!.arrows().reduce((sum, arrow) => sum + arrow.force[2], 0)),
    );
  }
  const weight = await page.evaluate(
    () => window.hardstand!.scene!.mass_kg * Math.hypot(...window.hardstand!.scene!.gravity_m_per_s2),
  );
  within(sums.reduce((a, b) => a + b, 0) / sums.length, weight, 0.05 * weight, "the sum of the arrows");
  const shares = await page.evaluate(() => window.hardstand!.arrows().map((arrow) => arrow.share));
  for (const share of shares) assert.ok(share >= 0 && share <= 1.001, `share ${share}`);
});

test("pause stops time, step and step back are bit-equal", async () => {
  const { page } = watched;
  await page.keyboard.press("Space");
  await page.waitForFunction(() => window.hardstand!.frame!.phase === "paused");
  await page.waitForTimeout(200);
  const start = await frame(page);
  await page.waitForTimeout(500);
  assert.equal((await frame(page)).tick, start.tick, "no tick passes");
  const picture = await page.evaluate(() => window.hardstand!.drawn);
  await page.waitForTimeout(600);
  assert.ok(
    (await page.evaluate(() => window.hardstand!.drawn)) - picture <= 3,
    "a still robot is not drawn again",
  );

  const at = (tick: number) =>
    page.waitForFunction((t) => window.hardstand!.frame!.tick === t, tick, { timeout: 10_000 });
  await page.keyboard.press("ArrowRight");
  await at(start.tick + 1);
  await page.keyboard.press("Shift+ArrowRight");
  await at(start.tick + 11);
  assert.notEqual((await frame(page)).digest, start.digest);
  await page.keyboard.press("Shift+ArrowLeft");
  await at(start.tick + 1);
  await page.click('[data-action="back"]');
  await at(start.tick);
  const again = await frame(page);
  assert.equal(again.digest, start.digest);
  assert.deepEqual(
    { base: again.base, q: again.q, dq: again.dq, tau: again.tau },
    { base: start.base, q: start.q, dq: start.dq, tau: start.tau },
  );
});

test("run until, speed, snapshot and restore", async () => {
  const { page } = watched;
  const start = await frame(page);
  const until = start.time_ns * 1e-9 + 0.5;
  await page.fill('[aria-label="run until, s"]', until.toFixed(3));
  await page.click('[data-action="until"]');
  await page.waitForFunction(
    (t) => window.hardstand!.frame!.time_ns * 1e-9 >= t - 1e-3 && window.hardstand!.frame!.phase === "paused",
    until,
    { timeout: 15_000 },
  );
  within((await frame(page)).time_ns * 1e-9, until, 0.002, "the time reached");
  await page.click('[data-action="snapshot"]');
  await page.waitForFunction(
    () => !(document.querySelector('[data-action="restore"]') as HTMLButtonElement).disabled,
  );
  const saved = await frame(page);
  await order(page, "step", { ticks: 40 });
  // all of them: a restore in the middle would let the rest follow
  await page.waitForFunction((t) => window.hardstand!.frame!.tick === t, saved.tick + 40);
  await page.click('[data-action="restore"]');
  await page.waitForFunction((digest) => window.hardstand!.frame!.digest === digest, saved.digest, {
    timeout: 10_000,
  });
  await page.selectOption('[aria-label="speed"]', "0.25");
  await page.waitForTimeout(300);
  await order(page, "resume");
  await page.waitForFunction((t) => window.hardstand!.frame!.tick > t + 10, saved.tick);
  const t0 = await page.evaluate(() => ({ wall: performance.now(), run: window.hardstand!.frame!.time_ns }));
  await page.waitForTimeout(1500);
  const t1 = await page.evaluate(() => ({ wall: performance.now(), run: window.hardstand!.frame!.time_ns }));
  within((t1.run - t0.run) / 1e6 / (t1.wall - t0.wall), 0.25, 0.1, "the speed");
  await page.selectOption('[aria-label="speed"]', "1");
});

test("dragging a link pushes the robot", async () => {
  const { page } = watched;
  await page.waitForTimeout(300);
  const link = await page.evaluate(() => window.hardstand!.scene!.base_link);
  const [x, y] = (await page.evaluate((name) => window.hardstand!.screenPoint(name), link))!;
  const rest = await frame(page);
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x - 60, y, { steps: 4 });
  await page.waitForSelector(".label.push:not([hidden])");
  await page.mouse.up();
  await page.waitForFunction(
    () => window.hardstand!.marks.some((mark) => mark.text.includes(" N ") || /push/.test(mark.text)),
    undefined,
    { timeout: 5000 },
  );
  let most = 0;
  for (let i = 0; i < 12; i++) {
    await page.waitForTimeout(60);
    const { v } = (await frame(page)).base;
    most = Math.max(most, Math.hypot(v[0], v[1]));
  }
  assert.ok(
    most > 0.02,
    `the base moves at ${most} m/s (before ${Math.hypot(rest.base.v[0], rest.base.v[1])})`,
  );
  if (server !== null) {
    const { request } = server.orders.find((one) => one.name === "push")!;
    assert.equal(request["link"], link);
    assert.ok(Math.hypot(...(request["force_n"] as number[])) > 5);
    assert.equal((request["point_m"] as number[]).length, 3);
    assert.ok((request["duration_s"] as number) > 0);
  }
});

test("friction, a fault from the list, emergency stop and arm", async () => {
  const { page } = watched;
  const before = await page.evaluate(() => window.hardstand!.marks.length);
  const slider = page.locator('[aria-label="static friction"]');
  await slider.evaluate((element: HTMLInputElement) => {
    element.value = "0.5";
    element.dispatchEvent(new Event("input"));
    element.dispatchEvent(new Event("change"));
  });
  await page.waitForFunction(
    () => window.hardstand!.frame!.contacts.some((contact) => Math.abs(contact.mu - 0.5) < 0.15),
    undefined,
    { timeout: 5000 },
  );
  await page.evaluate(() =>
    document.querySelector<HTMLDetailsElement>('[data-panel="faults"]')!.setAttribute("open", ""),
  );
  await page.selectOption('[aria-label="kind of fault"]', "motor_derated");
  await page.fill('[data-panel="faults"] [name="share"]', "0.8");
  await page.fill('[data-panel="faults"] [name="duration_s"]', "0.1");
  await page.click('[data-action="inject"]');
  await page.waitForFunction(
    (n) => window.hardstand!.marks.slice(n).some((mark) => mark.text.includes("motor_derated")),
    before,
    { timeout: 5000 },
  );
  if (server !== null) {
    const { request } = server.orders.find((one) => one.name === "fault")!;
    assert.deepEqual(request, { kind: "motor_derated", share: 0.8, duration_s: 0.1 });
  }
  await order(page, "clear");
  await page.keyboard.press("Escape");
  await page.waitForFunction(() => window.hardstand!.frame!.authority === "stopped", undefined, {
    timeout: 5000,
  });
  await page.waitForFunction(() => document.querySelector('[data-action="stop"]')!.textContent === "Arm");
  await page.click('[data-action="stop"]');
  await page.waitForFunction(() => window.hardstand!.frame!.authority !== "stopped", undefined, {
    timeout: 5000,
  });
});

test("sliders and keys ask for a velocity, and letting go asks to stand", async () => {
  const { page } = watched;
  const asked = (wanted: number[]) =>
    page.waitForFunction(
      (wanted) => window.hardstand!.frame!.velocity_command!.every((v, i) => Math.abs(v - wanted[i]!) < 1e-9),
      wanted,
      { timeout: 5000 },
    );
  await asked([0, 0, 0]);
  await page.evaluate(() =>
    document.querySelector<HTMLDetailsElement>('[data-panel="velocity command"]')!.setAttribute("open", ""),
  );
  await page.locator('[aria-label="velocity left"]').evaluate((element: HTMLInputElement) => {
    element.value = "-0.25";
    element.dispatchEvent(new Event("input"));
  });
  await asked([0, -0.25, 0]);
  await page.focus('[data-action="drive"]');
  await page.keyboard.down("w");
  await asked([0.5, 0, 0]);
  await page.keyboard.down("e");
  await asked([0.5, 0, -0.8]);
  await page.keyboard.up("w");
  await page.keyboard.up("e");
  await asked([0, 0, 0]);
  // S is the way back here, and no emergency stop
  await page.keyboard.down("s");
  await asked([-0.5, 0, 0]);
  assert.notEqual((await frame(page)).authority, "stopped");
  // without the focus nothing keeps it going
  await page.evaluate(() => (document.activeElement as HTMLElement).blur());
  await asked([0, 0, 0]);
  await page.keyboard.up("s");
});

test("reset begins again", async () => {
  const { page } = watched;
  const before = await frame(page);
  await page.keyboard.press("r");
  await page.waitForFunction(
    (t) => window.hardstand!.frame !== null && window.hardstand!.frame.tick < t,
    before.tick,
    { timeout: 10_000 },
  );
});

test("no console error, and no request to another host", () => {
  assert.deepEqual(watched.errors, []);
  const own = new URL(url).host;
  for (const request of watched.requests)
    assert.ok(
      request.startsWith("data:") || request.startsWith("blob:") || new URL(request).host === own,
      request,
    );
});

test(
  "the page comes back after a restart",
  { skip: given !== undefined && restart === undefined },
  async () => {
    const { page } = watched;
    const before = await page.evaluate(() => window.hardstand!.framesReceived);
    if (server === null) {
      execSync(restart ?? "");
    } else {
      const { port } = server;
      await server.stop();
      await page.waitForSelector(".banner:not([hidden])");
      server = (await liveFake(undefined, port, 99)).server;
    }
    await page.waitForFunction(
      (n) => window.hardstand!.source === "live" && window.hardstand!.framesReceived > n + 5,
      before,
      { timeout: 20_000 },
    );
    await page.waitForSelector(".banner", { state: "hidden" });
    if (given === undefined) assert.equal((await frame(page)).run_id, 99);
    const unexpected = watched.errors.filter((text) => !text.includes("WebSocket"));
    assert.deepEqual(unexpected, []);
  },
);

test("another robot is drawn where it is, and goes when it is gone", { skip: given !== undefined }, async () => {
  const { page } = watched;
  const scene = await page.evaluate(() => window.hardstand!.scene!);
  const { base_link, urdf, joints } = scene;
  const q = joints.map((joint) => joint.q_initial);
  const robot = { base_link, urdf, joints };
  const at = (y: number) => ({ p: [0.2, y, 0.4] as [number, number, number], quat: [1, 0, 0, 0] as Quat });
  server!.other({ name: "right", robot }, { name: "right", base: at(-1), q });
  server!.other({ name: "left", robot }, { name: "left", base: at(1), q });
  await page.waitForFunction(() => window.hardstand!.others().length === 2);
  await page.evaluate(() => window.hardstand!.ready());
  const pose = (name: string) =>
    page.evaluate(
      ([name, link]) => window.hardstand!.otherLinkPose(name!, link!)!.position_m,
      [name, base_link],
    );
  await page.waitForFunction(
    ([link]) => window.hardstand!.otherLinkPose("left", link!)!.position_m[1] > 0.9,
    [base_link],
  );
  const [left, right] = [await pose("left"), await pose("right")];
  [0.2, 1, 0.4].forEach((x, i) => within(left[i]!, x, 1e-6, "the left robot's base"));
  [0.2, -1, 0.4].forEach((x, i) => within(right[i]!, x, 1e-6, "the right robot's base"));
  const own = await page.evaluate((link) => window.hardstand!.linkPose(link)!.position_m, base_link);
  assert.ok(Math.abs(own[1]) < 0.5, "the page's own robot stays where it is");
  server!.other({ name: "left", robot: null });
  await page.waitForFunction(() => window.hardstand!.others().join() === "right");
  server!.other({ name: "right", robot: null });
  await page.waitForFunction(() => window.hardstand!.others().length === 0);
});
