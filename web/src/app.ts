import type {
  Answer,
  EventMessage,
  Frame,
  Mark,
  OtherFrame,
  OtherScene,
  Scene,
  Status,
  Vec3,
} from "./protocol/types.ts";
import { firstDifference, type Difference } from "./source/difference.ts";
import { History } from "./source/history.ts";
import { LiveSource } from "./source/live.ts";
import { PlantSource } from "./source/plant.ts";
import type { ContactLaw, PlantParts } from "./source/plant-run.ts";
import type { Run } from "./source/run.ts";
import type { SeriesSource } from "./source/series.ts";
import type { Connection, Source, SourceHandlers } from "./source/source.ts";
import { Player } from "./timeline/player.ts";
import { Emitter } from "./ui/emitter.ts";

interface AppEvents {
  scene: Scene;
  frame: Frame;
  ghost: Run | null;
  status: Status;
  event: EventMessage;
  marks: readonly Mark[];
  connection: { state: Connection; text: string };
  player: Player;
  answer: { order: string; answer: Answer };
  snapshots: readonly Snapshot[];
  selection: number | null;
  otherScene: OtherScene;
  otherFrame: OtherFrame;
  /** A log has no other robots. */
  alone: null;
}

export interface Snapshot {
  id: string | number;
  time_s: number;
  tick: number;
}

const EVENTS_KEPT = 500;
const MARKS_KEPT = 2000;
const FAULT_EVENTS = new Set(["fault", "push", "friction", "stop", "lost"]);

/** What is shown now, and the orders that can be given. Panels and the 3-D view listen to it. */
export class App extends Emitter<AppEvents> {
  scene: Scene | null = null;
  frame: Frame | null = null;
  status: Status | null = null;
  connection: Connection | "log" | "none" = "none";
  connectionText = "";
  /** What takes orders, if anything does. */
  live: Source | null = null;
  /** The same, if it is the plant in this page. */
  plant: PlantSource | null = null;
  player: Player | null = null;
  ghost: Run | null = null;
  ghostFrame: Frame | null = null;
  difference: Difference | null = null;
  events: EventMessage[] = [];
  marks: Mark[] = [];
  snapshots: Snapshot[] = [];
  selectedJoint: number | null = null;
  framesReceived = 0;
  private history: History | null = null;
  private wantedVelocity: Vec3 | null = null;
  private asking = false;
  private shownIndex = -1;

  get series(): SeriesSource | null {
    return this.player?.run ?? this.history;
  }

  get time_s(): number {
    return this.player?.time ?? (this.frame?.time_ns ?? 0) * 1e-9;
  }

  /** What takes orders answers. */
  get answers(): boolean {
    return this.connection === "live" || this.connection === "plant";
  }

  get running(): boolean {
    if (this.player !== null) return this.player.playing;
    const phase = this.frame?.phase;
    return this.answers && phase !== undefined && phase !== "paused" && phase !== "stopped";
  }

  /** The wanted speed, and the one that was reached, in simulated s per s. */
  get speed(): number | undefined {
    return this.plant?.pace.speed ?? this.status?.speed;
  }

  get realTimeFactor(): number | null {
    return (this.plant === null ? this.status?.real_time_factor : this.plant.pace.reached) ?? null;
  }

  startLive(url: string): void {
    this.live = new LiveSource(url, this.handlers());
  }

  async startPlant(parts: PlantParts): Promise<void> {
    this.plant = await PlantSource.open(parts, this.handlers());
    this.live = this.plant;
    this.plant.start();
  }

  startLog(run: Run, second: Run | null): void {
    this.live?.close();
    this.live = null;
    this.plant = null;
    this.connection = "log";
    this.ghost = null;
    this.events = run.header.events;
    this.marks = [...run.header.marks];
    this.shownIndex = -1;
    this.player = new Player(run, () => this.showTime());
    this.setScene(run.header.scene);
    this.emit("alone", null);
    this.emit("connection", { state: "live", text: "" });
    this.emit("marks", this.marks);
    if (second !== null) this.overlay(second);
    this.showTime();
  }

