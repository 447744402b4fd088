import { Vector3 } from "three";
import type { App } from "../app.ts";
import type { Drawn, Frame, OtherScene, Scene } from "../protocol/types.ts";
import type { Run } from "../source/run.ts";
import { h } from "../ui/dom.ts";
import { CameraRig } from "./camera.ts";
import { Contacts } from "./contacts.ts";
import { Ground } from "./ground.ts";
import { Labels } from "./labels.ts";
import { PALETTES, type Theme } from "./palette.ts";
import { PushTool } from "./push.ts";
import { Robot } from "./robot.ts";
import { Trails } from "./trails.ts";
import { View } from "./view.ts";

/** Robots that are farther away are not in the first look. */
const NEAR_M = 10;

export interface StageOptions {
  trails: boolean;
  labels: boolean;
  collisions: boolean;
}

/** Everything in the 3-D view, kept in step with the app. */
export class Stage {
  readonly element = h("div", { class: "stage" });
  readonly view: View;
  readonly rig: CameraRig;
  readonly contacts: Contacts;
  readonly push: PushTool;
  readonly options: StageOptions = { trails: true, labels: true, collisions: false };
  robot: Robot | null = null;
  ghost: Robot | null = null;
  /** Other robots of the daemon, by name. */
  readonly others = new Map<string, Robot>();
  private readonly ground = new Ground();
  private readonly trails: Trails;
  private readonly labels = new Labels();
  private readonly base = new Vector3();
  private fresh: Frame | null = null;
  private placeCameraOnFirstFrame = false;
  private robotKey = "";
  private groundKey = "";
  private theme: Theme = "dark";
  private dragLabel: { text: string; at: Vector3 } | null = null;
  private lastNow = 0;
  private shown = "";

  constructor(private readonly app: App) {
    this.view = new View(this.element);
    this.element.append(this.labels.element);
    this.rig = new CameraRig(this.view.camera, this.view.renderer.domElement, this.view.invalidate);
    this.contacts = new Contacts(this.view.size);
    this.trails = new Trails(this.view.size);
    this.push = new PushTool(this.view, this.rig, this.element);
    this.push.onPush = (push) => void app.order("push", push);
    this.push.onDrag = (text, at) => (this.dragLabel = text === null ? null : { text, at: at.clone() });
    this.view.scene.add(this.ground.object, this.contacts.object, this.trails.object, this.push.object);
    this.view.onBefore((now) => this.before(now));
    this.view.onAfter(() => this.drawLabels());
    app.on("scene", (scene) => this.setScene(scene));
    app.on("ghost", (run) => this.setGhost(run));
    app.on("frame", (frame) => {
      const stamp = `${frame.run_id} ${frame.tick} ${frame.digest}`;
      if (app.player === null) {
        // A paused daemon repeats its state; that needs no new picture.
        if (stamp === this.shown) return;
        this.trails.push(frame);
      }
      this.shown = stamp;
      this.fresh = frame;
      this.view.invalidate();
    });
    app.on("otherScene", (scene) => this.setOther(scene));
    app.on("otherFrame", (frame) => {
      const other = this.others.get(frame.name);
      if (other === undefined) return;
      if (!other.placed && !this.rig.taken) this.placeCameraOnFirstFrame = true;
      other.setFrame(frame);
      this.fresh ??= this.app.frame;
      this.view.invalidate();
    });
    app.on("alone", () => [...this.others.keys()].forEach((name) => this.setOther({ name, robot: null })));
    app.on("player", () => this.view.invalidate());
    app.on("selection", (joint) =>
      this.robot?.highlight(joint === null ? null : this.robot.childLink(joint)),
    );
  }

  setTheme(theme: Theme): void {
    this.theme = theme;
    this.view.setTheme(theme);
    this.light();
    this.ground.setTheme(theme);
    this.trails.setTheme(theme);
  }

  private light(): void {
    const { environment, environmentIntensity } = this.view.lights;
    this.robot?.setEnvironment(environment, environmentIntensity);
    for (const other of this.others.values()) other.setEnvironment(environment, environmentIntensity);
  }

  setFollow(on: boolean): void {
    this.rig.setFollow(on, this.base);
    this.view.invalidate();
  }

  resetCamera(): void {
    this.look();
    this.view.invalidate();
  }

  /** Looks at the robot, and at others that are near. */
  private look(): void {
    const size = this.robot?.size ?? 1;
    const near = [...this.others.values()].filter((other) => other.placed);
    const places = near.map((other) => other.object.position).filter((p) => p.distanceTo(this.base) < NEAR_M);
    places.push(this.base);
    const center = places.reduce((sum, p) => sum.add(p), new Vector3()).divideScalar(places.length);
    const reach = Math.max(...places.map((p) => 2 * p.distanceTo(center) + size));
    this.rig.frame(this.base, size, center, reach);
  }

