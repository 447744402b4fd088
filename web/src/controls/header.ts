import type { App } from "../app.ts";
import { AUTHORITY_KIND } from "../panels/owner.ts";
import type { Stage } from "../scene/stage.ts";
import { h, icon, setText } from "../ui/dom.ts";
import type { ThemeSwitch } from "../ui/theme.ts";
import type { Help } from "./help.ts";

const PHASE_KIND: Record<string, string> = {
  running: "good",
  paused: "warn",
  waiting: "warn",
  stopped: "bad",
  "awaiting a controller": "warn",
};

/** With several robots of one description the name in the keys tells which one it is. */
export function robotName({ name, robot }: { name?: string; robot: string }): string {
  return name === undefined || name === robot ? robot : `${name} (${robot})`;
}

/** The line at the top: which robot, in which state, and how the page looks. */
export class Header {
  readonly element = h("header", { class: "header" });
  readonly menu = h("div", { class: "menu", hidden: true });
  private readonly robot = h("span", { class: "robot" });
  private readonly run = h("span", { class: "pill wide" });
  private readonly ghost = h("span", {
    class: "pill ghost wide",
    hidden: true,
    title: "Take the second run away",
  });
  private readonly phase = h("span", { class: "pill" });
  private readonly authority = h("span", { class: "pill" });
  private readonly tick = h("span", { class: "num wide" });
  private readonly rate = h("span", { class: "num wide" });
  private readonly themeButton: HTMLButtonElement;

  constructor(
    private readonly app: App,
    private readonly stage: Stage,
    theme: ThemeSwitch,
    help: Help,
  ) {
    const brand = h("div", { class: "brand" });
    brand.innerHTML =
      '<svg viewBox="0 0 32 32" fill="none" stroke="currentColor" stroke-width="3" stroke-linecap="round"><path d="M4 26h24M9 26V7M23 26V7M9 16h14"/></svg><span>Hardstand</span>';
    const button = (
      name: string,
      title: string,
      image: Parameters<typeof icon>[0],
      act: () => void,
    ): HTMLButtonElement => {
      const made = h("button", { class: "square", title, "aria-label": title, onclick: act }, icon(image));
      made.dataset["action"] = name;
      return made;
    };
    this.themeButton = button("theme", "Light or dark (T)", "sun", () => theme.toggle());
    this.element.append(
      brand,
      this.robot,
      this.run,
      this.ghost,
      this.phase,
      this.authority,
      h("span", { class: "spring" }),
      this.tick,
      this.rate,
      button("layers", "What is shown", "layers", () => (this.menu.hidden = !this.menu.hidden)),
      this.themeButton,
      button("help", "Help (?)", "help", () => help.toggle()),
    );
    theme.onChange((now) => this.themeButton.replaceChildren(icon(now === "dark" ? "sun" : "moon")));
    this.ghost.addEventListener("click", () => app.overlay(null));
    this.fillMenu();
  }

  refresh(): void {
    const { app } = this;
    const frame = app.frame;
    setText(this.robot, app.scene === null ? "" : robotName(app.scene));
    const run = this.runName();
    setText(this.run, run);
    this.run.hidden = run === "";
    this.ghost.hidden = app.ghost === null;
    if (app.ghost !== null) setText(this.ghost, `over it ${app.ghost.header.title} ✕`);
    // What was shown last says nothing of a daemon that does not answer.
    const gone = app.live !== null && !app.answers;
    const phase =
      frame === null || gone ? "" : frame.failure !== null ? `failed: ${frame.failure}` : frame.phase;
    setText(this.phase, phase);
    this.phase.hidden = phase === "";
    this.phase.className = `pill ${frame?.failure != null ? "bad" : (PHASE_KIND[phase] ?? "")}`;
    const authority = frame?.authority ?? null;
    setText(this.authority, authority ?? "");
    this.authority.hidden = authority === null;
    if (authority !== null) this.authority.className = `pill authority ${AUTHORITY_KIND[authority]}`;
    this.authority.title = "what the drives obey";
    setText(this.tick, frame === null ? "" : `tick ${frame.tick}`);
    const factor = gone ? null : app.realTimeFactor;
    const drawn = `${this.stage.view.fps} fps`;
    setText(this.rate, factor === null ? drawn : `× ${factor.toFixed(2)}  ${drawn}`);
  }

  private runName(): string {
    const { frame, plant, player } = this.app;
    if (player !== null) return player.run.header.title;
    if (plant !== null) return "plant in this page";
    return frame === null ? "" : `run ${frame.run_id.toString(16).padStart(8, "0")}`;
  }

  private fillMenu(): void {
    const { contacts, options } = this.stage;
    const box = (text: string, now: boolean, set: (on: boolean) => void): HTMLElement => {
      const input = h("input", { type: "checkbox", checked: now });
      input.addEventListener("change", () => {
        set(input.checked);
        this.stage.refresh();
      });
      return h("label", {}, input, text);
    };
    this.menu.append(
      box("Force arrows", contacts.options.arrows, (on) => (contacts.options.arrows = on)),
      box("Friction cones", contacts.options.cones, (on) => (contacts.options.cones = on)),
      box("Anchors and slip", contacts.options.anchors, (on) => (contacts.options.anchors = on)),
      box("Numbers", options.labels, (on) => (options.labels = on)),
      box("Trails", options.trails, (on) => (options.trails = on)),
      box("Collision shapes", options.collisions, (on) => (options.collisions = on)),
      h("button", { onclick: () => this.stage.resetCamera() }, "Look at the robot"),
    );
  }
}
