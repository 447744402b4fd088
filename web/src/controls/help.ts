import { h, icon } from "../ui/dom.ts";
import { KEYS } from "./keyboard.ts";

export class Help {
  readonly element: HTMLElement;

  constructor() {
    this.element = h(
      "div",
      { class: "help", hidden: true, role: "dialog", "aria-label": "Help" },
      h(
        "button",
        { class: "square close", "aria-label": "Close", onclick: () => this.hide() },
        icon("close"),
      ),
      h("h2", {}, "Keys and mouse"),
      h(
        "div",
        { class: "keys" },
        ...KEYS.map(([key, text]) => h("div", {}, h("kbd", {}, key), h("span", {}, text))),
      ),
      h(
        "p",
        {},
        "Drag to orbit, right button or two fingers to pan, wheel to zoom. Drag a link of the robot to push it; with Shift it is pulled.",
      ),
      h(
        "p",
        {},
        "An arrow is the force of the ground on the foot. The cone has the height of the normal force and the width of the friction limit: when the arrow's tip reaches the rim, the foot slides. Its colour goes from green to red with the used share. The blue diamond is the anchor of the friction spring, a pink streak shows slip.",
      ),
      h(
        "p",
        {},
        "Drop a run file, or a page that carries one, to open it. A second one is laid over the first as a ghost. Reload the page to return to a live robot.",
      ),
    );
  }

  toggle(): void {
    this.element.hidden = !this.element.hidden;
  }

  hide(): void {
    this.element.hidden = true;
  }
}
