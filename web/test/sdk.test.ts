import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { launch, open } from "./browser.ts";
import { FakeServer } from "./fake/server.ts";
import { Simulation } from "./fake/simulation.ts";
import { flat, makeScene, quadrupedUrdf } from "./fake/world.ts";
import { FAST, shown, SMALL } from "./helpers.ts";
import { PAGE } from "./paths.ts";

/** FOXGLOVE_PYTHON is a Python with PyPI's foxglove-sdk: the reference for the protocol. */
const python = process.env["FOXGLOVE_PYTHON"];

test(
  "the page speaks the protocol of Foxglove's own server",
  { skip: python === undefined, timeout: 90_000 },
  async (t) => {
    const folder = mkdtempSync(join(tmpdir(), "hardstand-sdk-"));
    t.after(() => rmSync(folder, { recursive: true }));
    const simulation = new Simulation(1, flat, "stand");
    const frames = Array.from({ length: 60 }, () => {
      simulation.step(16);
      return simulation.frame();
    });
    const file = join(folder, "data.json");
    writeFileSync(file, JSON.stringify({ scene: makeScene("live", quadrupedUrdf(), flat, 1), frames }));
    const script = fileURLToPath(new URL("../../sdk_server.py", import.meta.url));
    const server = spawn(python ?? "", [script, file], { stdio: ["ignore", "pipe", "inherit"] });
    t.after(() => server.kill("SIGKILL"));
    const port = await new Promise<string>((resolve) =>
      server.stdout.once("data", (data: Buffer) => resolve(data.toString().trim())),
    );
    const pages = await FakeServer.start({ page: PAGE });
    t.after(() => pages.stop());
    const browser = await launch();
    t.after(() => browser.close());
    const { page, errors } = await open(browser, pages.url + FAST, SMALL, `ws://127.0.0.1:${port}/`);
    await shown(page);
    const before = await page.evaluate(() => window.hardstand!.framesReceived);
    await page.waitForTimeout(1000);
    assert.ok((await page.evaluate(() => window.hardstand!.framesReceived)) > before + 10);
    const answer = await page.evaluate(() =>
      window.hardstand!.order("push", { link: "trunk", force_n: [1, 2, 3] }),
    );
    assert.deepEqual(answer, { ok: true, text: '/hardstand/push {"link": "trunk", "force_n": [1, 2, 3]}' });
    const failed = await page.evaluate(() => window.hardstand!.order("speed", { speed: -1 }));
    assert.equal(failed.ok, false);
    assert.match(failed.text, /no such speed/);
    const missing = await page.evaluate(() => window.hardstand!.order("reset"));
    assert.equal(missing.ok, false);
    assert.deepEqual(errors, []);
  },
);
