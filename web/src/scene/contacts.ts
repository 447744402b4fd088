import {
  Color,
  ConeGeometry,
  CylinderGeometry,
  DoubleSide,
  Group,
  Mesh,
  MeshStandardMaterial,
  OctahedronGeometry,
  Quaternion,
  RingGeometry,
  ShaderMaterial,
  Vector3,
  type Vector2,
} from "three";
import type { ArrowState } from "../protocol/automation.ts";
import type { Contact, Frame, Vec3 } from "../protocol/types.ts";
import { Lines } from "./lines.ts";
import { shareColor } from "./palette.ts";

const Z = new Vector3(0, 0, 1);
const POOL = 96;

export interface ContactOptions {
  arrows: boolean;
  cones: boolean;
  anchors: boolean;
}

/** Share of the friction limit that the tangential force uses. */
export function usedShare(contact: Contact): number {
  if (!(contact.limit_n > 0)) return 0;
  const along = dot(contact.force, contact.normal);
  const tangential = Math.sqrt(Math.max(0, dot(contact.force, contact.force) - along * along));
  return tangential / contact.limit_n;
}

/**
 * Arrows and friction cones have one scale, in m per N. A cone is as high as the normal force and as
 * wide as the friction limit, so the arrow's tip leaves the cone's rim exactly when the foot slides.
 */
export class Contacts {
  readonly object = new Group();
  readonly options: ContactOptions = { arrows: true, cones: true, anchors: true };
  scale = 0.004;
  private width = 0.01;
  private readonly parts: Part[] = [];
  private readonly lines: Lines;
  private shown = 0;

  constructor(resolution: Vector2) {
    this.lines = new Lines(4 * POOL, resolution, false);
    this.object.add(this.lines);
  }

  /** Makes the robot's weight, shared by its feet, as long as a part of the robot. */
  setRobot(weight: number, feet: number, size: number): void {
    this.scale = (0.235 * size) / Math.max(weight / Math.max(feet, 1), 1e-6);
    this.width = 0.011 * size;
  }

  update(frame: Frame): void {
    const contacts = frame.contacts.slice(0, POOL);
    this.lines.begin();
    contacts.forEach((contact, i) => {
      const part = this.parts[i] ?? this.addPart();
      part.show(contact, this.scale, this.width, this.options);
      if (this.options.anchors) this.anchorLine(contact);
    });
    for (let i = contacts.length; i < this.shown; i++) this.parts[i]?.hide();
    this.shown = contacts.length;
    this.lines.end();
  }

  arrows(): ArrowState[] {
    return this.parts.slice(0, this.shown).map((part) => part.state(this.scale));
  }

  private anchorLine(contact: Contact): void {
    const color = new Color(0x58b7ff);
    if (contact.anchor !== null) this.lines.segment(contact.anchor, contact.p, color, 0.95, 0.95, 2);
    if (contact.slip_m_per_s > 1e-3) {
      // The foot slides against its friction.
      const along = dot(contact.force, contact.normal);
      const t = contact.force.map((f, k) => f - along * (contact.normal[k] ?? 0)) as Vec3;
      const norm = Math.hypot(...t);
      if (norm < 1e-6) return;
      const length = Math.min(0.35 * contact.slip_m_per_s, 0.5);
      const tip = contact.p.map((p, k) => p - ((t[k] ?? 0) / norm) * length) as Vec3;
      this.lines.segment(contact.p, tip, new Color(0xff5c8a), 1, 0.15, 4);
    }
  }

  private addPart(): Part {
    const part = new Part();
    this.parts.push(part);
    this.object.add(part.object);
    return part;
  }
}

class Part {
  readonly object = new Group();
  private readonly arrow = new Group();
  private readonly shaft: Mesh<CylinderGeometry, MeshStandardMaterial>;
  private readonly head: Mesh<ConeGeometry, MeshStandardMaterial>;
  private readonly cone: Mesh<CylinderGeometry, ShaderMaterial>;
  private readonly anchor: Mesh<OctahedronGeometry, MeshStandardMaterial>;
  private readonly ring: Mesh<RingGeometry, MeshStandardMaterial>;
  private readonly color = new Color();
  private contact: Contact | null = null;
  private readonly direction = new Vector3();
  private readonly turn = new Quaternion();

