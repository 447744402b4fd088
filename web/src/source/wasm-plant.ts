import type { Answer, Frame, Scene } from "../protocol/types.ts";

/** What the module exports; PROTOCOL.md says what each function does. */
interface Exports {
  memory: WebAssembly.Memory;
  reserve(length: number): number;
  text(): number;
  text_len(): number;
  open(): number;
  run_to(tick: number): number;
  order(): number;
  frame(): number;
  scenario(): number;
}

export interface PlantInput {
  scenario: string;
  robot: string;
  /** Overrides as `key=value`, with values in TOML. */
  set: string[];
}

/** Texts go in and out of the module's memory; nothing else is shared with it. */
export class WasmPlant {
  readonly scene: Scene;
  private readonly exports: Exports;

  private constructor(exports: Exports, input: PlantInput) {
    this.exports = exports;
    this.give(input);
    const opened = this.exports.open() === 1;
    const text = this.text();
    if (!opened) throw new Error(text);
    this.scene = JSON.parse(text) as Scene;
  }

  /** Each plant has a memory of its own, so that one that fails leaves nothing behind. */
  static async open(module: WebAssembly.Module, input: PlantInput): Promise<WasmPlant> {
    const { exports } = await WebAssembly.instantiate(module, {});
    return new WasmPlant(exports as unknown as Exports, input);
  }

  /** Returns why the plant failed, or null. */
  runTo(tick: number): string | null {
    return this.exports.run_to(tick) === 1 ? null : this.text();
  }

  order(order: string, request: object): Answer {
    this.give({ order, request });
    this.exports.order();
    return JSON.parse(this.text()) as Answer;
  }

  frame(): Frame {
    this.exports.frame();
    return JSON.parse(this.text()) as Frame;
  }

  scenario(): string {
    this.exports.scenario();
    return this.text();
  }

  private give(value: object): void {
    const bytes = new TextEncoder().encode(JSON.stringify(value));
    const at = this.exports.reserve(bytes.length) >>> 0;
    // Any call may enlarge the memory, which replaces its buffer.
    new Uint8Array(this.exports.memory.buffer, at, bytes.length).set(bytes);
  }

  private text(): string {
    const at = this.exports.text() >>> 0;
    const length = this.exports.text_len() >>> 0;
    return new TextDecoder().decode(new Uint8Array(this.exports.memory.buffer, at, length));
  }
}
