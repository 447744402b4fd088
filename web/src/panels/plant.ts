import type { App } from "../app.ts";
import { CONTACT_LAWS, type ContactLaw } from "../source/plant-run.ts";
import { h, setText } from "../ui/dom.ts";
import { fixed } from "../ui/format.ts";
import { Panel } from "./panel.ts";

/** The plant in the page: its contact law, its digest, and how the daemon repeats the run. */
export class PlantPanel extends Panel {
  private readonly law = h("select", { class: "wide", "aria-label": "contact law" });
  private readonly digest = h("span", { class: "digest", "aria-label": "digest" });
  private readonly tick = h("span", { "aria-label": "tick" });
  private readonly cost = h("span", { "aria-label": "cost" });
  private readonly run = h("div");

  constructor(app: App) {
    super(app, "Plant", true);
    this.law.append(...CONTACT_LAWS.map((law) => h("option", { value: law }, law.replaceAll("_", " "))));
    this.law.addEventListener("change", () => void app.setContactLaw(this.law.value as ContactLaw));
    const save = h("button", { class: "on", onclick: () => this.save() }, "Scenario of this run");
    save.dataset["action"] = "scenario";
    this.body.append(
      h("div", { class: "field" }, h("span", { class: "soft" }, "contact law"), this.law),
      h(
        "div",
        { class: "pairs state" },
        h("span", {}, "digest"),
        this.digest,
        h("span", {}, "tick"),
        this.tick,
        h("span", { title: "computing for one simulated second" }, "1 s takes"),
        this.cost,
      ),
      h("div", { class: "buttons" }, save),
      h(
        "p",
        { class: "summary" },
        "The scenario contains all inputs so far. Save it in the folder config of the sources and repeat the run there, with the controller in a second terminal. replay prints the same digest.",
      ),
      h(
        "pre",
        { class: "commands" },
        this.run,
        h("div", {}, "hardstand controller stand --join legs"),
        h("div", {}, "hardstand replay run.mcap"),
      ),
    );
  }

  override rebuild(): void {
    const { plant } = this.app;
    this.element.hidden = plant === null;
    if (plant !== null) this.law.value = plant.run.law;
  }

  override refreshNote(): void {
    this.setNote(this.app.frame?.digest ?? "");
  }

  refresh(): void {
    const { frame, plant, scene } = this.app;
    if (frame === null || plant === null || scene === null) return;
    setText(this.digest, frame.digest);
    setText(this.tick, String(frame.tick));
    setText(this.cost, `${fixed(plant.pace.costMs, 0)} ms`);
    const seconds = Number((frame.tick * scene.period_ns * 1e-9).toFixed(9));
    setText(
      this.run,
      `hardstand run run.toml --mode lockstep --pace free --duration ${seconds} --log run.mcap`,
    );
    // A law that was refused is not in use.
    if (document.activeElement !== this.law) this.law.value = plant.run.law;
  }

  private save(): void {
    const { plant } = this.app;
    if (plant === null) return;
    const url = URL.createObjectURL(new Blob([plant.run.scenario()], { type: "application/toml" }));
    h("a", { href: url, download: "run.toml" }).click();
    // The browser reads it after the click.
    window.setTimeout(() => URL.revokeObjectURL(url), 10_000);
  }
}
