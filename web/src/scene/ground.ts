import {
  BufferAttribute,
  BufferGeometry,
  Color,
  EdgesGeometry,
  Group,
  LineBasicMaterial,
  LineSegments,
  Mesh,
  MeshBasicMaterial,
  MeshLambertMaterial,
  PlaneGeometry,
  Quaternion,
  Vector3,
  type Object3D,
} from "three";
import type { Frame, Quat, Region, Scene, Surface, Vec3 } from "../protocol/types.ts";
import { PALETTES, type Palette, type Theme } from "./palette.ts";

const PLANE_M = 60;

interface Grid {
  offset: { value: Vector3 };
  focus: { value: Vector3 };
  fade: { value: number };
  minor: { value: Color };
  major: { value: Color };
}

/** The ground: planes with a grid that fades into the distance, heightfields and solids. */
export class Ground {
  readonly object = new Group();
  private surfaces: Group[] = [];
  private planes: { group: Group; mesh: Mesh; grid: Grid }[] = [];
  private materials: { material: MeshLambertMaterial; of: "plane" | "terrain"; grid: Grid }[] = [];
  private edges: LineBasicMaterial[] = [];
  private palette: Palette = PALETTES.dark;
  private reach = 1;

  build(scene: Scene, reach: number): void {
    this.reach = reach;
    dispose(this.object);
    this.object.clear();
    this.surfaces = [];
    this.planes = [];
    this.materials = [];
    this.edges = [];
    scene.surfaces.forEach((surface, index) => {
      const group = new Group();
      place(group, surface.position_m, surface.quat);
      if (surface.kind === "plane") this.addPlane(group);
      else this.addMesh(group, surface);
      for (const region of scene.regions) if (region.surface === index) group.add(regionFrame(region));
      this.surfaces.push(group);
      this.object.add(group);
    });
    this.paint();
  }

  setTheme(theme: Theme): void {
    this.palette = PALETTES[theme];
    this.paint();
  }

  /** Keeps each plane under what is looked at, so that it seems to have no end. */
  follow(x: number, y: number, z: number): void {
    const focus = new Vector3(x, y, z);
    for (const { grid } of this.materials) grid.focus.value.copy(focus);
    for (const plane of this.planes) {
      const local = plane.group.worldToLocal(focus.clone());
      plane.mesh.position.set(Math.round(local.x), Math.round(local.y), 0);
      plane.grid.offset.value.copy(plane.mesh.position);
    }
  }

  move(frame: Frame): void {
    for (const { surface, position_m, quat } of frame.surfaces) {
      const group = this.surfaces[surface];
      if (group !== undefined) place(group, position_m, quat);
    }
  }

  private addPlane(group: Group): void {
    const grid = this.newGrid(9 * this.reach);
    const material = groundMaterial(grid, true);
    const mesh = new Mesh(new PlaneGeometry(PLANE_M, PLANE_M), material);
    mesh.receiveShadow = true;
    mesh.renderOrder = -10;
    group.add(mesh);
    this.materials.push({ material, of: "plane", grid });
    this.planes.push({ group, mesh, grid });
  }

  private addMesh(group: Group, surface: Surface): void {
    const geometry = new BufferGeometry();
    geometry.setAttribute("position", new BufferAttribute(new Float32Array(surface.vertices ?? []), 3));
    geometry.setIndex(surface.triangles ?? []);
    // Corners of solids and stairs stay sharp; a heightfield is smooth.
    const shape = surface.kind === "convex" ? geometry.toNonIndexed() : geometry;
    shape.computeVertexNormals();
    const grid = this.newGrid(30 * this.reach);
    const material = groundMaterial(grid, false);
    const mesh = new Mesh(shape, material);
    mesh.receiveShadow = true;
    mesh.castShadow = surface.kind === "convex";
    group.add(mesh);
    this.materials.push({ material, of: "terrain", grid });
    if (surface.kind === "convex") {
      const line = new LineBasicMaterial({ transparent: true, opacity: 0.7 });
      group.add(new LineSegments(new EdgesGeometry(geometry, 12), line));
      this.edges.push(line);
    }
  }

  private newGrid(fade: number): Grid {
    return {
      offset: { value: new Vector3() },
      focus: { value: new Vector3() },
      fade: { value: Math.min(fade, PLANE_M / 2 - 1) },
      minor: { value: new Color() },
      major: { value: new Color() },
    };
  }

