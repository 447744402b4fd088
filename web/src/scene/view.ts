import {
  NeutralToneMapping,
  PCFShadowMap,
  PerspectiveCamera,
  Scene as Scene3,
  Vector2,
  WebGLRenderer,
} from "three";
import { Lights } from "./lights.ts";
import type { Theme } from "./palette.ts";

/** Pixels and shadows for each quality; a slow machine steps down by itself. */
const QUALITIES = [
  { ratio: 2, shadow: 2048 },
  { ratio: 1.25, shadow: 1024 },
  { ratio: 1, shadow: 1024 },
  { ratio: 0.7, shadow: 0 },
];
const SLOW_MS = 24;

/** The WebGL canvas. It draws only when something has changed. */
export class View {
  readonly scene = new Scene3();
  readonly camera = new PerspectiveCamera(38, 1, 0.02, 300);
  readonly renderer: WebGLRenderer;
  readonly lights: Lights;
  readonly size = new Vector2(1, 1);
  fps = 0;
  frameMs = 0;
  rendered = 0;
  private scheduled = false;
  private quality: number;
  private readonly fixedQuality: boolean;
  private lastDraw = 0;
  private intervals: number[] = [];
  private drawTimes: number[] = [];
  private readonly before: ((now: number) => boolean)[] = [];
  private readonly after: (() => void)[] = [];

  constructor(private readonly host: HTMLElement) {
    const wanted = new URLSearchParams(location.search).get("quality");
    this.fixedQuality = wanted !== null;
    this.quality = Math.min(Math.max(Number(wanted ?? 0) || 0, 0), QUALITIES.length - 1);
    this.renderer = new WebGLRenderer({ antialias: true, alpha: true, powerPreference: "high-performance" });
    this.renderer.toneMapping = NeutralToneMapping;
    this.renderer.toneMappingExposure = 1.05;
    this.renderer.shadowMap.type = PCFShadowMap;
    this.renderer.domElement.className = "canvas";
    this.camera.up.set(0, 0, 1);
    host.append(this.renderer.domElement);
    this.lights = new Lights(this.scene, this.renderer);
    this.applyQuality();
    new ResizeObserver(() => this.resize()).observe(host);
    this.resize();
    document.addEventListener("visibilitychange", () => this.invalidate());
  }

  /** `before` runs ahead of each drawing and returns whether another one has to follow. */
  onBefore(hook: (now: number) => boolean): void {
    this.before.push(hook);
  }

  onAfter(hook: () => void): void {
    this.after.push(hook);
  }

  setTheme(theme: Theme): void {
    this.lights.setTheme(theme);
    this.invalidate();
  }

  readonly invalidate = (): void => {
    if (this.scheduled) return;
    this.scheduled = true;
    requestAnimationFrame(this.draw);
  };

  private readonly draw = (now: number): void => {
    this.scheduled = false;
    const start = performance.now();
    let more = false;
    for (const hook of this.before) more = hook(now) || more;
    this.renderer.render(this.scene, this.camera);
    for (const hook of this.after) hook();
    this.rendered++;
    this.measure(now, performance.now() - start);
    if (more) this.invalidate();
  };

  private measure(now: number, cost: number): void {
    const interval = now - this.lastDraw;
    this.lastDraw = now;
    this.frameMs = this.frameMs === 0 ? cost : 0.9 * this.frameMs + 0.1 * cost;
    this.drawTimes.push(now);
    while ((this.drawTimes[0] ?? now) < now - 1000) this.drawTimes.shift();
    this.fps = this.drawTimes.length;
    // Pauses between single drawings say nothing about speed.
    if (interval > 400 || this.fixedQuality) {
      this.intervals.length = 0;
      return;
    }
    this.intervals.push(interval);
    if (this.intervals.length < 45) return;
    const median = [...this.intervals].sort((a, b) => a - b)[22] ?? 0;
    this.intervals.length = 0;
    if (median > SLOW_MS && this.frameMs > 12 && this.quality < QUALITIES.length - 1) {
      this.quality++;
      this.applyQuality();
    }
  }

  private applyQuality(): void {
    const quality = QUALITIES[this.quality] ?? { ratio: 1, shadow: 0 };
    this.renderer.setPixelRatio(Math.min(window.devicePixelRatio, quality.ratio));
    this.renderer.shadowMap.enabled = quality.shadow > 0;
    this.lights.setShadows(quality.shadow);
    this.resize();
  }

  private resize(): void {
    const width = Math.max(this.host.clientWidth, 1);
    const height = Math.max(this.host.clientHeight, 1);
    this.size.set(width, height);
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
    this.renderer.setSize(width, height, false);
    this.invalidate();
  }
}
