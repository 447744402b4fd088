import type { App } from "../app.ts";
import type { Stage } from "../scene/stage.ts";
import { h } from "../ui/dom.ts";
import { EventsPanel } from "./events.ts";
import { FaultsPanel } from "./faults.ts";
import { FeetPanel } from "./feet.ts";
import { ImuPanel } from "./imu.ts";
import { JointsPanel } from "./joints.ts";
import { OwnerPanel } from "./owner.ts";
import type { Panel } from "./panel.ts";
import { PlantPanel } from "./plant.ts";
import { TimingPanel } from "./timing.ts";
import { VelocityPanel } from "./velocity.ts";
import { WorldPanel } from "./world.ts";

const WIDE = "(min-width: 1240px)";

/** The panels left and right of the robot; where there is no room for two docks, all in one. */
export class Docks {
  readonly left = h("div", { class: "dock left" });
  readonly right = h("div", { class: "dock right" });
  private readonly leftPanels: Panel[];
  private readonly rightPanels: Panel[];

  constructor(app: App, stage: Stage) {
    this.leftPanels = [new PlantPanel(app), new JointsPanel(app), new OwnerPanel(app), new EventsPanel(app)];
    this.rightPanels = [
      new FeetPanel(app),
      new TimingPanel(app),
      new WorldPanel(app, stage.push),
      new VelocityPanel(app),
      new FaultsPanel(app, () => stage.robot?.linkNames() ?? []),
      new ImuPanel(app),
    ];
    const wide = matchMedia(WIDE);
    const arrange = (): void => {
      const [left, right] = [this.leftPanels, this.rightPanels].map((panels) =>
        panels.map((panel) => panel.element),
      );
      this.left.replaceChildren(...(wide.matches ? (left ?? []) : []));
      this.right.replaceChildren(...(wide.matches ? [] : (left ?? [])), ...(right ?? []));
    };
    wide.addEventListener("change", arrange);
    arrange();
  }

  get panels(): Panel[] {
    return [...this.leftPanels, ...this.rightPanels];
  }

  rebuild(): void {
    for (const panel of this.panels) panel.rebuild();
    this.refresh();
  }

  refresh(): void {
    for (const panel of this.panels) {
      panel.refreshNote();
      if (panel.visible) panel.refresh();
    }
  }
}