  /** Lays a second run over the first. */
  overlay(second: Run | null): void {
    const run = this.player?.run;
    if (run === undefined) return;
    this.ghost = second;
    this.ghostFrame = null;
    this.marks = [...run.header.marks];
    this.difference = second === null ? null : firstDifference(run, second);
    if (this.difference !== null) {
      this.marks.push({ time_s: this.difference.time_s, kind: "difference", text: this.difference.text });
    }
    this.emit("ghost", second);
    this.emit("marks", this.marks);
    this.showTime();
  }

  /** Tells the user what went wrong. */
  report(text: string): void {
    this.emit("answer", { order: "", answer: { ok: false, text } });
  }

  select(joint: number | null): void {
    this.selectedJoint = joint;
    this.emit("selection", joint);
  }

  async order(name: string, request: object = {}): Promise<Answer> {
    if (this.live === null) return { ok: false, text: "A recorded run cannot be changed." };
    const answer = await this.live.order(name, request);
    this.emit("answer", { order: name, answer });
    if (name === "snapshot" && answer.ok && answer.id !== undefined) {
      const shown = this.frame?.tick ?? 0;
      const tick = answer.tick ?? shown;
      const time_s = this.time_s + (tick - shown) * (this.scene?.period_ns ?? 0) * 1e-9;
      this.snapshots.unshift({ id: answer.id, time_s, tick });
      this.emit("snapshots", this.snapshots);
    }
    return answer;
  }

  /** Asks for a velocity. While an answer is due only the last request waits; only a refusal is shown. */
  drive(velocity: Vec3): void {
    this.wantedVelocity = velocity;
    if (!this.asking) void this.askVelocity();
  }

  private async askVelocity(): Promise<void> {
    this.asking = true;
    try {
      while (this.wantedVelocity !== null && this.live !== null) {
        const velocity = this.wantedVelocity;
        this.wantedVelocity = null;
        const answer = await this.live.order("cmd_vel", { velocity });
        if (!answer.ok) this.emit("answer", { order: "cmd_vel", answer });
      }
    } finally {
      this.asking = false;
    }
  }

  async setContactLaw(law: ContactLaw): Promise<void> {
    if (this.plant !== null) this.emit("answer", { order: "", answer: await this.plant.setContactLaw(law) });
  }

  toggle(): void {
    if (this.player !== null) {
      if (this.player.playing) this.player.pause();
      else this.player.play();
    } else {
      void this.order(this.frame?.phase === "paused" ? "resume" : "pause");
    }
  }

  /** Ticks when live, frames in a log. */
  step(count: number): void {
    if (this.player !== null) this.player.step(count);
    else void this.order("step", { ticks: count });
  }

  reset(): void {
    if (this.player !== null) this.player.seek(this.player.run.start);
    else void this.order("reset");
  }

  runUntil(time_s: number): void {
    if (this.player !== null) this.player.play(time_s);
    else void this.order("run_until", { time_s });
  }

  setSpeed(speed: number): void {
    if (this.player !== null) {
      this.player.speed = speed;
      this.emit("player", this.player);
    } else {
      void this.order("speed", { speed });
    }
  }

  private handlers(): SourceHandlers {
    return {
      connection: (state, text) => {
        this.connection = state;
        this.connectionText = text;
        this.emit("connection", { state, text });
      },
      scene: (scene) => this.setScene(scene),
      frame: (frame) => this.liveFrame(frame),
      status: (status) => this.liveStatus(status),
      event: (event) => this.liveEvent(event),
      otherScene: (scene) => this.emit("otherScene", scene),
      otherFrame: (frame) => this.emit("otherFrame", frame),
    };
  }

