import type { PlantParts } from "./plant-run.ts";
import { Run } from "./run.ts";

/** Where the page gets its data from, in this order: its own script elements, `GET run`, the WebSocket. */
export type Opened =
  | { kind: "log"; run: Run; second: Run | null }
  | { kind: "plant"; parts: PlantParts }
  | { kind: "live"; url: string }
  | { kind: "none" };

export async function open(): Promise<Opened> {
  const own = await embedded(document, "hardstand-run");
  if (own !== null) return { kind: "log", run: own, second: await embedded(document, "hardstand-run2") };
  const parts = await embeddedPlant();
  if (parts !== null) return { kind: "plant", parts };
  if (location.protocol === "file:") return { kind: "none" };
  const run = await served("run");
  if (run !== null) return { kind: "log", run, second: await served("run2") };
  return { kind: "live", url: webSocketUrl() };
}

/** A file dropped on the page: a run file, or a mailed page that carries one. */
export async function fromFile(file: File): Promise<Run> {
  const head = new Uint8Array(await file.slice(0, 2).arrayBuffer());
  if (head[0] === 0x1f && head[1] === 0x8b) return Run.load(file);
  const page = new DOMParser().parseFromString(await file.text(), "text/html");
  const run = await embedded(page, "hardstand-run");
  if (run === null) throw new Error(`${file.name} is neither a run file nor a page with a run in it.`);
  return run;
}

function elementText(page: Document, id: string): string | null {
  const text = page.getElementById(id)?.textContent?.trim();
  return text === undefined || text === "" ? null : text;
}

async function embedded(page: Document, id: string): Promise<Run | null> {
  const text = elementText(page, id);
  return text === null ? null : Run.load(new Blob([base64(text)]));
}

async function embeddedPlant(): Promise<PlantParts | null> {
  const text = elementText(document, "hardstand-plant");
  const robot = elementText(document, "hardstand-plant-robot");
  if (text === null || robot === null) return null;
  const stream = new Blob([base64(text)]).stream().pipeThrough(new DecompressionStream("gzip"));
  const module = await WebAssembly.compile(await new Response(stream).arrayBuffer());
  return { module, ...(JSON.parse(robot) as { name: string; scenario: string; robot: string }) };
}

async function served(path: string): Promise<Run | null> {
  const response = await fetch(path).catch(() => null);
  if (response === null || response.status !== 200) return null;
  const blob = await response.blob();
  const head = new Uint8Array(await blob.slice(0, 2).arrayBuffer());
  // A server that answers every path with a page has no run.
  return head[0] === 0x1f && head[1] === 0x8b ? Run.load(blob) : null;
}

/** Always the server of the page: a link must not lead an emergency stop elsewhere. */
function webSocketUrl(): string {
  return `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/`;
}

export function base64(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}
