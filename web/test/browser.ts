import "../src/protocol/automation.ts";
import { existsSync } from "node:fs";
import { chromium, type Browser, type BrowserContextOptions, type Page } from "playwright-core";

const CANDIDATES = [
  process.env["CHROMIUM"],
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
];

export async function launch(): Promise<Browser> {
  const executablePath = CANDIDATES.find((path) => path !== undefined && existsSync(path));
  if (executablePath === undefined) throw new Error("no Chromium: set CHROMIUM to its path");
  return chromium.launch({
    executablePath,
    // Without a graphics card, WebGL is drawn in software.
    args: [
      "--no-sandbox",
      "--use-angle=swiftshader",
      "--enable-unsafe-swiftshader",
      "--ignore-gpu-blocklist",
    ],
  });
}

export interface Watched {
  page: Page;
  errors: string[];
  requests: string[];
}

/** A page whose console errors and requests are kept. */
export async function open(
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
  /** Where the page's WebSocket leads instead of its own server. */
  webSocket: string | null = null,
): Promise<Watched> {
  const context = await browser.newContext({
    viewport: { width: 1440, height: 900 },
    colorScheme: "dark",
    ...options,
  });
  const page = await context.newPage();
  const errors: string[] = [];
  const requests: string[] = [];
  page.on("console", (message) => {
    if (message.type() === "error") errors.push(message.text());
  });
  page.on("pageerror", (error) => errors.push(`${error.name}: ${error.message}`));
  page.on("request", (request) => requests.push(request.url()));
  if (webSocket !== null) {
    await page.addInitScript((elsewhere) => {
      window.WebSocket = class extends WebSocket {
        constructor(_url: string | URL, protocols?: string | string[]) {
          super(elsewhere, protocols);
        }
      };
    }, webSocket);
  }
  await page.goto(url);
  return { page, errors, requests };
}
