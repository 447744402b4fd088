// Runs the WebAssembly module in Node: `node run.mjs MODULE.wasm LOG…` prints what the program of the same package does.
import { readFileSync } from "node:fs";

const [module, ...logs] = process.argv.slice(2);
const { instance } = await WebAssembly.instantiate(readFileSync(module), {});
const { memory, reserve, replay, cases, text, text_len } = instance.exports;
const answer = () => Buffer.from(memory.buffer, text(), text_len()).toString();

if (!cases()) {
  console.error(answer());
  process.exit(1);
}
process.stdout.write(answer());
for (const log of logs) {
  const bytes = readFileSync(log);
  const at = reserve(bytes.length);
  new Uint8Array(memory.buffer, at, bytes.length).set(bytes);
  if (!replay()) {
    console.error(`${log}: ${answer()}`);
    process.exit(1);
  }
  console.log(answer());
}
