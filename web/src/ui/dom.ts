type Child = Node | string | null;
type Props = Record<string, string | number | boolean | ((event: never) => void) | undefined>;

/** Makes an element. `class` and `data-…` are attributes, `on…` listeners, the rest properties. */
export function h<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  props: Props = {},
  ...children: Child[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined) continue;
    if (typeof value === "function") element.addEventListener(name.slice(2), value as EventListener);
    else if (name in element && name !== "list")
      (element as unknown as Record<string, unknown>)[name] = value;
    else element.setAttribute(name === "class" ? "class" : name, String(value));
  }
  for (const child of children) if (child !== null) element.append(child);
  return element;
}

/** Writes only what changed: a write that changes nothing still costs layout. */
export function setText(element: Element, text: string): void {
  if (element.firstChild?.nodeValue !== text) element.textContent = text;
}

export function icon(name: keyof typeof ICONS): SVGElement {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("class", "icon");
  svg.setAttribute("aria-hidden", "true");
  svg.innerHTML = ICONS[name];
  return svg;
}

const ICONS = {
  play: '<path d="M7 4.5v15l12-7.5z" fill="currentColor" stroke="none"/>',
  pause: '<path d="M7 5h3.4v14H7zM13.6 5H17v14h-3.4z" fill="currentColor" stroke="none"/>',
  step: '<path d="M6 5v14l9-7z" fill="currentColor" stroke="none"/><path d="M18 5v14"/>',
  back: '<path d="M18 5v14l-9-7z" fill="currentColor" stroke="none"/><path d="M6 5v14"/>',
  reset: '<path d="M4.5 12a7.5 7.5 0 1 0 2.6-5.7"/><path d="M4 4v4.6h4.6"/>',
  camera: '<path d="M4 8h3l1.6-2.5h6.8L17 8h3v11H4z"/><circle cx="12" cy="13" r="3.4"/>',
  restore: '<path d="M12 4v10m0 0-4-4m4 4 4-4"/><path d="M5 15v4.5h14V15"/>',
  until: '<path d="M4 12h11m0 0-4-4m4 4-4 4"/><path d="M19.5 5v14"/>',
  stop: '<path d="M8.4 3.5h7.2l4.9 4.9v7.2l-4.9 4.9H8.4l-4.9-4.9V8.4z"/><path d="M12 7.5v5.4M12 16.2v.1"/>',
  follow: '<circle cx="12" cy="12" r="3"/><path d="M12 3v4m0 10v4M3 12h4m10 0h4"/>',
  sun: '<circle cx="12" cy="12" r="4"/><path d="M12 2.5v2.6m0 13.8v2.6M2.5 12h2.6m13.8 0h2.6M5.3 5.3l1.8 1.8m9.8 9.8 1.8 1.8M18.7 5.3l-1.8 1.8m-9.8 9.8-1.8 1.8"/>',
  moon: '<path d="M20 14.2A8.2 8.2 0 0 1 9.8 4 8.2 8.2 0 1 0 20 14.2z"/>',
  help: '<circle cx="12" cy="12" r="8.5"/><path d="M9.6 9.4a2.5 2.5 0 1 1 3.5 2.6c-.8.4-1.1.9-1.1 1.8M12 16.6v.1"/>',
  layers: '<path d="m12 3.5 8.5 4.7L12 13 3.5 8.2z"/><path d="m4 12.4 8 4.5 8-4.5M4 16.2l8 4.5 8-4.5"/>',
  differ: '<path d="M5 4v6c0 4 5 3 5 7v3M19 4v6c0 4-5 3-5 7v3"/>',
  loop: '<path d="M6 8h10.5a3.5 3.5 0 0 1 0 8H14M6 8l3-3M6 8l3 3"/>',
  push: '<path d="M4 12h12m0 0-4.5-4.5M16 12l-4.5 4.5"/><circle cx="19.5" cy="12" r="1.2" fill="currentColor"/>',
  chevron: '<path d="m8 10 4 4 4-4"/>',
  close: '<path d="m6 6 12 12M18 6 6 18"/>',
} as const;

export type IconName = keyof typeof ICONS;
