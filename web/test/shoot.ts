import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import type { BrowserContextOptions, Page } from "playwright-core";
import { launch, open } from "./browser.ts";
import { makeRun } from "./fake/run-file.ts";
import { FakeServer } from "./fake/server.ts";
import { Simulation } from "./fake/simulation.ts";
import { flat, makeScene, quadrupedUrdf, terrain } from "./fake/world.ts";
import { PAGE, PLANT, SHOTS } from "./paths.ts";

/** Makes screenshots of all states of the page, to be looked at: `node …/shoot.js [NAME…]`. */
const wanted = process.argv.slice(2);
mkdirSync(SHOTS, { recursive: true });
const browser = await launch();

async function shot(
  name: string,
  url: string,
  options: BrowserContextOptions,
  act: (page: Page) => Promise<void>,
): Promise<void> {
  if (wanted.length > 0 && !wanted.includes(name)) return;
  const { page, errors } = await open(browser, `${url}?quality=1`, options);
  await page.waitForFunction(
    () => (window as never as { hardstand?: { frame: unknown } }).hardstand?.frame != null,
    undefined,
    { timeout: 20000 },
  );
  await page.waitForTimeout(1500);
  await act(page);
  await page.screenshot({ path: `${SHOTS}${name}.png` });
  if (errors.length > 0) console.log(name, errors);
  await page.context().close();
}

const urdf = quadrupedUrdf();
const live = async (world: typeof flat, gait: "stand" | "trot"): Promise<FakeServer> => {
  const simulation = new Simulation(0x5eed, world, gait);
  simulation.step(gait === "stand" ? 7400 : 1500);
  // Drawing without a graphics card takes seconds; the robot must not have left by then.
  if (gait === "trot") simulation.speed = 0.12;
  return FakeServer.start({ page: PAGE, scene: makeScene("live", urdf, world, 0x5eed), simulation });
};
const nothing = async (): Promise<void> => {};

const standing = await live(flat, "stand");
const phone = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true };
await shot("live-dark", standing.url, {}, nothing);
await shot("live-light", standing.url, { colorScheme: "light" }, async (page) => {
  await page.click("text=FL_thigh");
  await page.waitForTimeout(800);
});
await shot("live-close", standing.url, {}, async (page) => {
  await page.evaluate(() => window.hardstand!.camera([0.75, 0.62, 0.28], [0.18, 0.14, 0.05]));
  await page.waitForTimeout(600);
});
await shot("help", standing.url, {}, async (page) => {
  await page.keyboard.press("?");
  await page.waitForTimeout(300);
});
await shot("faults", standing.url, { colorScheme: "light" }, async (page) => {
  await page.click('[data-panel="faults"] summary');
  await page.selectOption('[aria-label="kind of fault"]', "payload");
  await page.locator('[data-action="inject"]').scrollIntoViewIfNeeded();
  await page.fill('[name="mass_kg"]', "2.5");
  await page.click('[data-action="inject"]');
  await page.waitForTimeout(500);
});
await shot("push", standing.url, {}, async (page) => {
  const at = await page.evaluate(() => window.hardstand!.screenPoint("trunk"));
  await page.mouse.move(at![0], at![1]);
  await page.mouse.down();
  await page.mouse.move(at![0] - 120, at![1] - 60, { steps: 5 });
  await page.waitForTimeout(400);
});
await shot("phone", standing.url, phone, nothing);
await shot("phone-light-scrolled", standing.url, { ...phone, colorScheme: "light" }, async (page) => {
  await page.evaluate(() => window.scrollTo(0, 620));
  await page.waitForTimeout(400);
});
await shot("one-dock", standing.url, { viewport: { width: 1100, height: 760 } }, nothing);
await shot("slip", standing.url, {}, async (page) => {
  await page.evaluate(async () => {
    await window.hardstand!.order("friction", { mu_static: 0.07, mu_kinetic: 0.05 });
    window.hardstand!.camera([0.95, 0.75, 0.42], [0.12, 0.1, 0.08]);
  });
  await page.waitForTimeout(900);
});
await shot("stopped-paused", standing.url, { colorScheme: "light" }, async (page) => {
  await page.keyboard.press("Escape");
  await page.waitForTimeout(400);
  await page.keyboard.press("Space");
  await page.waitForTimeout(600);
});
await shot("no-daemon", standing.url, {}, async (page) => {
  standing.link(false, "The daemon at tcp/127.0.0.1:7447 does not answer.");
  await page.waitForTimeout(600);
});
await standing.stop();
const hilly = await live(terrain(), "trot");
await shot("terrain", hilly.url, {}, nothing);
await shot("terrain-light", hilly.url, { colorScheme: "light" }, async (page) => {
  await page.evaluate(() => {
    const p = window.hardstand!.frame!.base.p;
    window.hardstand!.camera([p[0] - 1.6, p[1] - 2.1, 1.25], [p[0] + 0.45, p[1] + 0.3, 0.1]);
  });
  await page.waitForTimeout(600);
});
await hilly.stop();

