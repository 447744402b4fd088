import type {
  Answer,
  EventMessage,
  Frame,
  LinkMessage,
  OtherFrame,
  OtherScene,
  Scene,
  Status,
} from "../protocol/types.ts";
import { FoxgloveClient } from "./foxglove.ts";
import type { Source, SourceHandlers } from "./source.ts";

const TOPICS = ["scene", "frame", "status", "event", "link", "other_scene", "other_frame"].map(
  (name) => `/hardstand/${name}`,
);
const RETRY_FIRST_MS = 100;
const RETRY_MAX_MS = 1000;

/** The connection to `hardstand view`. It comes back by itself. */
export class LiveSource implements Source {
  private client: FoxgloveClient | null = null;
  private retryMs = RETRY_FIRST_MS;
  private timer = 0;
  private closed = false;
  private readonly url: string;
  private readonly handlers: SourceHandlers;

  constructor(url: string, handlers: SourceHandlers) {
    this.url = url;
    this.handlers = handlers;
    this.connect();
  }

  close(): void {
    this.closed = true;
    clearTimeout(this.timer);
    this.client?.close();
  }

  async order(name: string, request: object = {}): Promise<Answer> {
    if (this.client === null) return { ok: false, text: "There is no connection to the viewer." };
    try {
      return (await this.client.call(`/hardstand/${name}`, request)) as Answer;
    } catch (error) {
      return { ok: false, text: `${name}: ${error instanceof Error ? error.message : String(error)}` };
    }
  }

  private connect(): void {
    this.handlers.connection("connecting", `Connecting to ${this.url}`);
    const client = new FoxgloveClient(this.url, TOPICS, {
      open: () => {
        this.retryMs = RETRY_FIRST_MS;
        this.handlers.connection("live", "");
      },
      message: (topic, value) => this.receive(topic, value),
      close: () => {
        if (this.client === client) this.client = null;
        if (this.closed) return;
        this.handlers.connection("lost", "The viewer does not answer. Trying again.");
        this.timer = window.setTimeout(() => this.connect(), this.retryMs);
        this.retryMs = Math.min(2 * this.retryMs, RETRY_MAX_MS);
      },
    });
    this.client = client;
  }

  private receive(topic: string, value: unknown): void {
    switch (topic) {
      case "/hardstand/scene":
        this.handlers.scene(value as Scene);
        break;
      case "/hardstand/frame":
        this.handlers.frame(value as Frame);
        break;
      case "/hardstand/status":
        this.handlers.status(value as Status);
        break;
      case "/hardstand/event":
        this.handlers.event(value as EventMessage);
        break;
      case "/hardstand/other_scene":
        this.handlers.otherScene(value as OtherScene);
        break;
      case "/hardstand/other_frame":
        this.handlers.otherFrame(value as OtherFrame);
        break;
      case "/hardstand/link": {
        const link = value as LinkMessage;
        this.handlers.connection(link.connected ? "live" : "no daemon", link.text);
        break;
      }
    }
  }
}
