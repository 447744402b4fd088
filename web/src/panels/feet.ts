import { usedShare } from "../scene/contacts.ts";
import { shareCss } from "../scene/palette.ts";
import type { App } from "../app.ts";
import { h, setText } from "../ui/dom.ts";
import { fixed } from "../ui/format.ts";
import { key } from "./joints.ts";
import { Panel } from "./panel.ts";
import { Plot, SERIES_COLORS } from "./plot.ts";

/** Normal forces of the feet, and how much of its friction cone each contact uses. */
export class FeetPanel extends Panel {
  private feet: { dot: HTMLElement; bar: HTMLElement; force: HTMLElement }[] = [];
  private contacts: {
    element: HTMLElement;
    name: HTMLElement;
    normal: HTMLElement;
    bar: HTMLElement;
    share: HTMLElement;
    slip: HTMLElement;
  }[] = [];
  private readonly footList = h("div", { class: "rows" });
  private readonly contactList = h("div", { class: "rows" });
  private readonly legend = h("div", { class: "legend" });
  private readonly plot: Plot;

  constructor(app: App) {
    super(app, "Feet", true);
    this.plot = new Plot(app, "N", 108);
    this.body.append(
      this.footList,
      this.legend,
      this.plot.element,
      h("div", { class: "sub" }, "Contacts"),
      h(
        "div",
        { class: "row contact head" },
        h("span"),
        h("span", { class: "num" }, "normal"),
        h("span", {}, "cone used"),
        h("span"),
        h("span", { class: "num" }, "slip"),
      ),
      this.contactList,
    );
  }

  override rebuild(): void {
    const feet = this.app.scene?.feet ?? [];
    this.feet = [];
    this.footList.replaceChildren(
      ...feet.map((foot) => {
        const parts = { dot: h("span", { class: "dot" }), bar: h("i"), force: h("span", { class: "num" }) };
        this.feet.push(parts);
        const gauge = h("div", { class: "gauge clip" }, parts.bar);
        return h(
          "div",
          { class: "row foot" },
          parts.dot,
          h("span", { class: "name" }, foot.name),
          gauge,
          parts.force,
        );
      }),
    );
    const colors = feet.map((_, i) => SERIES_COLORS[i % SERIES_COLORS.length] ?? "--measured");
    this.legend.replaceChildren(...feet.map((foot, i) => key(colors[i] ?? "--measured", foot.name)));
    this.plot.setLines(
      feet.map((foot, i) => ({
        label: foot.name,
        color: colors[i] ?? "--measured",
        column: "foot_normal_n",
        index: i,
      })),
    );
  }

  override refreshNote(): void {
    const { frame, scene } = this.app;
    if (frame === null || scene === null) return;
    const carried = frame.feet.reduce((sum, foot) => sum + foot.force[2], 0);
    const weight = scene.mass_kg * Math.hypot(...scene.gravity_m_per_s2);
    this.setNote(`carry ${fixed(carried, 1)} N of m·g ${fixed(weight, 1)} N`);
  }

  refresh(): void {
    const { frame, scene } = this.app;
    if (frame === null || scene === null) return;
    const weight = Math.max(scene.mass_kg * Math.hypot(...scene.gravity_m_per_s2), 1e-6);
    this.feet.forEach((foot, i) => {
      const normal = frame.foot_normal_n[i] ?? 0;
      foot.dot.classList.toggle("down", frame.foot_contact[i] === true);
      foot.bar.style.transform = `scaleX(${Math.min(normal / weight, 1).toFixed(3)})`;
      foot.bar.style.background = "var(--measured)";
      setText(foot.force, `${fixed(normal, 1)} N`);
    });
    frame.contacts.forEach((contact, i) => {
      const row = this.contacts[i] ?? this.grow();
      row.element.hidden = false;
      const share = usedShare(contact);
      setText(row.name, scene.stations[contact.station]?.name ?? contact.name ?? "shapes");
      setText(row.normal, `${fixed(contact.normal_n, 1)} N`);
      row.bar.style.transform = `scaleX(${Math.min(share, 1).toFixed(3)})`;
      row.bar.style.background = shareCss(share);
      setText(row.share, `${(100 * share).toFixed(0)} %`);
      const slides = contact.sliding > 0.5;
      setText(row.slip, `${fixed(1000 * contact.slip_m_per_s, 1)} mm/s`);
      row.slip.style.color = slides ? "var(--bad)" : "";
    });
    for (let i = frame.contacts.length; i < this.contacts.length; i++) {
      const row = this.contacts[i];
      if (row !== undefined) row.element.hidden = true;
    }
    this.plot.refresh();
  }

  private grow(): (typeof this.contacts)[number] {
    const row = {
      element: h("div", { class: "row contact" }),
      name: h("span", { class: "name" }),
      normal: h("span", { class: "num" }),
      bar: h("i"),
      share: h("span", { class: "num" }),
      slip: h("span", { class: "num" }),
    };
    row.element.append(row.name, row.normal, h("div", { class: "gauge clip" }, row.bar), row.share, row.slip);
    this.contacts.push(row);
    this.contactList.append(row.element);
    return row;
  }
}
