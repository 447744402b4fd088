import type { App } from "../app.ts";
import { fromFile } from "../source/open.ts";
import { h } from "../ui/dom.ts";
import type { Messages } from "./messages.ts";

/** Opens files dropped on the page: the first as the run, a second one as its ghost. */
export class DropTarget {
  readonly element = h("div", { class: "drop", hidden: true }, "Drop to open this run");

  constructor(app: App, messages: Messages) {
    let depth = 0;
    const show = (): void => {
      this.element.textContent =
        app.player === null ? "Drop to open this run" : "Drop to lay this run over the first";
      this.element.hidden = depth <= 0;
    };
    window.addEventListener("dragenter", (event) => {
      event.preventDefault();
      depth++;
      show();
    });
    window.addEventListener("dragleave", () => {
      depth--;
      show();
    });
    window.addEventListener("dragover", (event) => event.preventDefault());
    window.addEventListener("drop", (event) => {
      event.preventDefault();
      depth = 0;
      show();
      void openFiles(app, messages, [...(event.dataTransfer?.files ?? [])]);
    });
  }
}

export async function openFiles(app: App, messages: Messages, files: File[]): Promise<void> {
  for (const file of files.slice(0, 2)) {
    try {
      const run = await fromFile(file);
      if (app.player === null) app.startLog(run, null);
      else app.overlay(run);
      messages.toast(`${file.name}: ${run.frames} frames, ${(run.end - run.start).toFixed(2)} s`, true);
    } catch (error) {
      messages.toast(error instanceof Error ? error.message : String(error), false);
    }
  }
}
