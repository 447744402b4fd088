import type { App } from "../app.ts";
import type { Stage } from "../scene/stage.ts";
import { h, icon, setText, type IconName } from "../ui/dom.ts";
import { clock } from "../ui/format.ts";

const LIVE_SPEEDS = [0.05, 0.1, 0.25, 0.5, 1, 2, 4, 0];
const LOG_SPEEDS = [0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8];

/** Time and state by hand: the bar of buttons above the time line. */
export class Transport {
  readonly element = h("div", { class: "transport" });
  private readonly play: HTMLButtonElement;
  private readonly time = h("span", { class: "time" });
  private readonly speed = h("select", { "aria-label": "speed", title: "simulated s per s" });
  /** A speed in use that is not in the list. */
  private readonly otherSpeed = h("option", { hidden: true });
  private readonly until = h("input", {
    class: "until",
    type: "number",
    step: "any",
    placeholder: "until s",
    "aria-label": "run until, s",
  });
  private readonly pushButton: HTMLButtonElement;
  private readonly followButton: HTMLButtonElement;
  private readonly loopButton: HTMLButtonElement;
  private readonly differButton: HTMLButtonElement;
  private readonly stop: HTMLButtonElement;
  private readonly snapshot: HTMLButtonElement;
  private readonly restore: HTMLButtonElement;
  private shownPlaying: boolean | null = null;

  constructor(
    private readonly app: App,
    private readonly stage: Stage,
  ) {
    const button = (name: string, image: IconName, title: string, act: () => void): HTMLButtonElement => {
      const made = h("button", { class: "square", title, "aria-label": title, onclick: act }, icon(image));
      made.dataset["action"] = name;
      return made;
    };
    const back = button("back", "back", "Step back (←)", () => app.step(-1));
    this.play = button("play", "play", "Pause or continue (Space)", () => app.toggle());
    this.play.classList.add("primary");
    const step = button("step", "step", "Step (→)", () => app.step(1));
    const reset = button("reset", "reset", "Reset (R)", () => app.reset());
    this.snapshot = button("snapshot", "camera", "Save the state", () => void app.order("snapshot"));
    this.restore = button("restore", "restore", "Restore the last saved state", () => {
      const last = app.snapshots[0];
      if (last !== undefined) void app.order("restore", { id: last.id });
    });
    const goUntil = button("until", "until", "Run until this time", () => this.runUntil());
    this.until.addEventListener("keydown", (event) => {
      if (event.key === "Enter") this.runUntil();
    });
    this.loopButton = button("loop", "loop", "Play again and again", () => {
      if (app.player !== null) app.player.loop = !app.player.loop;
      this.refresh();
    });
    this.differButton = button("differ", "differ", "Go to the first difference (D)", () =>
      this.goToDifference(),
    );
    this.pushButton = button("push", "push", "Push by dragging a link (P)", () => this.togglePush());
    this.followButton = button("follow", "follow", "Follow the robot (F)", () => this.toggleFollow());
    this.stop = h(
      "button",
      { class: "stop", title: "Emergency stop (Esc or S)", onclick: () => this.toggleStop() },
      icon("stop"),
      h("span", {}, "Stop"),
    );
    this.stop.dataset["action"] = "stop";
    this.speed.addEventListener("change", () => app.setSpeed(Number(this.speed.value)));
    this.element.append(
      reset,
      back,
      this.play,
      step,
      this.time,
      this.speed,
      h("div", { class: "group" }, this.until, goUntil),
      h("span", { class: "gap" }),
      this.snapshot,
      this.restore,
      this.loopButton,
      this.differButton,
      this.pushButton,
      this.followButton,
      h("span", { class: "spring" }),
      this.stop,
    );
    app.on("snapshots", () => this.refresh());
    this.rebuild();
  }

  rebuild(): void {
    const log = this.app.player !== null;
    const speeds = log ? LOG_SPEEDS : LIVE_SPEEDS;
    this.speed.replaceChildren(
      ...speeds.map((s) => h("option", { value: String(s) }, s === 0 ? "as fast as possible" : `× ${s}`)),
      this.otherSpeed,
    );
    this.otherSpeed.hidden = true;
    this.speed.value = String(this.app.player?.speed ?? 1);
    for (const element of [this.snapshot, this.restore, this.pushButton]) element.hidden = log;
    this.stop.hidden = log || this.app.plant !== null;
    this.loopButton.hidden = !log;
    this.shownPlaying = null;
    this.refresh();
  }

  refresh(): void {
    const { app } = this;
    if (app.running !== this.shownPlaying) {
      this.shownPlaying = app.running;
      this.play.replaceChildren(icon(app.running ? "pause" : "play"));
    }
    setText(this.time, clock(app.time_s));
    this.pushButton.classList.toggle("on", this.stage.push.enabled);
    this.followButton.classList.toggle("on", this.stage.rig.follow);
    this.differButton.hidden = app.difference === null;
    this.loopButton.classList.toggle("on", app.player?.loop === true);
    this.restore.disabled = app.snapshots.length === 0;
    const stopped = app.frame?.authority === "stopped";
    this.stop.classList.toggle("armed", stopped);
    setText(this.stop.lastElementChild ?? this.stop, stopped ? "Arm" : "Stop");
    this.stop.title = stopped ? "End the emergency stop" : "Emergency stop (Esc or S)";
    // The target in use, unless the list is open just now.
    const { speed } = app;
    if (app.player === null && speed !== undefined && document.activeElement !== this.speed) {
      const known = LIVE_SPEEDS.find((s) => Math.abs(s - speed) < 1e-9);
      this.otherSpeed.hidden = known !== undefined;
      this.otherSpeed.value = String(speed);
      this.otherSpeed.textContent = `× ${Number(speed.toPrecision(3))}`;
      this.speed.value = String(known ?? speed);
    }
  }

  goToDifference(): void {
    if (this.app.difference !== null) this.app.player?.seek(this.app.difference.time_s);
  }

  togglePush(): void {
    this.stage.push.enabled = !this.stage.push.enabled && this.app.live !== null;
    this.refresh();
  }

  toggleFollow(): void {
    this.stage.setFollow(!this.stage.rig.follow);
    this.refresh();
  }

  changeSpeed(by: number): void {
    const at = this.speed.selectedIndex + by;
    if (at < 0 || at >= this.speed.options.length || this.speed.options[at] === this.otherSpeed) return;
    this.speed.selectedIndex = at;
    this.app.setSpeed(Number(this.speed.value));
  }

  emergencyStop(): void {
    if (this.app.live !== null) void this.app.order("stop");
  }

  private toggleStop(): void {
    void this.app.order(this.app.frame?.authority === "stopped" ? "arm" : "stop");
  }

  private runUntil(): void {
    const time = Number(this.until.value);
    if (this.until.value.trim() === "" || !Number.isFinite(time)) this.until.focus();
    else this.app.runUntil(time);
  }
}
