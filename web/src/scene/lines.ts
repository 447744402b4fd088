import {
  Color,
  DynamicDrawUsage,
  InstancedBufferAttribute,
  InstancedBufferGeometry,
  Float32BufferAttribute,
  Mesh,
  NormalBlending,
  ShaderMaterial,
  Vector2,
} from "three";

const VERTEX = `
uniform vec2 resolution;
attribute vec3 start;
attribute vec3 stop;
attribute vec4 startColor;
attribute vec4 stopColor;
attribute float width;
varying vec4 vColor;
varying float vSide;
void main() {
  vec4 a = projectionMatrix * modelViewMatrix * vec4(start, 1.0);
  vec4 b = projectionMatrix * modelViewMatrix * vec4(stop, 1.0);
  vec2 along = (b.xy / b.w - a.xy / a.w) * resolution;
  float span = length(along);
  vec2 direction = span > 1e-6 ? along / span : vec2(1.0, 0.0);
  vec2 across = vec2(-direction.y, direction.x);
  vec4 here = position.x < 0.5 ? a : b;
  vec2 shift = across * position.y + direction * (position.x - 0.5);
  here.xy += shift * (width + 1.0) / resolution * here.w;
  vColor = position.x < 0.5 ? startColor : stopColor;
  vSide = position.y;
  gl_Position = here;
}`;

const FRAGMENT = `
varying vec4 vColor;
varying float vSide;
void main() {
  float edge = abs(vSide);
  float soft = fwidth(vSide) * 1.2;
  float alpha = vColor.a * (1.0 - smoothstep(1.0 - soft, 1.0, edge));
  if (alpha < 0.003) discard;
  gl_FragColor = vec4(vColor.rgb, alpha);
  #include <colorspace_fragment>
}`;

/** Line segments of a width in pixels, which may fade along their length. */
export class Lines extends Mesh<InstancedBufferGeometry, ShaderMaterial> {
  private readonly parts: Record<
    "start" | "stop" | "startColor" | "stopColor" | "width",
    InstancedBufferAttribute
  >;
  private used = 0;

  constructor(
    private readonly capacity: number,
    resolution: Vector2,
    depthTest = true,
  ) {
    const geometry = new InstancedBufferGeometry();
    geometry.setAttribute("position", new Float32BufferAttribute([0, -1, 0, 1, -1, 0, 0, 1, 0, 1, 1, 0], 3));
    geometry.setIndex([0, 1, 2, 2, 1, 3]);
    const make = (size: number): InstancedBufferAttribute => {
      const attribute = new InstancedBufferAttribute(new Float32Array(capacity * size), size);
      attribute.setUsage(DynamicDrawUsage);
      return attribute;
    };
    const parts = { start: make(3), stop: make(3), startColor: make(4), stopColor: make(4), width: make(1) };
    for (const [name, attribute] of Object.entries(parts)) geometry.setAttribute(name, attribute);
    const material = new ShaderMaterial({
      uniforms: { resolution: { value: resolution } },
      vertexShader: VERTEX,
      fragmentShader: FRAGMENT,
      transparent: true,
      depthWrite: false,
      depthTest,
      blending: NormalBlending,
    });
    super(geometry, material);
    this.parts = parts;
    this.frustumCulled = false;
    this.renderOrder = 5;
  }

  begin(): void {
    this.used = 0;
  }

  segment(
    a: ArrayLike<number>,
    b: ArrayLike<number>,
    color: Color,
    alphaA: number,
    alphaB: number,
    width: number,
  ): void {
    const i = this.used;
    if (i >= this.capacity) return;
    this.used++;
    this.parts.start.setXYZ(i, a[0] ?? 0, a[1] ?? 0, a[2] ?? 0);
    this.parts.stop.setXYZ(i, b[0] ?? 0, b[1] ?? 0, b[2] ?? 0);
    this.parts.startColor.setXYZW(i, color.r, color.g, color.b, alphaA);
    this.parts.stopColor.setXYZW(i, color.r, color.g, color.b, alphaB);
    this.parts.width.setX(i, width);
  }

  end(): void {
    this.geometry.instanceCount = this.used;
    this.visible = this.used > 0;
    for (const attribute of Object.values(this.parts)) {
      attribute.clearUpdateRanges();
      attribute.addUpdateRange(0, this.used * attribute.itemSize);
      attribute.needsUpdate = true;
    }
  }
}
