import type { App } from "../app.ts";
import type { PushTool } from "../scene/push.ts";
import { h, setText } from "../ui/dom.ts";
import { fixed } from "../ui/format.ts";
import { Panel } from "./panel.ts";

/** The ground's friction, the push tool and saved states. */
export class WorldPanel extends Panel {
  private readonly friction = h("input", {
    type: "range",
    min: "0",
    max: "1.5",
    step: "0.01",
    value: "0.8",
    "aria-label": "static friction",
  });
  private readonly frictionText = h("span", { class: "num" });
  private readonly list = h("div");
  private ratio = 1;
  private moving = false;

  constructor(app: App, push: PushTool) {
    super(app, "Ground and pushes", true);
    this.friction.addEventListener("input", () => {
      this.moving = true;
      this.showFriction();
    });
    this.friction.addEventListener("change", () => {
      const mu_static = Number(this.friction.value);
      const mu_kinetic = Number((mu_static * this.ratio).toFixed(4));
      void app.order("friction", { mu_static, mu_kinetic }).finally(() => (this.moving = false));
    });
    const seconds = h("select", { class: "wide", "aria-label": "duration of a push" });
    for (const s of [0.02, 0.05, 0.1, 0.15, 0.25, 0.5, 1])
      seconds.append(h("option", { value: String(s) }, `${s} s`));
    seconds.value = String(push.duration_s);
    seconds.addEventListener("change", () => (push.duration_s = Number(seconds.value)));
    this.body.append(
      h(
        "div",
        { class: "field", title: "static coefficient of all stations; the kinetic one keeps its ratio" },
        h("span", { class: "soft" }, "friction"),
        this.friction,
        this.frictionText,
      ),
      h("div", { class: "field" }, h("span", { class: "soft" }, "a push lasts"), seconds),
      h(
        "p",
        { class: "summary" },
        "Drag a link of the robot to push it. With Shift it is pulled until you let go.",
      ),
      this.list,
    );
    app.on("snapshots", () => this.showSnapshots());
    this.showFriction();
  }

  override rebuild(): void {
    this.element.hidden = this.app.live === null;
    this.moving = false;
    this.showSnapshots();
  }

  override refreshNote(): void {
    this.setNote(`µ ${fixed(Number(this.friction.value), 2)}`);
  }

  refresh(): void {
    // While the slider is moved it shows what is wanted.
    const coefficients = this.app.frame?.friction;
    if (this.moving || coefficients == null) return;
    const [mu_static, mu_kinetic] = coefficients;
    this.ratio = mu_static > 0 ? mu_kinetic / mu_static : 1;
    if (Math.abs(Number(this.friction.value) - mu_static) > 0.006) this.friction.value = mu_static.toFixed(2);
    this.showFriction();
  }

  private showFriction(): void {
    const mu = Number(this.friction.value);
    setText(this.frictionText, `${fixed(mu, 2)} / ${fixed(mu * this.ratio, 2)}`);
  }

  private showSnapshots(): void {
    if (this.app.snapshots.length === 0) {
      this.list.replaceChildren();
      return;
    }
    this.list.replaceChildren(
      h("div", { class: "sub" }, "Saved states"),
      ...this.app.snapshots
        .slice(0, 8)
        .map((snapshot) =>
          h(
            "div",
            { class: "field" },
            h("span", { class: "num" }, `${fixed(snapshot.time_s, 3)} s`),
            h("span", { class: "faint" }, `tick ${snapshot.tick}`),
            h("button", { onclick: () => void this.app.order("restore", { id: snapshot.id }) }, "Restore"),
          ),
        ),
    );
  }
}
