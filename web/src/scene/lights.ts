import {
  BackSide,
  BufferAttribute,
  Color,
  DirectionalLight,
  HemisphereLight,
  Mesh,
  MeshBasicMaterial,
  PMREMGenerator,
  Scene as Scene3,
  SphereGeometry,
  BoxGeometry,
  Vector3,
  type Texture,
  type WebGLRenderer,
} from "three";
import { PALETTES, type Theme } from "./palette.ts";

/** A studio: an even sky that reflects in the robot, and one key light with a soft shadow. */
export class Lights {
  /** What the robot reflects. Not the scene's environment: the ground has to stay cheap. */
  readonly environment: Texture;
  environmentIntensity = 1;
  private readonly key = new DirectionalLight(0xfffaf3, 2);
  private readonly sky = new HemisphereLight(0xf3f7fc, 0x8a939d, 1);
  private readonly offset = new Vector3(-0.55, -0.75, 1.6);
  private reach = 1;

  constructor(scene: Scene3, renderer: WebGLRenderer) {
    this.environment = studio(renderer);
    this.key.castShadow = true;
    this.key.shadow.bias = -0.0004;
    this.key.shadow.normalBias = 0.004;
    this.key.shadow.radius = 3.5;
    scene.add(this.sky, this.key, this.key.target);
  }

  setTheme(theme: Theme): void {
    this.key.intensity = PALETTES[theme].keyLight;
    this.sky.intensity = PALETTES[theme].skyLight;
    this.environmentIntensity = PALETTES[theme].environment;
  }

  setShadows(size: number): void {
    this.key.castShadow = size > 0;
    if (size === 0) return;
    this.key.shadow.mapSize.set(size, size);
    this.key.shadow.map?.dispose();
    this.key.shadow.map = null;
  }

  /** How far around the robot shadows reach, in m. */
  setReach(reach: number): void {
    this.reach = reach;
    const camera = this.key.shadow.camera;
    camera.left = camera.bottom = -reach;
    camera.right = camera.top = reach;
    camera.near = 0.1;
    camera.far = 12 * reach;
    camera.updateProjectionMatrix();
  }

  /** Moves in steps of texels, so that the edges of still shadows do not flicker. */
  follow(x: number, y: number, z: number): void {
    const step = this.reach / 64;
    const snap = (value: number): number => Math.round(value / step) * step;
    this.key.target.position.set(snap(x), snap(y), snap(z));
    this.key.position.copy(this.key.target.position).addScaledVector(this.offset, 3 * this.reach);
    this.key.target.updateMatrixWorld();
  }
}

function studio(renderer: WebGLRenderer): Texture {
  const room = new Scene3();
  const sky = new SphereGeometry(10, 32, 16);
  const colors = new Float32Array(sky.attributes["position"]!.count * 3);
  const top = new Color(0xdfe9f5);
  const horizon = new Color(0x8d9aa9);
  const floor = new Color(0x3c434b);
  const color = new Color();
  for (let i = 0; i < colors.length / 3; i++) {
    const height = sky.attributes["position"]!.getY(i) / 10;
    if (height > 0) color.lerpColors(horizon, top, Math.sqrt(height));
    else color.lerpColors(horizon, floor, Math.min(1, -3 * height));
    color.toArray(colors, 3 * i);
  }
  sky.setAttribute("color", new BufferAttribute(colors, 3));
  room.add(new Mesh(sky, new MeshBasicMaterial({ vertexColors: true, side: BackSide })));
  const panel = (x: number, y: number, z: number, w: number, d: number, strength: number): void => {
    const material = new MeshBasicMaterial({ color: new Color(strength, strength, strength) });
    const mesh = new Mesh(new BoxGeometry(w, 0.1, d), material);
    mesh.position.set(x, y, z);
    mesh.lookAt(0, 0, 0);
    mesh.rotateX(Math.PI / 2);
    room.add(mesh);
  };
  panel(-4, 6, 3, 4, 3, 9);
  panel(6, 3, -2, 2, 4, 5);
  panel(0, 4, -7, 6, 1.5, 4);
  // Environment maps have y up, the world has z up.
  room.rotation.x = Math.PI / 2;
  const outer = new Scene3();
  outer.add(room);
  const generator = new PMREMGenerator(renderer);
  const texture = generator.fromScene(outer, 0.03).texture;
  generator.dispose();
  return texture;
}