const scene = makeScene("log", urdf, flat, 1);
const push =
  (after: number, force: number) =>
  (simulation: Simulation, frame: number): void => {
    if (frame === after)
      simulation.order("push", {
        link: "trunk",
        force_n: [0, force, 0],
        point_m: [0, 0, 0],
        duration_s: 0.15,
      });
    if (frame === 700) simulation.order("fault", { kind: "motor_derated", share: 0.3 });
  };
const first = makeRun({
  scene,
  simulation: new Simulation(1, flat, "trot"),
  seconds: 20,
  title: "run.mcap",
  at: push(240, 60),
});
const second = makeRun({
  scene,
  simulation: new Simulation(1, flat, "trot"),
  seconds: 20,
  title: "other.mcap",
  at: push(240, 190),
});
const log = await FakeServer.start({ page: PAGE, run: first });
await shot("log", log.url, {}, async (page) => {
  await page.evaluate(() => window.hardstand!.seek(8.2));
  await page.click("text=FR_calf");
  await page.waitForTimeout(800);
});
await log.stop();
const both = await FakeServer.start({ page: PAGE, run: first, run2: second });
await shot("overlay", both.url, { colorScheme: "light" }, async (page) => {
  await page.evaluate(() => window.hardstand!.seek(4.55));
  await page.click("text=FL_hip");
  await page.waitForTimeout(800);
});
await shot("overlay-dark", both.url, {}, async (page) => {
  await page.evaluate(() => window.hardstand!.seek(4.55));
  await page.waitForTimeout(800);
});
await both.stop();
if (existsSync(PLANT)) {
  const plant = pathToFileURL(PLANT).href;
  const pushed = async (page: Page): Promise<void> => {
    const push = { link: "trunk", force_n: [0, 90, 0], point_m: [0, 0, 0], duration_s: 0.15 };
    await page.evaluate((request) => window.hardstand!.order("push", request), push);
    await page.waitForTimeout(1500);
  };
  await shot("plant", plant, {}, pushed);
  await shot("plant-light", plant, { colorScheme: "light" }, async (page) => {
    await page.selectOption('[aria-label="contact law"]', "rigid");
    await page.waitForTimeout(1000);
    await page.keyboard.press("Space");
    await page.keyboard.press("ArrowLeft");
    await page.waitForTimeout(500);
  });
  await shot("plant-one-dock", plant, { viewport: { width: 1100, height: 760 } }, pushed);
  await shot("plant-failed", plant, { colorScheme: "light" }, async (page) => {
    await page.click('[data-panel="faults"] summary');
    await page.evaluate(async () => {
      await window.hardstand!.order("fault", { kind: "payload", link: "trunk", mass_kg: 2 });
      await window.hardstand!.order("stop");
      const push = { link: "trunk", force_n: [0, 0, 3e5], point_m: [0, 0, 0], duration_s: 1 };
      await window.hardstand!.order("push", push);
    });
    await page.waitForFunction(() => window.hardstand!.frame!.failure !== null);
    await page.waitForTimeout(800);
  });
  await shot("plant-phone", plant, phone, nothing);
  await shot("plant-phone-scrolled", plant, { ...phone, colorScheme: "light" }, async (page) => {
    await page.evaluate(() => window.scrollTo(0, 560));
    await page.waitForTimeout(400);
  });
}
const mesh = process.env["MESH_URDF"];
if (mesh !== undefined) {
  const { meshRobot } = await import("./mesh-robot.ts");
  const robot = meshRobot(mesh, readFileSync);
  const simulation = new Simulation(1, flat, "stand");
  const server = await FakeServer.start({
    page: PAGE,
    scene: { ...makeScene("live", robot.urdf, flat, 1), ...robot.scene },
    simulation: robot.still(simulation),
    meshes: robot.meshes,
  });
  await shot("meshes", server.url, {}, async (page) => {
    await page.evaluate(() => window.hardstand!.ready());
    await page.waitForTimeout(1200);
  });
  await server.stop();
}
await browser.close();
