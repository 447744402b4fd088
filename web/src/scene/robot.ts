import {
  Box3,
  Color,
  Group,
  LoadingManager,
  Matrix4,
  Mesh,
  MeshStandardMaterial,
  Vector3,
  type Material,
  type Object3D,
  type Texture,
} from "three";
import { RoundedBoxGeometry } from "three/examples/jsm/geometries/RoundedBoxGeometry.js";
import URDFLoader, { type URDFJoint, type URDFLink, type URDFRobot } from "urdf-loader";
import type { Drawn, Frame } from "../protocol/types.ts";
import { addBones } from "./bones.ts";
import { dispose, toQuaternion } from "./ground.ts";
import { each, loadMesh, PIXEL, soften } from "./meshes.ts";
import { ROBOT } from "./palette.ts";

/** The robot in 3-D. Its poses are those of the frames; nothing is interpolated. */
export class Robot {
  readonly object = new Group();
  readonly pickable: Mesh[] = [];
  /** Settles when all meshes are there, or have failed. */
  readonly ready: Promise<void>;
  failedMeshes: string[] = [];
  /** Diagonal of the box around the robot in its first pose, in m. */
  size = 1;
  /** A frame has been shown. */
  placed = false;
  private readonly urdf: URDFRobot;
  private readonly joints: (URDFJoint | undefined)[];
  private readonly base: URDFLink;
  private readonly baseInverse = new Matrix4();
  private readonly ghost: MeshStandardMaterial | null;
  private highlighted: string | null = null;
  private collisions = false;
  private readonly loads: Promise<void>[] = [];
  private environment: { map: Texture; intensity: number } | null = null;

  constructor(
    private readonly scene: Drawn,
    ghostColor: number | null,
    private readonly changed: () => void,
  ) {
    this.ghost =
      ghostColor === null
        ? null
        : new MeshStandardMaterial({
            color: ghostColor,
            transparent: true,
            opacity: 0.34,
            roughness: 0.6,
            depthWrite: false,
          });
    this.urdf = this.parse();
    this.object.add(this.urdf);
    this.base = this.urdf.links[scene.base_link] ?? this.urdf;
    this.joints = scene.joints.map((joint) => this.urdf.joints[joint.name]);
    for (const joint of Object.values(this.urdf.joints)) joint.ignoreLimits = true;
    addBones(this.urdf);
    this.dress();
    scene.joints.forEach((joint, i) => this.joints[i]?.setJointValue(joint.q_initial));
    this.measure();
    this.ready = Promise.all(this.loads).then(() => {
      this.dress();
      this.measure();
      this.changed();
    });
  }

  setFrame(frame: { base: Pick<Frame["base"], "p" | "quat">; q: number[] }): void {
    for (let i = 0; i < this.joints.length; i++) {
      const q = frame.q[i];
      if (q !== undefined && Number.isFinite(q)) this.joints[i]?.setJointValue(q);
    }
    const { p, quat } = frame.base;
    if (!p.every(Number.isFinite) || !quat.every(Number.isFinite)) return;
    this.placed = true;
    this.object.position.set(...p);
    this.object.quaternion.copy(toQuaternion(quat));
    if (this.base !== this.urdf) {
      // The base link need not be the root of the file.
      this.urdf.updateMatrixWorld();
      this.baseInverse.copy(this.base.matrixWorld).invert().multiply(this.urdf.matrixWorld);
      this.baseInverse.decompose(this.urdf.position, this.urdf.quaternion, this.urdf.scale);
    }
    this.object.updateMatrixWorld(true);
  }

  link(name: string): Object3D | null {
    return this.urdf.links[name] ?? null;
  }

  linkNames(): string[] {
    return Object.keys(this.urdf.links);
  }

  /** The link that a joint moves. */
  childLink(joint: number): string | null {
    const child = this.joints[joint]?.children.find((one) => (one as URDFLink).isURDFLink) as
      URDFLink | undefined;
    return child?.urdfName ?? null;
  }

  linkOf(object: Object3D): string | null {
    for (let at: Object3D | null = object; at !== null; at = at.parent) {
      if ((at as URDFLink).isURDFLink) return (at as URDFLink).urdfName;
    }
    return null;
  }

  /** The sizes of the drawn parts of a link, along the axes of the world. */
  boxes(link: string): [number, number, number][] {
    const parts = this.pickable.filter((mesh) => this.linkOf(mesh) === link);
    return parts.map((mesh) => new Box3().setFromObject(mesh).getSize(new Vector3()).toArray());
  }

  highlight(link: string | null): void {
    if (link === this.highlighted) return;
    this.highlighted = link;
    for (const mesh of this.pickable) {
      const on = link !== null && this.linkOf(mesh) === link;
      const material = mesh.material as MeshStandardMaterial;
      material.emissive?.set(on ? 0x2f8f7d : 0x000000);
      material.emissiveIntensity = on ? 0.4 : 1;
    }
    this.changed();
  }

  setEnvironment(map: Texture, intensity: number): void {
    this.environment = { map, intensity };
    this.dress();
    this.changed();
  }

  showCollisions(on: boolean): void {
    this.collisions = on;
    this.dress();
    this.changed();
  }

  dispose(): void {
    dispose(this.object);
    this.object.removeFromParent();
  }

