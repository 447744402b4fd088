import type { Answer } from "../protocol/types.ts";
import { Pace } from "./pace.ts";
import { PlantRun, type ContactLaw, type PlantParts } from "./plant-run.ts";
import type { Source, SourceHandlers } from "./source.ts";

/** The page must stay usable on a machine that cannot keep up. */
const BUDGET_MS = 50;
/** As fast as possible still leaves time to draw. */
const FREE_BUDGET_MS = 25;
const LONGEST_STEP = 2000;
const NO_STOP = "The plant in the page knows no emergency stop; Reset starts again.";
const NO_CLEAR = "The plant in the page cannot clear faults; step back to a time before them, or reset.";

type Fields = Record<string, unknown>;

/** The plant as a module in this page. Time is kept here; inputs go to the module. */
export class PlantSource implements Source {
  run: PlantRun;
  readonly pace: Pace;
  private readonly parts: PlantParts;
  private readonly handlers: SourceHandlers;
  private runId = 0;
  private paused = false;
  private until: number | null = null;
  private timer = 0;

  private constructor(parts: PlantParts, handlers: SourceHandlers, run: PlantRun) {
    this.parts = parts;
    this.handlers = handlers;
    this.run = run;
    this.pace = new Pace(run.scene.period_ns * 1e-9);
    document.addEventListener("visibilitychange", this.hidden);
  }

  static async open(parts: PlantParts, handlers: SourceHandlers): Promise<PlantSource> {
    return new PlantSource(parts, handlers, await PlantRun.open(parts, "exponential_spring"));
  }

  /** Shows the initial state and lets time pass. */
  start(): void {
    this.handlers.connection("plant", "");
    this.begin();
    this.timer = requestAnimationFrame(this.advance);
  }

  close(): void {
    cancelAnimationFrame(this.timer);
    document.removeEventListener("visibilitychange", this.hidden);
  }

  /** Begins again with another contact law. If the module refuses it, the run goes on as it was. */
  async setContactLaw(law: ContactLaw): Promise<Answer> {
    try {
      await this.reopen(law);
      return yes(`a new run with ${law.replaceAll("_", " ")} contacts`);
    } catch (error) {
      return no(error instanceof Error ? error.message : String(error));
    }
  }

  async order(name: string, request: object = {}): Promise<Answer> {
    try {
      return await this.carryOut(name, request as Fields);
    } catch (error) {
      return no(error instanceof Error ? error.message : String(error));
    }
  }

  private carryOut(name: string, request: Fields): Answer | Promise<Answer> {
    switch (name) {
      case "pause":
        this.pause();
        return yes(`paused after tick ${this.run.tick}`);
      case "resume":
        return this.resume(null);
      case "step":
        return this.step(number(request, "ticks"));
      case "run_until":
        return this.runUntil(number(request, "time_s"));
      case "speed":
        return this.setSpeed(number(request, "speed"));
      case "reset":
        return this.reset();
      case "snapshot":
        return this.snapshot();
      case "restore":
        return this.restore(number(request, "id"));
      case "push":
      case "friction":
      case "fault":
        return this.give(name, request);
      case "stop":
      case "arm":
        return no(NO_STOP);
      case "clear":
        return no(NO_CLEAR);
      default:
        return no(`There is no order ${name}.`);
    }
  }

  private pause(): void {
    this.paused = true;
    this.until = null;
    this.pace.interrupt();
    this.show();
  }

  private resume(until: number | null): Answer {
    if (this.run.failure !== null) return this.failed();
    this.paused = false;
    this.until = until;
    this.show();
    return yes(until === null ? `resumed after tick ${this.run.tick}` : `runs until tick ${until}`);
  }

  private runUntil(time_s: number): Answer {
    const tick = Math.round((time_s * 1e9) / this.run.scene.period_ns);
    if (tick <= this.run.tick) return no(`${time_s} s is not later than now; step back instead.`);
    return this.resume(tick);
  }

  private setSpeed(speed: number): Answer {
    if (!(speed >= 0)) return no(`speed is ${speed}; it must be 0 or more`);
    this.pace.speed = speed;
    this.pace.interrupt();
    return yes(speed === 0 ? "as fast as possible" : `speed × ${speed}`);
  }