  constructor() {
    const material = new MeshStandardMaterial({ roughness: 0.35, metalness: 0 });
    this.shaft = new Mesh(SHAFT, material);
    this.head = new Mesh(HEAD, material);
    this.arrow.add(this.shaft, this.head);
    this.cone = new Mesh(CONE, coneMaterial(this.color));
    this.cone.renderOrder = 4;
    this.anchor = new Mesh(
      new OctahedronGeometry(1),
      new MeshStandardMaterial({
        color: 0x58b7ff,
        emissive: 0x1d5f96,
        roughness: 0.3,
        depthTest: false,
        transparent: true,
      }),
    );
    // An anchor lies inside the foot; it is shown through it.
    this.anchor.renderOrder = 6;
    this.ring = new Mesh(
      new RingGeometry(0.72, 1, 40),
      new MeshStandardMaterial({ transparent: true, side: DoubleSide, depthWrite: false, roughness: 0.5 }),
    );
    this.ring.renderOrder = 2;
    this.object.add(this.arrow, this.cone, this.anchor, this.ring);
  }

  show(contact: Contact, scale: number, width: number, options: ContactOptions): void {
    this.contact = contact;
    this.object.visible = true;
    const share = usedShare(contact);
    shareColor(share, this.color);
    const length = Math.hypot(...contact.force) * scale;
    this.arrow.visible = options.arrows && length > 1e-5;
    if (this.arrow.visible) {
      const thick = Math.min(width, 0.2 * length);
      const headLength = Math.min(3.4 * thick, 0.6 * length);
      this.arrow.position.set(...contact.p);
      this.arrow.quaternion.setFromUnitVectors(Z, this.direction.set(...contact.force).normalize());
      this.shaft.scale.set(thick * 0.5, thick * 0.5, Math.max(length - headLength, 1e-6));
      this.head.position.set(0, 0, length - headLength);
      this.head.scale.set(thick * 1.25, thick * 1.25, headLength);
      this.shaft.material.color.copy(this.color);
      this.shaft.material.emissive.copy(this.color).multiplyScalar(0.5);
    }
    this.turn.setFromUnitVectors(Z, this.direction.set(...contact.normal).normalize());
    const height = contact.normal_n * scale;
    const radius = contact.limit_n * scale;
    this.cone.visible = options.cones && height > 1e-4 && radius > 1e-5;
    if (this.cone.visible) {
      this.cone.position.set(...contact.p);
      this.cone.quaternion.copy(this.turn);
      this.cone.scale.set(radius, radius, height);
    }
    this.anchor.visible = options.anchors && contact.anchor !== null;
    if (contact.anchor !== null) {
      this.anchor.position.set(...contact.anchor);
      this.anchor.scale.setScalar(0.5 * width);
    }
    this.ring.visible = options.anchors;
    this.ring.position.set(...contact.p).addScaledVector(this.direction, 0.0015);
    this.ring.quaternion.copy(this.turn);
    const sliding = Math.min(Math.max(contact.sliding, 0), 1);
    this.ring.scale.setScalar(width * (1.9 + 1.2 * sliding));
    this.ring.material.color.set(sliding > 0.5 ? 0xff5c8a : 0x58b7ff);
    this.ring.material.emissive.copy(this.ring.material.color).multiplyScalar(0.5);
    this.ring.material.opacity = 0.35 + 0.6 * sliding;
  }

  hide(): void {
    this.object.visible = false;
    this.contact = null;
  }

  state(scale: number): ArrowState {
    this.object.updateMatrixWorld(true);
    const tail = this.arrow.getWorldPosition(new Vector3());
    const headLength = this.head.scale.z;
    const tip = this.arrow.localToWorld(new Vector3(0, 0, this.head.position.z + headLength));
    const force = tip.clone().sub(tail).divideScalar(scale);
    return {
      station: this.contact?.station ?? -1,
      surface: this.contact?.surface ?? -1,
      tail: tail.toArray(),
      tip: tip.toArray(),
      force: force.toArray(),
      share: this.contact === null ? 0 : usedShare(this.contact),
    };
  }
}

const SHAFT = new CylinderGeometry(1, 1, 1, 18, 1).rotateX(Math.PI / 2).translate(0, 0, 0.5);
const HEAD = new ConeGeometry(1, 1, 24, 1).rotateX(Math.PI / 2).translate(0, 0, 0.5);
/** The tip at the origin, the rim at z = 1. */
const CONE = new CylinderGeometry(1, 0, 1, 56, 1, true).rotateX(Math.PI / 2).translate(0, 0, 0.5);

function coneMaterial(color: Color): ShaderMaterial {
  return new ShaderMaterial({
    uniforms: { color: { value: color } },
    transparent: true,
    depthWrite: false,
    side: DoubleSide,
    vertexShader: `
      varying float vHeight;
      void main() {
        vHeight = position.z;
        gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0);
      }`,
    fragmentShader: `
      uniform vec3 color;
      varying float vHeight;
      void main() {
        float rim = smoothstep(1.0 - 2.5 * fwidth(vHeight), 1.0, vHeight);
        gl_FragColor = vec4(color, mix(0.02 + 0.075 * vHeight * vHeight, 0.7, rim));
        #include <colorspace_fragment>
      }`,
  });
}

function dot(a: Vec3, b: Vec3): number {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
