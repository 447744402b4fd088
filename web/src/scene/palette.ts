import { Color } from "three";

export type Theme = "dark" | "light";

export interface Palette {
  ground: number;
  gridMinor: number;
  gridMajor: number;
  terrain: number;
  terrainEdge: number;
  keyLight: number;
  skyLight: number;
  environment: number;
  trail: number;
  footTrail: number;
  ghost: number;
}

export const PALETTES: Record<Theme, Palette> = {
  dark: {
    ground: 0x242b33,
    gridMinor: 0x364050,
    gridMajor: 0x536072,
    terrain: 0x46505d,
    terrainEdge: 0x6a7787,
    keyLight: 2.0,
    skyLight: 1.2,
    environment: 0.6,
    trail: 0x4cc9b0,
    footTrail: 0x7d8ea3,
    ghost: 0x8f7cf7,
  },
  light: {
    ground: 0xfafcfe,
    gridMinor: 0xd3dae2,
    gridMajor: 0xaab6c3,
    terrain: 0xdfe6ed,
    terrainEdge: 0x8c99a8,
    keyLight: 1.85,
    skyLight: 2.0,
    environment: 0.6,
    trail: 0x0c8a74,
    footTrail: 0x8593a3,
    ghost: 0x6a55e0,
  },
};

/** Parts of robots whose URDF names no material. */
export const ROBOT = {
  base: 0xd5dbe2,
  limb: 0xb9c2cd,
  limbFar: 0xa0abb8,
  joint: 0x5b6571,
  foot: 0x2b3138,
};

const SAFE = new Color(0x35c46a);
const NEAR = new Color(0xf2b632);
const GONE = new Color(0xf0483e);

/** The colour of a contact that uses this share of its friction cone. */
export function shareColor(share: number, out: Color): Color {
  const s = Math.min(Math.max(share, 0), 1);
  return s < 0.55 ? out.lerpColors(SAFE, NEAR, s / 0.55) : out.lerpColors(NEAR, GONE, (s - 0.55) / 0.45);
}

export function shareCss(share: number): string {
  return `#${shareColor(share, new Color()).getHexString()}`;
}
