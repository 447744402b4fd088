import { Group, LoadingManager, Mesh, MeshStandardMaterial, type Material, type Object3D } from "three";
import { ColladaLoader } from "three/examples/jsm/loaders/ColladaLoader.js";
import { OBJLoader } from "three/examples/jsm/loaders/OBJLoader.js";
import { STLLoader } from "three/examples/jsm/loaders/STLLoader.js";
import { base64 } from "../source/open.ts";

/** A grey pixel, instead of textures that a mesh file names: the page requests nothing but `mesh/<n>`. */
export const PIXEL = "data:image/gif;base64,R0lGODlhAQABAIAAAP///wAAACwAAAAAAQABAAACAkQBADs=";

/** Loads a mesh of a URDF. Names have no ending, so the format is recognised by the first bytes. */
export async function loadMesh(url: string, material: Material): Promise<Object3D> {
  const bytes = await read(url);
  const text = new TextDecoder().decode(bytes.subarray(0, 512)).trimStart();
  if (text.startsWith("<")) return collada(bytes);
  if (isBinaryStl(bytes) || text.startsWith("solid")) {
    const geometry = new STLLoader().parse(bytes.buffer as ArrayBuffer);
    return new Mesh(geometry, material);
  }
  const object = new OBJLoader().parse(new TextDecoder().decode(bytes));
  each(object, (mesh) => (mesh.material = material));
  return object;
}

async function read(url: string): Promise<Uint8Array> {
  const comma = url.indexOf(",");
  if (url.startsWith("data:")) return base64(url.slice(comma + 1));
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url}: ${response.status} ${response.statusText}`);
  return new Uint8Array(await response.arrayBuffer());
}

function isBinaryStl(bytes: Uint8Array): boolean {
  if (bytes.length < 84) return false;
  const triangles = new DataView(bytes.buffer, bytes.byteOffset).getUint32(80, true);
  return bytes.length === 84 + 50 * triangles;
}

function collada(bytes: Uint8Array): Object3D {
  const manager = new LoadingManager();
  manager.setURLModifier(() => PIXEL);
  const result = new ColladaLoader(manager).parse(new TextDecoder().decode(bytes), "");
  const group = new Group();
  if (result === null) return group;
  const scene = result.scene;
  // The loader turns files with y up; in a URDF the axes of the file count (only its unit does).
  scene.rotation.set(0, 0, 0);
  scene.updateMatrixWorld();
  const meshes: Mesh[] = [];
  each(scene, (mesh) => meshes.push(mesh));
  for (const mesh of meshes) {
    const copy = new Mesh(mesh.geometry, soften(mesh.material));
    mesh.matrixWorld.decompose(copy.position, copy.quaternion, copy.scale);
    group.add(copy);
  }
  return group;
}

/** Phong and Lambert materials of old files do not reflect the studio; a standard one of the same colour does. */
export function soften<Given extends Material | Material[]>(given: Given): Material | Material[] {
  if (Array.isArray(given)) return given.map((one) => soften(one) as Material);
  const old = given as unknown as { color?: MeshStandardMaterial["color"]; map?: unknown };
  const material = new MeshStandardMaterial({ roughness: 0.55, metalness: 0.1 });
  // A textured material is white below its texture, which is not loaded.
  if (old.map != null) material.color.set(0x9aa4af);
  else if (old.color !== undefined) material.color.copy(old.color);
  material.side = given.side;
  material.transparent = given.transparent;
  material.opacity = given.opacity;
  material.name = given.name;
  return material;
}

export function each(object: Object3D, what: (mesh: Mesh) => void): void {
  object.traverse((child) => {
    if ((child as Mesh).isMesh) what(child as Mesh);
  });
}
