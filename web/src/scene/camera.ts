import { Vector3, type PerspectiveCamera } from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";

const SMOOTH_S = 0.09;

/** Orbits by hand and, if wanted, travels with the robot. */
export class CameraRig {
  follow = true;
  /** Someone has taken the camera. */
  taken = false;
  readonly controls: OrbitControls;
  private readonly base = new Vector3();
  private readonly step = new Vector3();
  private placed = false;

  constructor(
    private readonly camera: PerspectiveCamera,
    element: HTMLElement,
    changed: () => void,
  ) {
    this.controls = new OrbitControls(camera, element);
    this.controls.enableDamping = true;
    this.controls.dampingFactor = 0.12;
    this.controls.maxPolarAngle = 0.53 * Math.PI;
    this.controls.zoomToCursor = false;
    this.controls.addEventListener("change", changed);
    this.controls.addEventListener("start", () => (this.taken = true));
  }

  get target(): Vector3 {
    return this.controls.target;
  }

  /** A first look from the front and the side, at what is around `center` within `reach`, in m. */
  frame(base: Vector3, size: number, center = base, reach = size): void {
    this.placed = true;
    this.taken = false;
    this.base.copy(base);
    const narrow = Math.min(1, this.camera.aspect / 1.02);
    const distance = (1.75 * reach) / narrow;
    this.controls.minDistance = 0.15 * size;
    this.controls.maxDistance = 40 * size;
    this.controls.target.copy(center).add(this.step.set(0, 0, -0.11 * size));
    this.camera.position
      .copy(this.controls.target)
      .add(this.step.set(0.74, -0.86, 0.44).normalize().multiplyScalar(distance));
    this.controls.update();
  }

  /** Moves with the base; sways are smoothed and long ways are jumped. */
  track(base: Vector3, size: number, wall_s: number): void {
    if (!this.placed || !this.follow) return;
    this.step.copy(base).sub(this.base);
    const far = this.step.length() > 2 * size;
    this.step.multiplyScalar(far ? 1 : 1 - Math.exp(-Math.min(wall_s, 0.5) / SMOOTH_S));
    if (this.step.lengthSq() < 1e-12) return;
    this.base.add(this.step);
    this.controls.target.add(this.step);
    this.camera.position.add(this.step);
  }

  setFollow(on: boolean, base: Vector3 | null): void {
    this.follow = on;
    if (on && base !== null) {
      // Taking up the robot again must not leave it at the edge.
      this.step.copy(base).sub(this.controls.target);
      if (this.step.length() > 0.5) {
        this.controls.target.add(this.step);
        this.camera.position.add(this.step);
      }
      this.base.copy(base);
    }
  }

  /** Returns whether the camera still glides. */
  update(): boolean {
    return this.controls.update();
  }
}
