import type { App } from "../app.ts";
import { h, icon, setText } from "../ui/dom.ts";

/** A part of a dock that can be folded. Folded panels do no work. */
export abstract class Panel {
  readonly element: HTMLDetailsElement;
  protected readonly body = h("div", { class: "body" });
  private readonly note = h("span", { class: "note" });

  constructor(
    protected readonly app: App,
    readonly title: string,
    open: boolean,
  ) {
    this.element = h(
      "details",
      { class: "panel", open },
      h("summary", {}, title, this.note, icon("chevron")),
      this.body,
    );
    this.element.dataset["panel"] = title.toLowerCase();
    this.element.addEventListener("toggle", () => {
      if (this.element.open) this.refresh();
    });
  }

  get visible(): boolean {
    return this.element.open && !this.element.hidden;
  }

  protected setNote(text: string): void {
    setText(this.note, text);
  }

  /** Draws what is true now; called some times a second while the panel is open. */
  abstract refresh(): void;

  /** A cheap update of the folded panel's note. */
  refreshNote(): void {}

  /** After a change of scene, source or theme. */
  rebuild(): void {}
}
