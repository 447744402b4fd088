import type { App } from "../app.ts";
import type { FaultKind, FaultParameter } from "../protocol/types.ts";
import { h } from "../ui/dom.ts";
import { Panel } from "./panel.ts";

type Read = () => unknown;

/** A form for every kind of fault that the robot offers. */
export class FaultsPanel extends Panel {
  private readonly select = h("select", { class: "wide", "aria-label": "kind of fault" });
  private readonly summary = h("p", { class: "summary" });
  private readonly form = h("div");
  private readonly clears: HTMLElement[];
  private reads = new Map<FaultParameter, Read>();

  constructor(
    app: App,
    private readonly links: () => string[],
  ) {
    super(app, "Faults", false);
    this.select.addEventListener("change", () => this.showKind());
    const inject = h("button", { class: "on", onclick: () => this.inject() }, "Inject");
    inject.dataset["action"] = "inject";
    this.clears = [
      h("button", { onclick: () => void app.order("clear", { kind: this.select.value }) }, "Clear this kind"),
      h("button", { onclick: () => void app.order("clear", {}) }, "Clear all"),
    ];
    this.body.append(
      h("div", { class: "field" }, h("span", { class: "soft" }, "kind"), this.select),
      this.summary,
      this.form,
      h("div", { class: "buttons" }, inject, ...this.clears),
    );
  }

  override rebuild(): void {
    const faults = this.app.scene?.faults ?? [];
    this.element.hidden = this.app.live === null || faults.length === 0;
    for (const button of this.clears) button.hidden = this.app.plant !== null;
    const before = this.select.value;
    this.select.replaceChildren(
      ...faults.map((fault) => h("option", { value: fault.kind }, fault.kind.replaceAll("_", " "))),
    );
    if (faults.some((fault) => fault.kind === before)) this.select.value = before;
    this.showKind();
  }

  refresh(): void {}

  private kind(): FaultKind | undefined {
    return this.app.scene?.faults.find((fault) => fault.kind === this.select.value);
  }

  private showKind(): void {
    const kind = this.kind();
    this.reads.clear();
    this.summary.textContent = kind?.summary ?? "";
    this.form.replaceChildren(...(kind?.parameters ?? []).map((parameter) => this.field(parameter)));
  }

  private field(parameter: FaultParameter): HTMLElement {
    const label = h("span", { class: "soft" }, parameter.name.replaceAll("_", " "));
    const names = this.names(parameter);
    if (names !== null) {
      const select = h("select", { class: "wide", name: parameter.name });
      if (parameter.optional) select.append(h("option", { value: "" }, "all"));
      select.append(...names.map((name) => h("option", { value: name }, name)));
      this.reads.set(parameter, () => (select.value === "" ? undefined : select.value));
      return h("div", { class: "field" }, label, select);
    }
    if (parameter.of === "vector") {
      const inputs = ["x", "y", "z"].map((axis) => numberInput(parameter, axis));
      this.reads.set(parameter, () => {
        const values = inputs.map((input) => input.value.trim());
        return parameter.optional && values.every((value) => value === "") ? undefined : values.map(Number);
      });
      return h("div", { class: "field" }, label, h("div", { class: "three" }, ...inputs));
    }
    if (parameter.of === "text") {
      const input = h("input", { class: "wide", name: parameter.name });
      this.reads.set(parameter, () => (input.value === "" ? undefined : input.value));
      return h("div", { class: "field" }, label, input);
    }
    const input = numberInput(parameter, range(parameter));
    this.reads.set(parameter, () => (input.value.trim() === "" ? undefined : Number(input.value)));
    return h("div", { class: "field" }, label, input, h("span", { class: "unit" }, parameter.unit));
  }

  private names(parameter: FaultParameter): string[] | null {
    const scene = this.app.scene;
    if (parameter.of === "joint") return scene?.joints.map((joint) => joint.name) ?? [];
    if (parameter.of === "foot") return scene?.feet.map((foot) => foot.name) ?? [];
    if (parameter.of === "link") return this.links();
    return null;
  }

  private inject(): void {
    const kind = this.kind();
    if (kind === undefined) return;
    const request: Record<string, unknown> = { kind: kind.kind };
    for (const [parameter, read] of this.reads) {
      const value = read();
      if (value !== undefined) request[parameter.name] = value;
    }
    void this.app.order("fault", request);
  }
}

function range(parameter: FaultParameter): string {
  if (parameter.min === null && parameter.max === null) return parameter.optional ? "optional" : "";
  return `${parameter.min ?? "−∞"} … ${parameter.max ?? "∞"}`;
}

function numberInput(parameter: FaultParameter, placeholder: string): HTMLInputElement {
  const input = h("input", { type: "number", name: parameter.name, placeholder });
  input.step = parameter.of === "integer" ? "1" : "any";
  if (parameter.min !== null) input.min = String(parameter.min);
  if (parameter.max !== null) input.max = String(parameter.max);
  return input;
}
