import type { Theme } from "../scene/palette.ts";

const KEY = "hardstand-theme";

/** The system's theme, unless the user has chosen one. */
export class ThemeSwitch {
  theme: Theme;
  private readonly listeners: ((theme: Theme) => void)[] = [];

  constructor() {
    const system = matchMedia("(prefers-color-scheme: light)");
    this.theme = remembered() ?? (system.matches ? "light" : "dark");
    system.addEventListener("change", () => {
      if (remembered() === null) this.set(system.matches ? "light" : "dark", false);
    });
  }

  onChange(listener: (theme: Theme) => void): void {
    this.listeners.push(listener);
    document.documentElement.dataset["theme"] = this.theme;
    listener(this.theme);
  }

  toggle(): void {
    this.set(this.theme === "dark" ? "light" : "dark", true);
  }

  set(theme: Theme, remember: boolean): void {
    this.theme = theme;
    document.documentElement.dataset["theme"] = theme;
    colors.clear();
    if (remember) {
      try {
        localStorage.setItem(KEY, theme);
      } catch {
        // Pages from a file may not store anything; the choice then lasts as long as the page.
      }
    }
    for (const listener of this.listeners) listener(theme);
  }
}

function remembered(): Theme | null {
  try {
    const value = localStorage.getItem(KEY);
    return value === "dark" || value === "light" ? value : null;
  } catch {
    return null;
  }
}

const colors = new Map<string, string>();

/** A colour of the style sheet, for canvases. */
export function css(name: string): string {
  const known = colors.get(name);
  if (known !== undefined) return known;
  const value = getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  colors.set(name, value);
  return value;
}
