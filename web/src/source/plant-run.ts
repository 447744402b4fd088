import type { Answer, Frame, Scene } from "../protocol/types.ts";
import { WasmPlant } from "./wasm-plant.ts";

/** What a page with a plant carries. */
export interface PlantParts {
  module: WebAssembly.Module;
  name: string;
  scenario: string;
  robot: string;
}

export const CONTACT_LAWS = ["exponential_spring", "hunt_crossley", "rigid"] as const;
export type ContactLaw = (typeof CONTACT_LAWS)[number];

/** Ticks between two looks at the clock. */
const CHUNK = 8;

/** One run of the plant: where it is, what was put into it, and the ticks to return to. */
export class PlantRun {
  readonly law: ContactLaw;
  tick = 0;
  failure: string | null = null;
  /** After a trap the module cannot be used again. */
  broken = false;
  private readonly plant: WasmPlant;
  private inputTicks: number[] = [];
  private readonly saved = new Map<number, number>();
  private lastSaved = 0;
  private lastFrame: Frame;

  private constructor(plant: WasmPlant, law: ContactLaw) {
    this.plant = plant;
    this.law = law;
    this.lastFrame = plant.frame();
  }

  static async open(parts: PlantParts, law: ContactLaw): Promise<PlantRun> {
    const { module, scenario, robot } = parts;
    const plant = await WasmPlant.open(module, { scenario, robot, set: [`contact.model=${law}`] });
    return new PlantRun(plant, law);
  }

  get scene(): Scene {
    return this.plant.scene;
  }

  get time_s(): number {
    return this.tick * this.scene.period_ns * 1e-9;
  }

  /** Runs until a tick, until `deadline` of the clock of `performance.now()`, or until the plant fails. */
  advance(wanted: number, deadline = Infinity): void {
    while (this.tick < wanted && this.failure === null) {
      this.go(Math.min(this.tick + CHUNK, wanted));
      if (performance.now() > deadline) return;
    }
  }

  /** Returns how many inputs have thereby not been given. */
  back(tick: number): number {
    this.failure = null;
    this.go(tick);
    for (const [id, saved] of this.saved) if (saved > tick) this.saved.delete(id);
    const before = this.inputTicks.length;
    this.inputTicks = this.inputTicks.filter((input) => input < tick);
    return before - this.inputTicks.length;
  }

  give(order: string, request: object): Answer {
    const answer = this.guarded(() => this.plant.order(order, request));
    if (answer === null) return { ok: false, text: this.failure ?? "" };
    if (answer.ok) this.inputTicks.push(this.tick);
    return answer;
  }

  frame(): Frame {
    this.lastFrame = this.guarded(() => this.plant.frame()) ?? this.lastFrame;
    // The module names the failure in few words; its reason is a sentence.
    return { ...this.lastFrame, failure: this.lastFrame.failure ?? this.failure };
  }

  /** The inputs so far as a scenario, with the state that it leads to. */
  scenario(): string {
    const text = this.guarded(() => this.plant.scenario()) ?? "";
    return `# The state at tick ${this.tick} has the digest ${this.frame().digest}.\n${text}`;
  }

  save(): number {
    this.saved.set(++this.lastSaved, this.tick);
    return this.lastSaved;
  }

  savedTick(id: number): number | undefined {
    return this.saved.get(id);
  }

  private go(tick: number): void {
    const reason = this.guarded(() => this.plant.runTo(tick) ?? "");
    if (reason === "") this.tick = tick;
    if (reason === "" || reason === null) return;
    this.failure = reason;
    this.tick = this.plant.frame().tick;
  }

  /** A trap is a failure of the plant, too; what was computed is then lost. */
  private guarded<T>(act: () => T): T | null {
    if (this.broken) return null;
    try {
      return act();
    } catch (error) {
      this.broken = true;
      this.failure = `the module has stopped (${error instanceof Error ? error.message : String(error)})`;
      return null;
    }
  }
}
