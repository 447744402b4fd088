// Makes the page that carries the plant: `node plant.mjs MODULE.wasm SCENARIO.toml ROBOT.urdf OUT.html`.
import { readFileSync, writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";

const PAGE = new URL("../crates/view/page/index.html", import.meta.url);
const USAGE = "usage: node plant.mjs MODULE.wasm SCENARIO.toml ROBOT.urdf OUT.html";
const SCRIPTS = "script-src 'self' 'unsafe-inline'";

/** Replaces the only occurrence: a page in which there are more is not the page that this program knows. */
function replaceOnly(text, wanted, by) {
  const parts = text.split(wanted);
  if (parts.length !== 2) throw new Error(`the page has ${parts.length - 1} times ${wanted}, not once`);
  return parts.join(by);
}

function robotName(urdf) {
  const name = /<robot\s[^>]*?\bname\s*=\s*["']([^"']*)["']/.exec(urdf)?.[1];
  if (name === undefined) throw new Error("the URDF has no <robot name=…>");
  return name;
}

function elements(module, scenario, robot) {
  // mtime is 0 in what zlib writes, so the same module gives the same page.
  const packed = gzipSync(module, { level: 9 }).toString("base64");
  const parts = JSON.stringify({ name: robotName(robot), scenario, robot }).replaceAll("<", "\\u003c");
  return [
    `<script id="hardstand-plant" type="text/plain">${packed}</script>`,
    `<script id="hardstand-plant-robot" type="application/json">${parts}</script>`,
    "</body>",
  ].join("\n");
}

function main([module, scenario, robot, out]) {
  if (out === undefined) throw new Error(USAGE);
  const page = readFileSync(PAGE, "utf8");
  // The page that the daemon serves must not compile WebAssembly; only this one may.
  const allowed = replaceOnly(page, SCRIPTS, `${SCRIPTS} 'wasm-unsafe-eval'`);
  const added = elements(readFileSync(module), readFileSync(scenario, "utf8"), readFileSync(robot, "utf8"));
  const text = replaceOnly(allowed, "</body>", added);
  writeFileSync(out, text);
  console.log(`${out}: ${Buffer.byteLength(text)} bytes`);
}

main(process.argv.slice(2));