  refresh(): void {
    this.robot?.showCollisions(this.options.collisions);
    for (const other of this.others.values()) other.showCollisions(this.options.collisions);
    this.fresh = this.app.frame;
    this.view.invalidate();
  }

  private setScene(scene: Scene): void {
    const key = `${scene.layout_hash} ${scene.robot} ${scene.urdf}`;
    const ground = JSON.stringify([scene.surfaces, scene.regions]);
    this.trails.clear();
    this.shown = "";
    if (key !== this.robotKey) {
      this.robotKey = key;
      this.robot?.dispose();
      this.robot = this.makeRobot(scene);
      this.light();
      this.push.setRobot(this.robot);
      const weight = scene.mass_kg * Math.hypot(...scene.gravity_m_per_s2);
      const size = this.robot?.size ?? 1;
      this.contacts.setRobot(weight, scene.feet.length, size);
      this.push.stiffness = weight / (0.5 * size);
      this.view.lights.setReach(1.5 * size);
      this.robot?.showCollisions(this.options.collisions);
      this.placeCameraOnFirstFrame = true;
      this.groundKey = "";
    }
    if (ground !== this.groundKey) {
      this.groundKey = ground;
      this.ground.build(scene, this.robot?.size ?? 1);
      this.ground.setTheme(this.theme);
    }
    this.push.enabled = scene.source !== "log" && this.push.enabled;
    this.view.invalidate();
  }

  private setOther({ name, robot }: OtherScene): void {
    this.others.get(name)?.dispose();
    this.others.delete(name);
    const other = robot === null ? null : this.makeRobot(robot);
    if (other !== null) {
      this.others.set(name, other);
      other.showCollisions(this.options.collisions);
      this.light();
    }
    this.view.invalidate();
  }

  private makeRobot(scene: Drawn): Robot | null {
    try {
      const robot = new Robot(scene, null, this.view.invalidate);
      this.view.scene.add(robot.object);
      return robot;
    } catch (error) {
      // Forces, plots and orders are of use without a picture of the robot.
      this.app.report(`The URDF cannot be shown: ${error instanceof Error ? error.message : String(error)}`);
      return null;
    }
  }

  private setGhost(run: Run | null): void {
    this.ghost?.dispose();
    this.ghost = null;
    if (run === null) return;
    this.ghost = new Robot(run.header.scene, PALETTES[this.theme].ghost, this.view.invalidate);
    this.view.scene.add(this.ghost.object);
  }

  private before(now: number): boolean {
    const wall = (now - this.lastNow) * 1e-3;
    this.lastNow = now;
    const playing = this.app.player?.advance(wall) ?? false;
    const frame = this.fresh;
    if (frame !== null) {
      this.fresh = null;
      this.show(frame);
    }
    this.push.draw();
    const tracking = this.track(wall);
    const gliding = this.rig.update();
    // The plant computes ahead of a drawing; asking for the next one only then would halve the rate.
    const computing = this.app.plant !== null && this.app.running;
    return playing || computing || gliding || tracking || this.push.dragging;
  }

  private show(frame: Frame): void {
    this.robot?.setFrame(frame);
    this.base.set(...frame.base.p);
    this.contacts.update(frame);
    this.ground.move(frame);
    const player = this.app.player;
    if (player !== null && this.options.trails) this.trails.fromRun(player.run, player.index);
    this.trails.draw(this.options.trails);
    if (this.app.ghostFrame !== null) this.ghost?.setFrame(this.app.ghostFrame);
    if (this.placeCameraOnFirstFrame) {
      this.placeCameraOnFirstFrame = false;
      this.look();
    }
  }

  private track(wall_s: number): boolean {
    const size = this.robot?.size ?? 1;
    const before = this.rig.target.clone();
    this.rig.track(this.base, size, wall_s);
    const { x, y } = this.rig.target;
    this.ground.follow(x, y, 0);
    this.view.lights.follow(this.base.x, this.base.y, this.base.z - 0.3 * size);
    return before.distanceToSquared(this.rig.target) > 1e-8;
  }

  private drawLabels(): void {
    const { camera, size } = this.view;
    this.labels.begin();
    const frame = this.app.frame;
    if (this.options.labels && this.contacts.options.arrows && frame !== null) {
      const contacts = this.contacts.arrows();
      // Many stations on one foot would hide each other's texts.
      if (contacts.length <= 12) {
        for (const arrow of contacts) {
          const newtons = Math.hypot(...arrow.force);
          if (newtons < 0.5) continue;
          const text = `${newtons.toFixed(0)} N · ${(100 * arrow.share).toFixed(0)} %`;
          const kind = arrow.share > 0.97 ? "bad" : arrow.share > 0.7 ? "warn" : "";
          this.labels.add(new Vector3(...arrow.tip), text, kind, camera, size);
        }
      }
    }
    if (this.dragLabel !== null)
      this.labels.add(this.dragLabel.at, this.dragLabel.text, "push", camera, size);
    this.labels.end();
  }
}