  private step(ticks: number): Answer {
    const { run } = this;
    if (!Number.isInteger(ticks) || ticks === 0) return no("ticks must be a whole number, not 0");
    if (ticks > LONGEST_STEP) return no(`A step has at most ${LONGEST_STEP} ticks; run until a time instead.`);
    if (ticks < 0 && run.tick === 0) return no("There is no state before tick 0.");
    if (ticks < 0) return this.back(run.tick + ticks);
    if (run.failure !== null) return this.failed();
    run.advance(run.tick + ticks);
    this.pause();
    if (run.failure !== null) return this.failNow();
    return yes(`paused after tick ${run.tick}`);
  }

  private back(tick: number): Answer {
    const { run } = this;
    if (run.broken) return this.failed();
    const forgotten = run.back(Math.max(tick, 0));
    this.pause();
    if (run.failure !== null) return this.failNow();
    const text = forgotten === 0 ? "" : `; forgets ${forgotten === 1 ? "1 input" : `${forgotten} inputs`}`;
    this.event("back", `to tick ${run.tick}${text}`);
    return yes(`back to tick ${run.tick}${text}`);
  }

  private snapshot(): Answer {
    const id = this.run.save();
    return { ok: true, text: `state ${id} after tick ${this.run.tick}`, id };
  }

  private restore(id: number): Answer {
    const tick = this.run.savedTick(id);
    if (tick === undefined) return no(`State ${id} is not of this run, or the run went back behind it.`);
    return this.back(tick);
  }

  private async reset(): Promise<Answer> {
    await this.reopen(this.run.law);
    this.event("reset", "to the initial state");
    return yes("reset to the initial state");
  }

  private give(order: string, request: object): Answer {
    const answer = this.run.give(order, request);
    if (answer.ok) this.event(order, answer.text);
    return answer;
  }

  private async reopen(law: ContactLaw): Promise<void> {
    const next = await PlantRun.open(this.parts, law);
    if (this.run.failure !== null) this.paused = false;
    this.run = next;
    this.begin();
  }

  /** The page shows a new run from its beginning. */
  private begin(): void {
    this.runId++;
    this.until = null;
    this.pace.interrupt();
    this.handlers.scene({ ...this.run.scene, run_id: this.runId });
    this.show();
  }

  private readonly hidden = (): void => this.pace.interrupt();

  private readonly advance = (now: number): void => {
    this.timer = requestAnimationFrame(this.advance);
    if (this.paused || document.hidden) return;
    const { run, pace } = this;
    const from = run.tick;
    const target = Math.min(from + pace.due(now), this.until ?? Infinity);
    if (target > from) {
      const start = performance.now();
      run.advance(target, start + (pace.speed === 0 ? FREE_BUDGET_MS : BUDGET_MS));
      pace.done(run.tick - from, performance.now() - start, run.tick < target);
    }
    if (run.failure !== null) this.failNow();
    else if (this.until !== null && run.tick >= this.until) this.pause();
    else if (run.tick > from) this.show();
  };

  private failed(): Answer {
    const way = this.run.broken ? "Reset starts again." : "Step back, or reset.";
    return no(`The plant has failed: ${this.run.failure ?? ""}. ${way}`);
  }

  private failNow(): Answer {
    this.pause();
    this.event("plant_failure", this.run.failure ?? "");
    return this.failed();
  }

  private show(): void {
    const frame = { ...this.run.frame(), run_id: this.runId };
    this.handlers.frame(this.paused ? { ...frame, phase: "paused" } : frame);
  }

  private event(kind: string, text: string): void {
    const { tick, time_s } = this.run;
    this.handlers.event({ run_id: this.runId, tick, time_s, kind, controller: "", text });
  }
}

function number(request: Fields, name: string): number {
  const value = request[name];
  if (typeof value === "number" && Number.isFinite(value)) return value;
  throw new Error(`${name} is missing or not a number`);
}

const yes = (text: string): Answer => ({ ok: true, text });
const no = (text: string): Answer => ({ ok: false, text });