  private setScene(scene: Scene): void {
    const same =
      this.scene !== null &&
      this.scene.layout_hash === scene.layout_hash &&
      this.scene.robot === scene.robot &&
      this.scene.run_id === scene.run_id;
    this.scene = scene;
    if (!same) {
      this.history = new History(scene);
      this.frame = null;
      if (this.live !== null) {
        this.marks = [];
        this.events = [];
        this.status = null;
        this.emit("marks", this.marks);
      }
      if (this.plant !== null) this.keepSnapshots(() => false);
      if (this.selectedJoint !== null && this.selectedJoint >= scene.joints.length) this.select(null);
    }
    this.emit("scene", scene);
  }

  private liveFrame(frame: Frame): void {
    if (this.scene === null || frame.q.length !== this.scene.joints.length) return;
    this.framesReceived++;
    if (this.frame !== null && frame.time_ns < this.frame.time_ns) this.forgetLater(frame);
    this.frame = frame;
    this.history?.push(frame);
    this.emit("frame", frame);
  }

  /** After a step back, or with another daemon, what came later has not happened. A reset goes on in time. */
  private forgetLater({ tick, time_ns }: Frame): void {
    const isBefore = ({ time_s }: { time_s: number }): boolean => time_s < time_ns * 1e-9 - 1e-9;
    this.events = this.events.filter(isBefore);
    this.marks = this.marks.filter(isBefore);
    this.emit("marks", this.marks);
    if (this.plant !== null) this.keepSnapshots((snapshot) => snapshot.tick <= tick);
  }

  /** A daemon keeps its saved states; the plant in the page loses those that its run has left. */
  private keepSnapshots(kept: (snapshot: Snapshot) => boolean): void {
    this.snapshots = this.snapshots.filter(kept);
    this.emit("snapshots", this.snapshots);
  }

  private liveStatus(status: Status): void {
    const before = this.status;
    this.status = status;
    if (before !== null && before.run_id === status.run_id) this.markCounters(before, status);
    this.emit("status", status);
  }

  /** Counters come once a second, so their marks are only that exact. */
  private markCounters(before: Status, now: Status): void {
    const time_s = now.time_ns * 1e-9;
    for (const [name, value] of Object.entries(now.counters)) {
      const more = value - (before.counters[name] ?? 0);
      if (more <= 0) continue;
      if (name === "missed_deadlines")
        this.mark({ time_s, kind: "deadline", text: `${more} missed deadlines` });
      else if (name.startsWith("rejected_")) {
        this.mark({ time_s, kind: "rejection", text: `${more} commands rejected: ${name.slice(9)}` });
      }
    }
  }

  private liveEvent(event: EventMessage): void {
    this.events.push(event);
    if (this.events.length > EVENTS_KEPT) this.events.splice(0, this.events.length - EVENTS_KEPT);
    if (event.kind === "plant_failure")
      this.mark({ time_s: event.time_s, kind: "failure", text: event.text });
    else if (event.kind === "conflict" || event.kind === "gave_up") {
      this.mark({ time_s: event.time_s, kind: "rejection", text: event.text });
    } else if (FAULT_EVENTS.has(event.kind))
      this.mark({ time_s: event.time_s, kind: "fault", text: event.text });
    this.emit("event", event);
  }

  private mark(mark: Mark): void {
    this.marks.push(mark);
    if (this.marks.length > MARKS_KEPT) this.marks.shift();
    this.emit("marks", this.marks);
  }

  private showTime(): void {
    const player = this.player;
    if (player === null) return;
    const index = player.index;
    const frame = player.run.frameAt(index);
    const changed = this.frame === null || this.shownIndex !== index;
    this.frame = frame;
    this.shownIndex = index;
    if (this.ghost !== null) this.ghostFrame = this.ghost.frameAt(this.ghost.indexAt(player.time));
    if (changed || this.ghost !== null) this.emit("frame", frame);
    this.emit("player", player);
  }
}
