import type { App } from "../app.ts";
import { h, setText } from "../ui/dom.ts";

const SHOWN_MS = 3500;
const GRACE_MS = 300;

/** The banner of a lost connection, and short answers to orders. */
export class Messages {
  readonly banner = h("div", { class: "banner", hidden: true, role: "status" });
  readonly toasts = h("div", { class: "toasts", role: "status" });
  private readonly text = h("span");
  private graceTimer = 0;

  constructor(app: App) {
    this.banner.append(h("span", { class: "dot" }), this.text);
    app.on("connection", ({ state, text }) => {
      clearTimeout(this.graceTimer);
      if (state === "live" || state === "plant") {
        this.banner.hidden = true;
        return;
      }
      const show = (): void => {
        this.banner.hidden = false;
        this.banner.classList.toggle("bad", state === "lost");
        const otherwise = state === "no daemon" ? "The daemon does not answer." : "Connecting";
        setText(this.text, text === "" ? otherwise : text);
      };
      // A connection that is made at once needs no banner.
      if (state === "connecting" && this.banner.hidden) this.graceTimer = window.setTimeout(show, GRACE_MS);
      else if (state !== "connecting") show();
    });
    app.on("answer", ({ answer }) => this.toast(answer.text, answer.ok));
  }

  toast(text: string, ok: boolean): void {
    if (text === "") return;
    const toast = h("div", { class: ok ? "toast" : "toast bad" }, text);
    this.toasts.append(toast);
    while (this.toasts.children.length > 3) this.toasts.firstChild?.remove();
    window.setTimeout(() => toast.remove(), ok ? SHOWN_MS : 2 * SHOWN_MS);
  }
}
