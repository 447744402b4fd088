import {
  CapsuleGeometry,
  CylinderGeometry,
  Group,
  Mesh,
  MeshPhongMaterial,
  Quaternion,
  SphereGeometry,
  Vector3,
  type Object3D,
} from "three";
import type { URDFJoint, URDFLink, URDFRobot } from "urdf-loader";

const UP = new Vector3(0, 1, 0);
/** kg/m³ of a typical actuator: how large a link without a shape is drawn follows from its mass. */
const ACTUATOR_DENSITY = 1900;

/** A link without any shape gets a motor at its joint and a slim bone to its children: any URDF is seen. */
export function addBones(robot: URDFRobot): void {
  for (const link of Object.values(robot.links)) {
    if (hasShape(link)) continue;
    const bones = new Group();
    bones.userData["bone"] = true;
    const mass = link.inertial?.mass ?? 0;
    const ends = link.children
      .filter((child): child is URDFJoint => (child as URDFJoint).isURDFJoint === true)
      .map((joint) => joint.position.clone());
    const longest = Math.max(0, ...ends.map((end) => end.length()));
    const motor = motorRadius(mass, longest);
    const parent = link.parent as Partial<URDFJoint> | null;
    const turns =
      parent?.isURDFJoint === true && (parent.jointType === "revolute" || parent.jointType === "continuous");
    if (turns && parent.axis !== undefined && motor > 0.004) bones.add(motorMesh(motor, parent.axis));
    for (const end of ends) {
      const bone = boneMesh(end, motor);
      if (bone !== null) bones.add(bone);
    }
    if (bones.children.length === 0 && mass > 0)
      bones.add(new Mesh(new SphereGeometry(Math.max(0.5 * motor, 0.006), 20, 14), plain()));
    link.add(bones);
  }
}

function hasShape(link: URDFLink): boolean {
  return link.children.some((child) => {
    const part = child as Object3D & {
      isURDFVisual?: boolean;
      isURDFCollider?: boolean;
      urdfNode?: Element | null;
    };
    if (!part.isURDFVisual && !part.isURDFCollider) return false;
    const shape = part.urdfNode?.querySelector("geometry > *");
    return shape != null && (shape.nodeName !== "mesh" || isServed(shape.getAttribute("filename") ?? ""));
  });
}

/** Meshes that were found have these names; others cannot be loaded. */
function isServed(file: string): boolean {
  return file.startsWith("data:") || file.startsWith("mesh/") || /^https?:/.test(file);
}

function motorRadius(mass: number, length: number): number {
  const byMass = Math.cbrt(mass / (1.2 * Math.PI * ACTUATOR_DENSITY));
  return Math.min(byMass, length > 0.02 ? 0.24 * length : byMass, 0.12);
}

function motorMesh(radius: number, axis: Vector3): Mesh {
  const mesh = new Mesh(new CylinderGeometry(radius, radius, 1.15 * radius, 36, 1), plain());
  mesh.quaternion.setFromUnitVectors(UP, axis.clone().normalize());
  mesh.userData["motor"] = true;
  return mesh;
}

function boneMesh(end: Vector3, motor: number): Mesh | null {
  const length = end.length();
  if (length < 1e-3) return null;
  const radius = Math.min(Math.max(0.055 * length, 0.28 * motor, 0.004), 0.04, 0.3 * length);
  const mesh = new Mesh(new CapsuleGeometry(radius, Math.max(length - radius, 1e-3), 6, 18), plain());
  mesh.position.copy(end).multiplyScalar(0.5);
  mesh.quaternion.copy(new Quaternion().setFromUnitVectors(UP, end.clone().normalize()));
  return mesh;
}

function plain(): MeshPhongMaterial {
  return new MeshPhongMaterial();
}
