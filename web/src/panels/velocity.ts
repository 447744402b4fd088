import type { App } from "../app.ts";
import type { Vec3 } from "../protocol/types.ts";
import { h, setText } from "../ui/dom.ts";
import { fixed } from "../ui/format.ts";
import { Panel } from "./panel.ts";

/** What can be asked for: name, unit, limit of the slider, what a key asks for, and its two keys. */
const AXES = [
  { name: "ahead", unit: "m/s", max: 1.5, key: 0.5, keys: ["w", "s"] },
  { name: "left", unit: "m/s", max: 0.8, key: 0.3, keys: ["a", "d"] },
  { name: "turn left", unit: "rad/s", max: 2, key: 0.8, keys: ["q", "e"] },
] as const;
const DRIVING: readonly string[] = AXES.flatMap((axis) => axis.keys);
/** A slider that was moved follows the robot again after this, ms. */
const FOLLOWS_AFTER_MS = 1000;

/** The velocity that controllers that walk are asked for, and sliders and keys that ask for it. */
export class VelocityPanel extends Panel {
  private readonly values = AXES.map(() => h("span", { class: "num" }));
  private readonly sliders = AXES.map(({ name, max }) =>
    h("input", {
      type: "range",
      min: String(-max),
      max: String(max),
      step: "0.05",
      value: "0",
      "aria-label": `velocity ${name}`,
    }),
  );
  private readonly pad = h(
    "button",
    { title: "While this has the focus: W S ahead and back, A D sideways, Q E turn. Let go to stand." },
    "Keys W A S D Q E",
  );
  private readonly buttons = h(
    "div",
    { class: "buttons" },
    this.pad,
    h("button", { onclick: () => this.ask([0, 0, 0]) }, "Stand"),
  );
  private readonly held = new Set<string>();
  private touchedAt = -FOLLOWS_AFTER_MS;

  constructor(app: App) {
    super(app, "Velocity command", false);
    this.pad.dataset["action"] = "drive";
    for (const slider of this.sliders)
      slider.addEventListener("input", () =>
        this.ask(this.sliders.map((one) => Number(one.value)) as Vec3),
      );
    this.pad.addEventListener("keydown", (event) => this.press(event, true));
    this.pad.addEventListener("keyup", (event) => this.press(event, false));
    this.pad.addEventListener("blur", () => {
      if (this.held.size === 0) return;
      this.held.clear();
      this.ask([0, 0, 0]);
    });
    this.body.append(
      ...AXES.map(({ name }, i) =>
        h("div", { class: "field" }, h("span", { class: "soft" }, name), this.sliders[i]!, this.values[i]!),
      ),
      this.buttons,
    );
  }

  override rebuild(): void {
    const orders = this.app.live !== null;
    this.buttons.hidden = !orders;
    for (const slider of this.sliders) slider.disabled = !orders;
  }

  override refreshNote(): void {
    const asked = this.app.frame?.velocity_command;
    // The plant in the page has nothing that walks.
    this.element.hidden = asked === undefined || this.app.plant !== null;
    if (asked === undefined) return;
    const still = asked.every((value) => value === 0);
    this.setNote(still ? "stand" : asked.map((value) => fixed(value, 2)).join(", "));
  }

  refresh(): void {
    const asked = this.app.frame?.velocity_command;
    if (asked === undefined) return;
    const follows = performance.now() - this.touchedAt > FOLLOWS_AFTER_MS;
    AXES.forEach(({ unit }, i) => {
      const value = asked[i] ?? 0;
      setText(this.values[i]!, `${fixed(value, 2)} ${unit}`);
      if (follows) this.sliders[i]!.value = String(value);
    });
  }

  private press(event: KeyboardEvent, down: boolean): void {
    const key = event.key.toLowerCase();
    if (!DRIVING.includes(key) || event.ctrlKey || event.metaKey || event.altKey) return;
    // S and D mean something else where the pad has no focus.
    event.stopPropagation();
    event.preventDefault();
    if (event.repeat) return;
    if (down) this.held.add(key);
    else this.held.delete(key);
    const sign = (key: string): number => (this.held.has(key) ? 1 : 0);
    this.ask(AXES.map(({ key, keys }) => key * (sign(keys[0]) - sign(keys[1]))) as Vec3);
  }

  private ask(velocity: Vec3): void {
    this.touchedAt = performance.now();
    AXES.forEach((_, i) => (this.sliders[i]!.value = String(velocity[i] ?? 0)));
    this.app.drive(velocity);
  }
}
