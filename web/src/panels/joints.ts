import type { App } from "../app.ts";
import type { Joint } from "../protocol/types.ts";
import { h, setText } from "../ui/dom.ts";
import { fixed, shortName } from "../ui/format.ts";
import { Panel } from "./panel.ts";
import { Plot, SERIES_COLORS } from "./plot.ts";

interface Row {
  element: HTMLButtonElement;
  measured: HTMLElement;
  command: HTMLElement;
  q: HTMLElement;
  wanted: HTMLElement;
  effort: HTMLElement;
  tau: HTMLElement;
  age: HTMLElement;
}

/** Command against measurement of every joint, and its effort against the limit. */
export class JointsPanel extends Panel {
  private rows: Row[] = [];
  private readonly list = h("div", { class: "rows" });
  private readonly chosen = h("div", { class: "sub" });
  private readonly position: Plot;
  private readonly effort: Plot;
  private readonly plots = h("div", { hidden: true });

  constructor(app: App) {
    super(app, "Joints", true);
    this.position = new Plot(app, "rad", 112);
    this.effort = new Plot(app, "N·m", 92);
    this.plots.append(
      this.chosen,
      h(
        "div",
        { class: "legend" },
        key("--measured", "measured"),
        key("--command", "command"),
        key("--effort", "effort"),
      ),
      this.position.element,
      this.effort.element,
    );
    this.body.append(
      h(
        "div",
        { class: "row joint head" },
        h("span"),
        h("span", {}, "position"),
        h("span", { class: "num" }, "q"),
        h("span", { class: "num" }, "cmd"),
        h("span", {}, "effort"),
        h("span", { class: "num" }, "N·m"),
        h("span", { class: "num", title: "age of the command in ticks" }, "age"),
      ),
      this.list,
      this.plots,
    );
    app.on("selection", () => this.selected());
  }

  override rebuild(): void {
    this.position.reset();
    this.effort.reset();
    const joints = this.app.scene?.joints ?? [];
    this.rows = joints.map((joint, i) => this.row(joint, i));
    this.list.replaceChildren(...this.rows.map((row) => row.element));
    this.selected();
  }

  override refreshNote(): void {
    const frame = this.app.frame;
    const scene = this.app.scene;
    if (frame === null || scene === null) return;
    let most = 0;
    let which = "";
    scene.joints.forEach((joint, i) => {
      const share = joint.effort_max === null ? 0 : Math.abs(frame.tau[i] ?? 0) / joint.effort_max;
      if (share > most) {
        most = share;
        which = shortName(joint.name);
      }
    });
    this.setNote(which === "" ? "" : `most effort ${(100 * most).toFixed(0)} % ${which}`);
  }

  refresh(): void {
    const { frame, scene } = this.app;
    if (frame === null || scene === null) return;
    const known = frame.command;
    scene.joints.forEach((joint, i) => {
      const row = this.rows[i];
      if (row === undefined) return;
      const q = frame.q[i] ?? NaN;
      const wanted = known?.q[i];
      const tau = frame.tau[i] ?? 0;
      place(row.measured, share(q, joint));
      row.command.hidden = wanted === undefined;
      if (wanted !== undefined) place(row.command, share(wanted, joint));
      setText(row.q, fixed(q, 3));
      setText(row.wanted, fixed(wanted, 3));
      setText(row.tau, fixed(tau, 1));
      const age = frame.joint_ages === undefined ? frame.command_age_ticks : frame.joint_ages[i];
      setText(row.age, age == null ? "–" : String(age));
      const owner = frame.joint_owners?.[i];
      if (owner != null)
        row.element.style.setProperty("--owner", `var(${ownerColor(frame.joint_owners ?? [], owner)})`);
      row.element.classList.toggle("owned", owner != null);
      const part = joint.effort_max === null ? 0 : Math.min(Math.max(tau / joint.effort_max, -1), 1);
      row.effort.style.transform = `translateX(50%) scaleX(${(part / 2).toFixed(3)})`;
      const size = Math.abs(part);
      row.effort.style.background =
        size > 0.95 ? "var(--bad)" : size > 0.75 ? "var(--warn)" : "var(--effort)";
    });
    if (this.app.selectedJoint !== null) {
      this.position.refresh();
      this.effort.refresh();
    }
  }

  private row(joint: Joint, i: number): Row {
    const measured = h("i", { class: "measured" });
    const command = h("i", { class: "command" });
    const effort = h("i");
    const q = h("span", { class: "num" });
    const wanted = h("span", { class: "num faint" });
    const tau = h("span", { class: "num" });
    const age = h("span", { class: "num faint" });
    const limits = `${fixed(joint.q_min, 2)} … ${fixed(joint.q_max, 2)} ${joint.kind === "revolute" ? "rad" : "m"}, at most ${fixed(joint.effort_max, 1)} ${joint.kind === "revolute" ? "N·m" : "N"}`;
    const element = h(
      "button",
      {
        class: "row joint",
        title: `${joint.name}: ${limits}`,
        onclick: () => this.app.select(this.app.selectedJoint === i ? null : i),
      },
      h("span", { class: "name" }, shortName(joint.name)),
      h("div", { class: "gauge" }, command, measured),
      q,
      wanted,
      h("div", { class: "gauge clip" }, h("i", { class: "zero" }), effort),
      tau,
      age,
    );
    return { element, measured, command, q, wanted, effort, tau, age };
  }

  private selected(): void {
    const i = this.app.selectedJoint;
    this.rows.forEach((row, n) => row.element.classList.toggle("on", n === i));
    const joint = i === null ? undefined : this.app.scene?.joints[i];
    this.plots.hidden = joint === undefined;
    if (joint === undefined || i === null) return;
    setText(this.chosen, joint.name);
    const turning = joint.kind === "revolute";
    this.position.setLines(
      [
        { label: "measured", color: "--measured", column: "q", index: i },
        { label: "command", color: "--command", column: "command_q", index: i, dashed: true },
      ],
      turning ? "rad" : "m",
    );
    this.effort.setLines(
      [{ label: "effort", color: "--effort", column: "tau", index: i }],
      turning ? "N·m" : "N",
    );
    this.refresh();
  }
}

/** Each controller has a colour, in the order in which they first command a joint. */
export function ownerColor(owners: readonly (string | null)[], owner: string): string {
  const names = [...new Set(owners.filter((name) => name !== null))];
  return SERIES_COLORS[names.indexOf(owner) % SERIES_COLORS.length] ?? "--measured";
}

export function key(color: string, text: string): HTMLElement {
  return h("span", {}, h("i", { style: `background: var(${color})` }), text);
}

function share(q: number, joint: Joint): number {
  const low = joint.q_min ?? -Math.PI;
  const high = joint.q_max ?? Math.PI;
  return Math.min(Math.max((q - low) / (high - low), 0), 1);
}

function place(element: HTMLElement, part: number): void {
  if (Number.isFinite(part)) element.style.left = `${(100 * part).toFixed(1)}%`;
}