  private parse(): URDFRobot {
    const manager = new LoadingManager();
    manager.setURLModifier(() => PIXEL);
    const loader = new URDFLoader(manager);
    loader.parseVisual = true;
    loader.parseCollision = true;
    loader.packages = (name: string) => `package/${name}`;
    loader.loadMeshCb = (url, _manager, material, done) => {
      const load = loadMesh(url, material)
        .then((object) => done(object))
        .catch((error: unknown) => {
          // A robot without one of its meshes is still worth seeing.
          console.warn(`mesh ${url.slice(0, 80)}: ${String(error)}`);
          this.failedMeshes.push(url);
        });
      this.loads.push(load);
    };
    return loader.parse(this.scene.urdf);
  }

  /** Chooses what is shown of each link, and gives it its material. */
  private dress(): void {
    this.pickable.length = 0;
    const depth = linkDepths(this.urdf);
    for (const link of Object.values(this.urdf.links)) {
      const parts = link.children as (Object3D & { isURDFVisual?: boolean; isURDFCollider?: boolean })[];
      const hasVisual = parts.some((part) => part.isURDFVisual && part.children.length > 0);
      for (const part of parts) {
        const bone = part.userData["bone"] === true;
        if (!part.isURDFVisual && !part.isURDFCollider && !bone) continue;
        const extra = part.isURDFCollider === true && hasVisual;
        part.visible = extra ? this.collisions && this.ghost === null : true;
        const own = part.isURDFVisual === true && namesColor(part);
        each(part, (mesh) => this.dressMesh(mesh, { extra, own, bone, depth: depth.get(link) ?? 0, link }));
      }
    }
  }

  private dressMesh(
    mesh: Mesh,
    what: { extra: boolean; own: boolean; bone: boolean; depth: number; link: URDFLink },
  ): void {
    bevel(mesh);
    if (mesh.userData["dressed"] !== true) {
      mesh.userData["dressed"] = true;
      mesh.material = this.material(mesh, what);
    }
    if (this.environment !== null && this.ghost === null) {
      for (const material of [mesh.material].flat() as MeshStandardMaterial[]) {
        if (material.envMap !== this.environment.map) material.needsUpdate = true;
        material.envMap = this.environment.map;
        material.envMapIntensity = this.environment.intensity;
      }
    }
    mesh.castShadow = this.ghost === null && !what.extra;
    mesh.receiveShadow = this.ghost === null && !what.extra;
    if (this.ghost !== null) mesh.renderOrder = 3;
    if (!what.extra) this.pickable.push(mesh);
  }

  private material(
    mesh: Mesh,
    what: { extra: boolean; own: boolean; bone: boolean; depth: number; link: URDFLink },
  ): Material | Material[] {
    if (this.ghost !== null) return this.ghost;
    if (what.extra) {
      return new MeshStandardMaterial({
        color: 0xf2b632,
        transparent: true,
        opacity: 0.28,
        depthWrite: false,
      });
    }
    const given = Array.isArray(mesh.material) ? mesh.material[0] : mesh.material;
    const plain = !what.own && (given === undefined || isDefault(given));
    if (!plain) {
      const material = soften(mesh.material);
      // urdf-loader takes `rgba` for linear light; every other viewer takes it for sRGB.
      if (what.own && given?.type === "MeshPhongMaterial")
        (material as MeshStandardMaterial).color.convertSRGBToLinear();
      return material;
    }
    const leaf = !what.link.children.some((child) => (child as URDFJoint).isURDFJoint);
    const color =
      mesh.userData["motor"] === true
        ? ROBOT.joint
        : what.depth === 0
          ? ROBOT.base
          : leaf
            ? ROBOT.foot
            : what.depth % 2 === 0
              ? ROBOT.limb
              : ROBOT.limbFar;
    const dark = color === ROBOT.joint || color === ROBOT.foot;
    return new MeshStandardMaterial({
      color: new Color(color),
      roughness: dark ? 0.55 : 0.42,
      metalness: dark ? 0.12 : 0.1,
    });
  }

  private measure(): void {
    this.object.updateMatrixWorld(true);
    const box = new Box3();
    for (const mesh of this.pickable) box.expandByObject(mesh);
    for (const link of Object.values(this.urdf.links))
      box.expandByPoint(link.getWorldPosition(new Vector3()));
    this.size = Math.max(box.getSize(new Vector3()).length(), 0.05);
  }
}

/** Whether the URDF itself gives this part a colour. */
function namesColor(part: Object3D): boolean {
  const node = (part as unknown as { urdfNode?: Element | null }).urdfNode;
  return [...(node?.children ?? [])].some((child) => child.nodeName.toLowerCase() === "material");
}

function isDefault(material: Material): boolean {
  const color = (material as MeshStandardMaterial).color;
  return material.type === "MeshPhongMaterial" && material.name === "" && color?.getHex() === 0xffffff;
}

/** Sharp-edged boxes look like placeholders; a bevel of some mm catches light. */
function bevel(mesh: Mesh): void {
  if (mesh.geometry.type !== "BoxGeometry" || mesh.userData["bevelled"] === true) return;
  mesh.userData["bevelled"] = true;
  const { x, y, z } = mesh.scale;
  mesh.geometry.dispose();
  mesh.geometry = new RoundedBoxGeometry(x, y, z, 4, 0.12 * Math.min(x, y, z));
  mesh.scale.set(1, 1, 1);
}

function linkDepths(robot: URDFRobot): Map<URDFLink, number> {
  const depths = new Map<URDFLink, number>();
  const visit = (object: Object3D, depth: number): void => {
    if ((object as URDFLink).isURDFLink) depths.set(object as URDFLink, depth);
    const fixed = (object as URDFJoint).isURDFJoint && (object as URDFJoint).jointType === "fixed";
    const next = (object as URDFJoint).isURDFJoint && !fixed ? depth + 1 : depth;
    for (const child of object.children) visit(child, next);
  };
  visit(robot, 0);
  return depths;
}
