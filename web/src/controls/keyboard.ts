import type { App } from "../app.ts";
import type { Stage } from "../scene/stage.ts";
import type { ThemeSwitch } from "../ui/theme.ts";
import type { Help } from "./help.ts";
import type { Transport } from "./transport.ts";

interface Parts {
  app: App;
  stage: Stage;
  transport: Transport;
  help: Help;
  theme: ThemeSwitch;
}

export const KEYS: [string, string][] = [
  ["Space", "pause or continue"],
  ["→ / ←", "step / step back; with Shift 10"],
  ["↑ / ↓", "faster / slower"],
  ["R", "reset; in a log go to the start"],
  ["Esc or S", "emergency stop of a live robot, at once"],
  ["F", "follow the robot"],
  ["C", "look at the robot again"],
  ["P", "push by dragging, on or off"],
  ["W A S D Q E", "drive, while the button of the velocity command has the focus"],
  ["L", "loop a log"],
  ["D", "first difference of two logs"],
  ["T", "light or dark"],
  ["?", "this help"],
];

export function listen({ app, stage, transport, help, theme }: Parts): void {
  // The button that was clicked last, unless the keyboard has moved on.
  let clicked: Element | null = null;
  window.addEventListener("pointerdown", (event) => {
    clicked = event.target instanceof Element ? event.target.closest("button") : null;
  });
  const isOwn = (event: KeyboardEvent): boolean => isOfControl(event, clicked);
  const actions: Record<string, (event: KeyboardEvent) => void> = {
    " ": () => app.toggle(),
    ArrowRight: (event) => app.step(event.shiftKey ? 10 : 1),
    ArrowLeft: (event) => app.step(event.shiftKey ? -10 : -1),
    ArrowUp: () => transport.changeSpeed(1),
    ArrowDown: () => transport.changeSpeed(-1),
    r: () => app.reset(),
    s: () => transport.emergencyStop(),
    f: () => transport.toggleFollow(),
    c: () => stage.resetCamera(),
    p: () => transport.togglePush(),
    l: () => {
      if (app.player !== null) app.player.loop = !app.player.loop;
      transport.refresh();
    },
    d: () => transport.goToDifference(),
    t: () => theme.toggle(),
    "?": () => help.toggle(),
  };
  window.addEventListener("keydown", (event) => {
    // The stop key works everywhere, also while a number is being typed.
    if (event.key === "Escape") {
      help.hide();
      stage.push.cancel();
      // The plant in the page has none; S says so.
      if (app.plant === null) transport.emergencyStop();
      return;
    }
    if (event.key === "Tab") clicked = null;
    if (event.ctrlKey || event.metaKey || event.altKey || isOwn(event)) return;
    const act = actions[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (act === undefined) return;
    event.preventDefault();
    // Holding a key repeats steps; it must not toggle.
    if (!event.repeat || event.key.startsWith("Arrow")) act(event);
  });
  // Space would press the button that was clicked last as well.
  window.addEventListener("keyup", (event) => {
    if (event.key === " " && !isOwn(event)) event.preventDefault();
  });
}

/** True if the control that has the focus needs the key itself: the robot must not pause instead. */
function isOfControl({ key, target }: KeyboardEvent, clicked: Element | null): boolean {
  if (target instanceof HTMLInputElement) {
    if (target.type === "range") return key.startsWith("Arrow");
    return target.type !== "checkbox" || key === " ";
  }
  if (target instanceof HTMLButtonElement) return (key === " " || key === "Enter") && target !== clicked;
  return target instanceof HTMLSelectElement || target instanceof HTMLTextAreaElement;
}
