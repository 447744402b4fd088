import { Color, Plane, Raycaster, Vector2, Vector3, type Object3D } from "three";
import type { Vec3 } from "../protocol/types.ts";
import type { CameraRig } from "./camera.ts";
import { Lines } from "./lines.ts";
import type { Robot } from "./robot.ts";
import type { View } from "./view.ts";

export interface Push {
  link: string;
  force_n: Vec3;
  point_m: Vec3;
  duration_s: number;
}

interface Drag {
  link: string;
  object: Object3D;
  local: Vector3;
  pointer: number;
  to: Vector3;
  force: Vector3;
  repeat: number;
}

const COLOR = new Color(0xffb02e);
const REPEAT_MS = 100;

/**
 * Drag a link to push it: the arrow shows the force, and letting go applies it once for `duration_s`.
 * With Shift held it pulls as long as the button is down.
 */
export class PushTool {
  /** On a touch screen a drag turns the camera until pushing is switched on. */
  enabled = !matchMedia("(pointer: coarse)").matches;
  duration_s = 0.1;
  /** N per m of dragging. */
  stiffness = 300;
  /** Simulated s per s of wall time, for pulling. */
  rate = 1;
  readonly object: Lines;
  onPush: (push: Push) => void = () => {};
  /** For the label at the arrow's tip. */
  onDrag: (text: string | null, at: Vector3) => void = () => {};
  private robot: Robot | null = null;
  private drag: Drag | null = null;
  private readonly ray = new Raycaster();
  private readonly pointer = new Vector2();
  private readonly plane = new Plane();
  private hoverPending = false;

  constructor(
    private readonly view: View,
    private readonly rig: CameraRig,
    private readonly host: HTMLElement,
  ) {
    this.object = new Lines(8, view.size, false);
    this.object.renderOrder = 9;
    // In the capture phase, so that the camera does not turn as well.
    host.addEventListener("pointerdown", (event) => this.down(event), { capture: true });
    host.addEventListener("pointermove", (event) => this.move(event), { capture: true });
    host.addEventListener("pointerup", (event) => this.up(event, true), { capture: true });
    host.addEventListener("pointercancel", (event) => this.up(event, false), { capture: true });
  }

  get dragging(): boolean {
    return this.drag !== null;
  }

  setRobot(robot: Robot | null): void {
    this.robot = robot;
    this.cancel();
  }

  cancel(): void {
    if (this.drag === null) return;
    clearInterval(this.drag.repeat);
    this.drag = null;
    this.rig.controls.enabled = true;
    this.onDrag(null, new Vector3());
    this.draw();
  }

  /** The link moves while it is dragged. */
  draw(): void {
    this.object.begin();
    if (this.drag !== null) {
      const from = this.drag.object.localToWorld(this.drag.local.clone());
      const { to } = this.drag;
      this.drag.force.copy(to).sub(from).multiplyScalar(this.stiffness);
      this.object.segment(from.toArray(), to.toArray(), COLOR, 0.95, 0.95, 5);
      const along = to.clone().sub(from);
      const head = Math.min(0.22 * along.length(), 0.05);
      if (head > 1e-4) {
        const side = along.clone().cross(this.view.camera.getWorldDirection(new Vector3())).normalize();
        along.normalize();
        for (const sign of [-1, 1]) {
          const wing = to
            .clone()
            .addScaledVector(along, -head)
            .addScaledVector(side, sign * 0.55 * head);
          this.object.segment(wing.toArray(), to.toArray(), COLOR, 0.95, 0.95, 5);
        }
      }
      this.onDrag(`${this.drag.force.length().toFixed(0)} N for ${this.duration_s} s`, to);
    }
    this.object.end();
  }

  private down(event: PointerEvent): void {
    if (!this.enabled || event.button !== 0 || this.robot === null || this.drag !== null) return;
    const hit = this.pick(event);
    if (hit === null) return;
    const link = this.robot.linkOf(hit.object);
    const object = link === null ? null : this.robot.link(link);
    if (link === null || object === null) return;
    event.stopPropagation();
    event.preventDefault();
    this.host.setPointerCapture(event.pointerId);
    this.rig.controls.enabled = false;
    this.plane.setFromNormalAndCoplanarPoint(this.view.camera.getWorldDirection(new Vector3()), hit.point);
    const local = object.worldToLocal(hit.point.clone());
    this.drag = {
      link,
      object,
      local,
      pointer: event.pointerId,
      to: hit.point.clone(),
      force: new Vector3(),
      repeat: event.shiftKey
        ? window.setInterval(() => this.send(REPEAT_MS * 1e-3 * this.rate), REPEAT_MS)
        : 0,
    };
    this.view.invalidate();
  }

  private move(event: PointerEvent): void {
    if (this.drag === null) {
      if (event.buttons === 0 && event.pointerType === "mouse") this.hover(event);
      return;
    }
    if (event.pointerId !== this.drag.pointer) return;
    event.stopPropagation();
    this.aim(event);
    this.ray.ray.intersectPlane(this.plane, this.drag.to);
    this.view.invalidate();
  }

  private up(event: PointerEvent, apply: boolean): void {
    if (this.drag === null || event.pointerId !== this.drag.pointer) return;
    event.stopPropagation();
    this.draw();
    if (apply && this.drag.repeat === 0) this.send(this.duration_s);
    this.cancel();
    this.view.invalidate();
  }

  private send(duration_s: number): void {
    if (this.drag === null || this.drag.force.length() < 1 || !(duration_s > 0)) return;
    this.onPush({
      link: this.drag.link,
      force_n: this.drag.force.toArray(),
      point_m: this.drag.local.toArray(),
      duration_s,
    });
  }

  private hover(event: PointerEvent): void {
    if (this.hoverPending) return;
    this.hoverPending = true;
    requestAnimationFrame(() => {
      this.hoverPending = false;
      const hit = this.enabled && this.drag === null ? this.pick(event) : null;
      const link = hit === null ? null : (this.robot?.linkOf(hit.object) ?? null);
      this.robot?.highlight(link);
      this.host.classList.toggle("grab", link !== null);
    });
  }

  private pick(event: PointerEvent): { object: Object3D; point: Vector3 } | null {
    if (this.robot === null || event.target !== this.view.renderer.domElement) return null;
    this.aim(event);
    return this.ray.intersectObjects(this.robot.pickable, false)[0] ?? null;
  }

  private aim(event: PointerEvent): void {
    const box = this.view.renderer.domElement.getBoundingClientRect();
    this.pointer.set(
      (2 * (event.clientX - box.left)) / box.width - 1,
      1 - (2 * (event.clientY - box.top)) / box.height,
    );
    this.ray.setFromCamera(this.pointer, this.view.camera);
  }
}
