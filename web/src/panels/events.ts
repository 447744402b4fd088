import type { App } from "../app.ts";
import type { EventMessage } from "../protocol/types.ts";
import { h } from "../ui/dom.ts";
import { fixed } from "../ui/format.ts";
import { Panel } from "./panel.ts";

const SHOWN = 200;
const BAD = new Set(["plant_failure", "lost", "conflict", "gave_up", "stop"]);

/** What has happened, the newest first. In a log a click goes there. */
export class EventsPanel extends Panel {
  private readonly list = h("div", { class: "events" });
  private stale = true;

  constructor(app: App) {
    super(app, "Events", true);
    this.body.append(this.list);
    app.on("event", () => (this.stale = true));
    app.on("marks", () => (this.stale = true));
  }

  override rebuild(): void {
    this.stale = true;
  }

  override refreshNote(): void {
    const { events } = this.app;
    this.setNote(
      events.length === 0 ? "none" : `${events.length}, last: ${events[events.length - 1]?.kind ?? ""}`,
    );
  }

  refresh(): void {
    if (!this.stale) return;
    this.stale = false;
    const { events, player } = this.app;
    // A log is read from its beginning, a live run from its end.
    const shown = player === null ? events.slice(-SHOWN).reverse() : events.slice(0, SHOWN);
    this.list.replaceChildren(...shown.map((event) => this.row(event)));
  }

  private row(event: EventMessage): HTMLElement {
    const row = h(
      "div",
      { class: "event", title: `tick ${event.tick}` },
      h("span", { class: "num soft" }, `${fixed(event.time_s, 3)} s`),
      h("span", { class: "kind", style: BAD.has(event.kind) ? "color: var(--bad)" : "" }, event.kind),
      h("span", { class: "text" }, [event.controller, event.text].filter((text) => text !== "").join(": ")),
    );
    if (this.app.player !== null) {
      row.classList.add("click");
      row.addEventListener("click", () => this.app.player?.seek(event.time_s));
    }
    return row;
  }
}
