import type { App } from "../app.ts";
import type { Authority } from "../protocol/types.ts";
import { h, setText } from "../ui/dom.ts";
import { count, fixed } from "../ui/format.ts";
import { Panel } from "./panel.ts";
import { ownerColor } from "./joints.ts";
import { Plot } from "./plot.ts";

export const AUTHORITY_KIND: Record<Authority, string> = {
  fresh: "good",
  held: "warn",
  damped: "bad",
  zero: "",
  stopped: "bad",
};

function ticks(n: number): string {
  return n === 1 ? "1 tick" : `${n} ticks`;
}

const SHOWN_ALWAYS = ["commands_received", "commands_accepted", "missed_deadlines"];

/** Who commands which joints, how old the command is, and what was rejected. */
export class OwnerPanel extends Panel {
  private readonly authority = h("span", { class: "pill" });
  private readonly age = h("span");
  private readonly owner = h("span");
  private readonly thread = h("span");
  /** Neither a log nor the plant in the page says these. */
  private readonly liveOnly = [
    h("span", {}, "owner"),
    this.owner,
    h("span", {}, "physics thread"),
    this.thread,
  ];
  private readonly controllers = h("div", { class: "rows" });
  private readonly counters = h("div", { class: "counters" });
  private readonly countersTitle = h("div", { class: "sub" }, "Counters");
  private readonly plot: Plot;
  private shownStatus: unknown = null;

  constructor(app: App) {
    super(app, "Commands", true);
    this.plot = new Plot(app, "ticks", 74);
    this.body.append(
      h(
        "div",
        { class: "pairs", style: "grid-template-columns: auto 1fr" },
        h("span", {}, "drives obey"),
        h("span", {}, this.authority),
        h("span", {}, "command age"),
        this.age,
        ...this.liveOnly,
      ),
      this.controllers,
      h("div", { class: "sub" }, "Command age"),
      this.plot.element,
      this.countersTitle,
      this.counters,
    );
  }

  override rebuild(): void {
    this.shownStatus = null;
    for (const element of this.liveOnly) element.hidden = this.app.player !== null || this.app.plant !== null;
    this.plot.setLines([{ label: "age", color: "--command", column: "command_age", index: 0 }]);
    this.counters.replaceChildren();
    if (this.app.player !== null) this.showCounters(this.app.player.run.header.counts ?? {});
    this.controllers.replaceChildren();
  }

  override refreshNote(): void {
    const frame = this.app.frame;
    if (frame === null) return;
    const age = frame.command_age_ticks;
    this.setNote(age === null ? frame.authority : `${frame.authority}, age ${ticks(age)}`);
  }

  refresh(): void {
    const { frame, scene, status } = this.app;
    if (frame === null || scene === null) return;
    setText(this.authority, frame.authority);
    this.authority.className = `pill ${AUTHORITY_KIND[frame.authority]}`;
    const age = frame.command_age_ticks;
    setText(
      this.age,
      age === null ? "no command" : `${ticks(age)} = ${fixed((age * scene.period_ns) / 1e6, 1)} ms`,
    );
    setText(this.owner, frame.owner ?? "nobody");
    this.plot.refresh();
    this.countersTitle.hidden = status === null && this.app.player === null;
    if (status === null || status === this.shownStatus) {
      if (status === null) setText(this.thread, "–");
      return;
    }
    this.shownStatus = status;
    const rights =
      status.fifo_priority === null || status.fifo_priority === 0
        ? "ordinary"
        : `FIFO ${status.fifo_priority}`;
    const core = status.core === null ? "any core" : `core ${status.core}`;
    setText(this.thread, `${rights}, ${core}${status.memory_locked ? ", locked" : ""}`);
    this.thread.title = status.refused.join("\n");
    this.showControllers();
    this.showCounters(status.counters);
  }

  private showControllers(): void {
    const { status, scene, frame } = this.app;
    if (status === null) return;
    const owners = frame?.joint_owners ?? [];
    const rows = status.controllers.map((controller) => {
      const joints = (scene?.joints ?? [])
        .filter((_, i) => owners[i] === controller.name)
        .map((joint) => joint.name);
      const color = joints.length === 0 ? "" : `--owner: var(${ownerColor(owners, controller.name)})`;
      return h(
        "div",
        {
          class: joints.length === 0 ? "row controller" : "row controller owned",
          title: `session ${controller.session}\n${joints.join("\n")}`,
          style: color,
        },
        h("span", { class: "name" }, controller.name),
        h("span", { class: "soft" }, `${controller.joints} joints, ${controller.role}`),
        h("span", { class: "num" }, `every ${ticks(controller.period_ticks)}`),
      );
    });
    const missing = status.missing.map((text) =>
      h("div", { class: "row", style: "color: var(--warn)" }, `waits for ${text}`),
    );
    this.controllers.replaceChildren(...rows, ...missing);
  }

  private showCounters(counters: Record<string, number>): void {
    const cells: HTMLElement[] = [];
    for (const [name, value] of Object.entries(counters)) {
      if (value === 0 && !SHOWN_ALWAYS.includes(name)) continue;
      const bad = value > 0 && /rejected|missed|dropped|lost|refused|failed|given_up/.test(name);
      cells.push(
        h("span", { class: "soft" }, name.replaceAll("_", " ")),
        h("span", { class: bad ? "num hit" : "num" }, count(value)),
      );
    }
    this.counters.replaceChildren(...cells);
  }
}
