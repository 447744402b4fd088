/** A client of the Foxglove WebSocket protocol: JSON channels and JSON services, nothing more. */

const SUBPROTOCOL = "foxglove.sdk.v1";
const SERVER_MESSAGE_DATA = 1;
const SERVER_SERVICE_RESPONSE = 3;
const CLIENT_SERVICE_REQUEST = 2;

interface Channel {
  id: number;
  topic: string;
  encoding: string;
}

interface Service {
  id: number;
  name: string;
}

export interface FoxgloveHandlers {
  open(): void;
  message(topic: string, value: unknown): void;
  close(): void;
}

interface Pending {
  resolve(value: unknown): void;
  reject(error: Error): void;
  timer: number;
}

const ANSWER_TIMEOUT_MS = 10_000;

export class FoxgloveClient {
  private readonly socket: WebSocket;
  private readonly topics = new Map<number, string>();
  private readonly subscribed = new Map<number, number>();
  private readonly services = new Map<string, number>();
  private readonly calls = new Map<number, Pending>();
  private readonly wanted: ReadonlySet<string>;
  private readonly handlers: FoxgloveHandlers;
  private nextSubscription = 1;
  private nextCall = 1;

  constructor(url: string, wanted: readonly string[], handlers: FoxgloveHandlers) {
    this.wanted = new Set(wanted);
    this.handlers = handlers;
    this.socket = new WebSocket(url, [SUBPROTOCOL]);
    this.socket.binaryType = "arraybuffer";
    this.socket.onopen = () => handlers.open();
    this.socket.onmessage = (event: MessageEvent<string | ArrayBuffer>) => {
      if (typeof event.data === "string") this.control(event.data);
      else this.binary(event.data);
    };
    this.socket.onclose = () => {
      for (const call of this.calls.values()) {
        clearTimeout(call.timer);
        call.reject(new Error("the connection closed before the answer"));
      }
      this.calls.clear();
      handlers.close();
    };
  }

  close(): void {
    this.socket.close();
  }

  has(service: string): boolean {
    return this.services.has(service);
  }

  call(service: string, request: unknown): Promise<unknown> {
    const id = this.services.get(service);
    if (id === undefined || this.socket.readyState !== WebSocket.OPEN) {
      return Promise.reject(new Error(`the server does not offer ${service}`));
    }
    const callId = this.nextCall++;
    const encoding = new TextEncoder().encode("json");
    const payload = new TextEncoder().encode(JSON.stringify(request));
    const message = new Uint8Array(13 + encoding.length + payload.length);
    const view = new DataView(message.buffer);
    view.setUint8(0, CLIENT_SERVICE_REQUEST);
    view.setUint32(1, id, true);
    view.setUint32(5, callId, true);
    view.setUint32(9, encoding.length, true);
    message.set(encoding, 13);
    message.set(payload, 13 + encoding.length);
    this.socket.send(message);
    return new Promise((resolve, reject) => {
      const timer = window.setTimeout(() => {
        this.calls.delete(callId);
        reject(new Error(`${service} was not answered within ${ANSWER_TIMEOUT_MS / 1000} s`));
      }, ANSWER_TIMEOUT_MS);
      this.calls.set(callId, { resolve, reject, timer });
    });
  }

  private control(text: string): void {
    const message = JSON.parse(text) as Record<string, unknown>;
    switch (message["op"]) {
      case "advertise":
        this.advertised(message["channels"] as Channel[]);
        break;
      case "unadvertise":
        for (const id of message["channelIds"] as number[]) this.unadvertised(id);
        break;
      case "advertiseServices":
        for (const service of message["services"] as Service[]) this.services.set(service.name, service.id);
        break;
      case "unadvertiseServices": {
        const gone = new Set(message["serviceIds"] as number[]);
        for (const [name, id] of this.services) if (gone.has(id)) this.services.delete(name);
        break;
      }
      case "serviceCallFailure":
        this.settle(message["callId"] as number, (call) =>
          call.reject(new Error(String(message["message"]))),
        );
        break;
      default:
        break;
    }
  }

  private advertised(channels: Channel[]): void {
    const subscriptions = [];
    for (const channel of channels) {
      if (channel.encoding !== "json" || !this.wanted.has(channel.topic)) continue;
      const id = this.nextSubscription++;
      this.topics.set(id, channel.topic);
      this.subscribed.set(channel.id, id);
      subscriptions.push({ id, channelId: channel.id });
    }
    if (subscriptions.length > 0) this.socket.send(JSON.stringify({ op: "subscribe", subscriptions }));
  }

  private unadvertised(channelId: number): void {
    const id = this.subscribed.get(channelId);
    if (id === undefined) return;
    this.subscribed.delete(channelId);
    this.topics.delete(id);
  }

  private binary(data: ArrayBuffer): void {
    const view = new DataView(data);
    const opcode = view.getUint8(0);
    if (opcode === SERVER_MESSAGE_DATA) {
      const topic = this.topics.get(view.getUint32(1, true));
      if (topic === undefined) return;
      this.handlers.message(topic, JSON.parse(new TextDecoder().decode(new Uint8Array(data, 13))));
    } else if (opcode === SERVER_SERVICE_RESPONSE) {
      const callId = view.getUint32(5, true);
      const start = 13 + view.getUint32(9, true);
      const text = new TextDecoder().decode(new Uint8Array(data, start));
      this.settle(callId, (call) => {
        try {
          call.resolve(JSON.parse(text));
        } catch {
          call.reject(new Error("the answer is not JSON"));
        }
      });
    }
  }

  private settle(callId: number, how: (call: Pending) => void): void {
    const call = this.calls.get(callId);
    if (call === undefined) return;
    this.calls.delete(callId);
    clearTimeout(call.timer);
    how(call);
  }
}
