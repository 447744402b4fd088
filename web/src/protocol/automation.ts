import type { Answer, Frame, Scene, Status, Vec3 } from "./types.ts";

export interface ArrowState {
  station: number;
  surface: number;
  /** From the drawn objects, in m of the world and N. */
  tip: Vec3;
  tail: Vec3;
  force: Vec3;
  /** Of the friction limit, by the tangential force. */
  share: number;
}

export interface Pose {
  position_m: [number, number, number];
  quat: [number, number, number, number];
}

/** `window.hardstand`: what a script may read and do. README.md describes it. */
export interface Automation {
  readonly source: string;
  readonly scene: Scene | null;
  readonly frame: Frame | null;
  readonly ghostFrame: Frame | null;
  readonly status: Status | null;
  readonly time_s: number;
  readonly fps: number;
  /** Drawings since the page was opened, and the processor's time for one of the last, in ms. */
  readonly drawn: number;
  readonly drawMs: number;
  readonly framesReceived: number;
  readonly failedMeshes: string[];
  readonly marks: readonly { time_s: number; kind: string; text: string }[];
  ready(): Promise<void>;
  linkPose(name: string): Pose | null;
  ghostLinkPose(name: string): Pose | null;
  /** Names of the other robots that are drawn. */
  others(): string[];
  otherLinkPose(robot: string, name: string): Pose | null;
  /** The sizes of what is drawn of a link, in m. */
  boxes(link: string): [number, number, number][];
  screenPoint(link: string): [number, number] | null;
  arrows(): ArrowState[];
  order(name: string, request?: object): Promise<Answer>;
  play(): void;
  pause(): void;
  seek(time_s: number): void;
  step(count: number): void;
  select(joint: string | null): void;
  camera(position_m: [number, number, number], target_m: [number, number, number]): void;
}

declare global {
  interface Window {
    hardstand?: Automation;
  }
}