  private paint(): void {
    for (const { material, of, grid } of this.materials) {
      material.color.set(of === "plane" ? this.palette.ground : this.palette.terrain);
      grid.minor.value.set(this.palette.gridMinor);
      grid.major.value.set(of === "plane" ? this.palette.gridMajor : this.palette.terrainEdge);
    }
    for (const line of this.edges) line.color.set(this.palette.terrainEdge);
  }
}

function groundMaterial(grid: Grid, plane: boolean): MeshLambertMaterial {
  // It fills most of the picture, so it has the cheapest material that takes a shadow.
  const material = new MeshLambertMaterial({ transparent: plane, toneMapped: false });
  material.onBeforeCompile = (shader) => {
    shader.uniforms["gridOffset"] = grid.offset;
    shader.uniforms["gridFocus"] = grid.focus;
    shader.uniforms["gridFade"] = grid.fade;
    shader.uniforms["gridMinor"] = grid.minor;
    shader.uniforms["gridMajor"] = grid.major;
    shader.vertexShader = shader.vertexShader
      .replace(
        "#include <common>",
        "#include <common>\nuniform vec3 gridOffset;\nvarying vec3 vGrid;\nvarying vec3 vPlace;",
      )
      .replace(
        "#include <begin_vertex>",
        "#include <begin_vertex>\nvGrid = position + gridOffset;\nvPlace = (modelMatrix * vec4(position, 1.0)).xyz;",
      );
    shader.fragmentShader = shader.fragmentShader
      .replace("#include <common>", `#include <common>\n${GRID}`)
      .replace(
        "#include <color_fragment>",
        `#include <color_fragment>
        float gridFar = distance(vPlace, gridFocus);
        float gridNear = 1.0 - smoothstep(0.12 * gridFade, 0.55 * gridFade, gridFar);
        diffuseColor.rgb = mix(diffuseColor.rgb, gridMinor, gridLine(vGrid.xy, 0.1, 1.0) * gridNear);
        diffuseColor.rgb = mix(diffuseColor.rgb, gridMajor, gridLine(vGrid.xy, ${plane ? "1.0" : "0.5"}, 1.3) * 0.85);
        ${plane ? "diffuseColor.a *= 1.0 - smoothstep(0.3 * gridFade, gridFade, gridFar);" : ""}`,
      );
  };
  material.customProgramCacheKey = () => (plane ? "plane" : "terrain");
  return material;
}

const GRID = `
uniform vec3 gridFocus;
uniform float gridFade;
uniform vec3 gridMinor;
uniform vec3 gridMajor;
varying vec3 vGrid;
varying vec3 vPlace;
float gridLine(vec2 at, float cell, float pixels) {
  vec2 place = at / cell;
  vec2 wide = max(fwidth(place), 1e-5) * pixels;
  vec2 near = abs(fract(place - 0.5) - 0.5);
  vec2 line = (1.0 - smoothstep(0.0, 1.0, near / wide)) * min(vec2(1.0), 0.28 / wide);
  return clamp(max(line.x, line.y), 0.0, 1.0);
}`;

/** The border of a region with friction of its own: slippery ones are blue, others amber. */
function regionFrame(region: Region): Mesh {
  const width = region.max_m[0] - region.min_m[0];
  const depth = region.max_m[1] - region.min_m[1];
  const slippery = (region.mu_static ?? 1) < 0.5;
  const material = new MeshBasicMaterial({
    color: slippery ? 0x4aa8ff : 0xf2b632,
    transparent: true,
    opacity: 0.13,
    depthWrite: false,
    polygonOffset: true,
    polygonOffsetFactor: -2,
  });
  const mesh = new Mesh(new PlaneGeometry(width, depth), material);
  mesh.position.set(region.min_m[0] + width / 2, region.min_m[1] + depth / 2, 0.002);
  mesh.renderOrder = -5;
  return mesh;
}

function place(object: Object3D, position: Vec3, quat: Quat): void {
  object.position.set(...position);
  object.quaternion.copy(toQuaternion(quat));
  object.updateMatrixWorld();
}

export function toQuaternion(quat: Quat): Quaternion {
  return new Quaternion(quat[1], quat[2], quat[3], quat[0]);
}

export function dispose(object: Object3D): void {
  object.traverse((child) => {
    const mesh = child as Partial<Mesh>;
    mesh.geometry?.dispose();
    if (Array.isArray(mesh.material)) for (const material of mesh.material) material.dispose();
    else mesh.material?.dispose();
  });
}
