import "./style/index.css";
import { App } from "./app.ts";
import { publish } from "./automation.ts";
import { DropTarget } from "./controls/drop.ts";
import { Header, robotName } from "./controls/header.ts";
import { Help } from "./controls/help.ts";
import { listen } from "./controls/keyboard.ts";
import { Messages } from "./controls/messages.ts";
import { Transport } from "./controls/transport.ts";
import { Docks } from "./panels/docks.ts";
import { Stage } from "./scene/stage.ts";
import { open } from "./source/open.ts";
import { Timeline } from "./timeline/timeline.ts";
import { h } from "./ui/dom.ts";
import { ThemeSwitch } from "./ui/theme.ts";

/** Panels are read, not watched: more often would only cost. */
const PANEL_PERIOD_MS = 70;

async function main(): Promise<void> {
  const root = document.getElementById("app");
  if (root === null) return;
  const app = new App();
  const theme = new ThemeSwitch();
  const stage = new Stage(app);
  const help = new Help();
  const header = new Header(app, stage, theme, help);
  const transport = new Transport(app, stage);
  const timeline = new Timeline(app);
  const docks = new Docks(app, stage);
  const messages = new Messages(app);
  const drop = new DropTarget(app, messages);
  const empty = h("div", { class: "empty" });
  const say = (title: string, text: string): void =>
    empty.replaceChildren(h("b", {}, title), h("span", {}, text));
  const loading = window.setTimeout(() => say("Loading", ""), 300);
  root.append(
    header.element,
    h(
      "div",
      { class: "main" },
      stage.element,
      empty,
      docks.left,
      docks.right,
      messages.banner,
      messages.toasts,
      header.menu,
      help.element,
    ),
    h("div", { class: "footer" }, transport.element, timeline.element),
    drop.element,
  );
  publish(app, stage);
  listen({ app, stage, transport, help, theme });
  theme.onChange((now) => {
    stage.setTheme(now);
    docks.rebuild();
    timeline.draw();
  });

  let stale = true;
  const refresh = (): void => {
    stale = false;
    header.refresh();
    transport.refresh();
    timeline.draw();
    docks.refresh();
  };
  const touch = (): void => {
    stale = true;
  };
  for (const name of ["frame", "status", "event", "player", "connection", "selection"] as const)
    app.on(name, touch);
  app.on("scene", (scene) => {
    clearTimeout(loading);
    empty.hidden = true;
    document.title = `${robotName(scene)} – Hardstand`;
    docks.rebuild();
    transport.rebuild();
    timeline.rebuild();
    touch();
  });
  app.on("ghost", () => {
    docks.rebuild();
    touch();
  });
  window.setInterval(() => {
    if (stale && !document.hidden) refresh();
  }, PANEL_PERIOD_MS);

  try {
    const opened = await open();
    if (opened.kind === "plant") await app.startPlant(opened.parts);
    else if (opened.kind === "log") app.startLog(opened.run, opened.second);
    else if (opened.kind === "live") app.startLive(opened.url);
    else say("No run is loaded", "Drop a run file here, or open this page with hardstand view.");
    clearTimeout(loading);
    if (opened.kind === "live" && app.scene === null) say("", "");
  } catch (error) {
    clearTimeout(loading);
    say("This page cannot show its robot", error instanceof Error ? error.message : String(error));
  }
}

main().catch((error: unknown) => {
  // Without WebGL there is no page; say so instead of showing nothing.
  const text = error instanceof Error ? error.message : String(error);
  document
    .getElementById("app")
    ?.replaceChildren(h("div", { class: "empty" }, h("b", {}, "The page cannot start"), h("span", {}, text)));
});
