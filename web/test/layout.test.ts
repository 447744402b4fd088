import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Browser } from "playwright-core";
import { launch, open } from "./browser.ts";
import type { FakeServer } from "./fake/server.ts";
import { terrain } from "./fake/world.ts";
import { FAST, liveFake, shown, SMALL } from "./helpers.ts";
import { statSync } from "node:fs";
import { PAGE } from "./paths.ts";

let browser: Browser;
let server: FakeServer;

before(async () => {
  browser = await launch();
  server = (await liveFake(terrain())).server;
});

after(async () => {
  await browser.close();
  await server.stop();
});

test("the page is one file of at most 1.2 MB", () => {
  assert.ok(statSync(PAGE).size <= 1.2e6);
});

test("light and dark, help, keys, joint plots", async () => {
  const { page, errors } = await open(browser, server.url + FAST, { ...SMALL, colorScheme: "light" });
  await shown(page);
  const theme = (): Promise<string | undefined> =>
    page.evaluate(() => document.documentElement.dataset["theme"]);
  assert.equal(await theme(), "light");
  await page.keyboard.press("t");
  assert.equal(await theme(), "dark");
  await page.keyboard.press("?");
  assert.ok(await page.isVisible(".help"));
  await page.keyboard.press("?");
  assert.ok(!(await page.isVisible(".help")));
  await page.click('button.joint:has-text("FL_calf")');
  await page.waitForSelector('[data-panel="joints"] .uplot');
  await page.keyboard.press("f");
  assert.equal(await page.locator('[data-action="follow"].on').count(), 0);
  await page.keyboard.press("f");
  await page.click('[data-action="layers"]');
  await page.click("text=Friction cones");
  // on a busy machine it says nothing about the page, so it is told only
  console.log(`a drawing takes ${await page.evaluate(() => window.hardstand!.drawMs)} ms`);
  assert.deepEqual(errors, []);
  await page.context().close();
});

test("phone width: nothing is cut off", async () => {
  const { page, errors } = await open(browser, server.url + FAST, {
    viewport: { width: 390, height: 844 },
    isMobile: true,
    hasTouch: true,
  });
  await shown(page);
  await page.waitForTimeout(300);
  assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 390);
  for (const name of ["play", "step", "back", "stop"]) {
    const box = (await page.locator(`[data-action="${name}"]`).boundingBox())!;
    assert.ok(box.x >= 0 && box.x + box.width <= 390 && box.height >= 28, name);
  }
  assert.deepEqual(errors, []);
  await page.context().close();
});
