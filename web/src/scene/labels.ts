import { Vector3, type PerspectiveCamera, type Vector2 } from "three";
import { h, setText } from "../ui/dom.ts";

/** Small texts at points of the world. */
export class Labels {
  readonly element = h("div", { class: "labels" });
  private readonly pool: HTMLElement[] = [];
  private used = 0;
  private readonly point = new Vector3();

  begin(): void {
    this.used = 0;
  }

  add(at: Vector3, text: string, kind: string, camera: PerspectiveCamera, size: Vector2): void {
    this.point.copy(at).project(camera);
    if (this.point.z > 1 || Math.abs(this.point.x) > 1.1 || Math.abs(this.point.y) > 1.1) return;
    const element = this.pool[this.used] ?? this.grow();
    this.used++;
    const x = Math.round((this.point.x * 0.5 + 0.5) * size.x);
    const y = Math.round((0.5 - this.point.y * 0.5) * size.y);
    element.style.transform = `translate(${x}px, ${y}px) translate(-50%, -135%)`;
    if (element.className !== `label ${kind}`) element.className = `label ${kind}`;
    element.hidden = false;
    setText(element, text);
  }

  end(): void {
    for (let i = this.used; i < this.pool.length; i++) {
      const element = this.pool[i];
      if (element !== undefined && !element.hidden) element.hidden = true;
    }
  }

  private grow(): HTMLElement {
    const element = h("div", { class: "label" });
    this.pool.push(element);
    this.element.append(element);
    return element;
  }
}
