import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { WebSocketServer, type WebSocket } from "ws";
import type { OtherFrame, OtherScene, Scene, Status } from "../../src/protocol/types.ts";
import type { Simulation } from "./simulation.ts";

const TOPICS = ["scene", "frame", "status", "event", "link", "other_scene", "other_frame"];
const ORDERS = [
  "pause",
  "resume",
  "stop",
  "arm",
  "reset",
  "step",
  "run_until",
  "speed",
  "snapshot",
  "restore",
  "push",
  "friction",
  "cmd_vel",
  "fault",
  "clear",
];

export interface FakeOptions {
  page: string;
  port?: number;
  run?: Buffer | null;
  run2?: Buffer | null;
  /** Live: the scene and what moves in it. */
  scene?: Scene;
  simulation?: Simulation;
  meshes?: Buffer[];
}

/** A stand-in for `hardstand view`: the page, a run, or a live robot over the Foxglove protocol. */
export class FakeServer {
  readonly orders: { name: string; request: Record<string, unknown> }[] = [];
  private readonly clients = new Map<WebSocket, Map<number, number>>();
  private readonly http: Server;
  private timers: NodeJS.Timeout[] = [];
  private debt = 0;
  private sentRun: number | null = null;

  private constructor(private readonly options: FakeOptions) {
    this.http = createServer((request, response) => {
      const path = new URL(request.url ?? "/", "http://fake").pathname;
      const send = (type: string, body: Buffer | string): void => {
        response.writeHead(200, { "content-type": type });
        response.end(body);
      };
      if (path === "/") return send("text/html; charset=utf-8", readFileSync(options.page));
      const body = path === "/run" ? options.run : path === "/run2" ? options.run2 : undefined;
      if (body) return send("application/octet-stream", body);
      const mesh = /^\/mesh\/(\d+)$/.exec(path);
      const bytes = mesh === null ? undefined : options.meshes?.[Number(mesh[1])];
      if (bytes !== undefined) return send("application/octet-stream", bytes);
      response.writeHead(path.startsWith("/run") ? 204 : 404);
      response.end();
    });
    if (options.simulation === undefined) return;
    const sockets = new WebSocketServer({
      server: this.http,
      handleProtocols: (offered) => (offered.has("foxglove.sdk.v1") ? "foxglove.sdk.v1" : false),
    });
    sockets.on("connection", (socket) => this.connected(socket));
    options.simulation.onEvent = (event) => this.publish("event", event);
  }

  static async start(options: FakeOptions): Promise<FakeServer> {
    const fake = new FakeServer(options);
    await new Promise<void>((resolve) => fake.http.listen(options.port ?? 0, "127.0.0.1", resolve));
    if (options.simulation !== undefined) {
      let last = performance.now();
      fake.timers.push(
        setInterval(() => {
          const now = performance.now();
          fake.advance((now - last) / 1000);
          last = now;
        }, 16),
        setInterval(() => fake.publish("status", fake.status()), 1000),
      );
    }
    return fake;
  }

  get port(): number {
    return (this.http.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/`;
  }

  async stop(): Promise<void> {
    this.timers.forEach(clearInterval);
    for (const socket of this.clients.keys()) socket.terminate();
    this.http.closeAllConnections();
    await new Promise((resolve) => this.http.close(resolve));
  }

  link(connected: boolean, text: string): void {
    this.publish("link", { connected, text });
  }

  other(scene: OtherScene, frame?: OtherFrame): void {
    this.publish("other_scene", scene);
    if (frame !== undefined) this.publish("other_frame", frame);
  }

  private advance(wall: number): void {
    const simulation = this.options.simulation!;
    if (simulation.phase === "running") {
      this.debt += wall * 1000 * (simulation.speed === 0 ? 8 : simulation.speed);
      const ticks = Math.min(Math.floor(this.debt), 400);
      this.debt -= ticks;
      simulation.step(ticks);
    }
    if (this.clients.size === 0) return;
    if (this.sentRun !== null && this.sentRun !== simulation.runId) this.publish("scene", this.scene());
    this.sentRun = simulation.runId;
    this.publish("frame", simulation.frame());
  }

  private scene(): Scene {
    return { ...this.options.scene!, run_id: this.options.simulation!.runId };
  }

  private connected(socket: WebSocket): void {
    this.clients.set(socket, new Map());
    socket.on("close", () => this.clients.delete(socket));
    socket.send(
      JSON.stringify({
        op: "serverInfo",
        name: "fake",
        capabilities: ["services"],
        supportedEncodings: ["json"],
      }),
    );
    const channels = TOPICS.map((topic, id) => ({
      id,
      topic: `/hardstand/${topic}`,
      encoding: "json",
      schemaName: topic,
      schema: "",
    }));
    socket.send(JSON.stringify({ op: "advertise", channels }));
    const services = ORDERS.map((name, i) => ({ id: i + 1, name: `/hardstand/${name}`, type: name }));
    socket.send(JSON.stringify({ op: "advertiseServices", services }));
    socket.on("message", (data: Buffer, binary: boolean) => {
      if (binary) this.called(socket, data);
      else
        this.control(
          socket,
          JSON.parse(data.toString()) as { op: string; subscriptions?: { id: number; channelId: number }[] },
        );
    });
  }

  private control(
    socket: WebSocket,
    message: { op: string; subscriptions?: { id: number; channelId: number }[] },
  ): void {
    if (message.op !== "subscribe") return;
    for (const { id, channelId } of message.subscriptions ?? []) {
      this.clients.get(socket)?.set(channelId, id);
      if (TOPICS[channelId] === "scene") send(socket, id, this.scene());
      if (TOPICS[channelId] === "link") send(socket, id, { connected: true, text: "" });
      if (TOPICS[channelId] === "status") send(socket, id, this.status());
    }
  }

  private called(socket: WebSocket, data: Buffer): void {
    if (data.readUInt8(0) !== 2) return;
    const serviceId = data.readUInt32LE(1);
    const callId = data.readUInt32LE(5);
    const start = 13 + data.readUInt32LE(9);
    const name = ORDERS[serviceId - 1] ?? "";
    const request = JSON.parse(data.subarray(start).toString()) as Record<string, unknown>;
    this.orders.push({ name, request });
    const answer = Buffer.from(JSON.stringify(this.options.simulation!.order(name, request)));
    const head = Buffer.alloc(17);
    head.writeUInt8(3, 0);
    head.writeUInt32LE(serviceId, 1);
    head.writeUInt32LE(callId, 5);
    head.writeUInt32LE(4, 9);
    head.write("json", 13);
    socket.send(Buffer.concat([head, answer]));
    this.publish("frame", this.options.simulation!.frame());
  }

  private publish(topic: string, value: unknown): void {
    const channel = TOPICS.indexOf(topic);
    for (const [socket, subscriptions] of this.clients) {
      const id = subscriptions.get(channel);
      if (id !== undefined && socket.bufferedAmount < 4_000_000) send(socket, id, value);
    }
  }

  private status(): Status {
    const simulation = this.options.simulation!;
    const frame = simulation.frame();
    return {
      run_id: simulation.runId,
      tick: simulation.tick,
      time_ns: frame.time_ns,
      mode: "realtime",
      phase: simulation.phase,
      authority: frame.authority,
      command_age_ticks: frame.command_age_ticks,
      command_session: "8f3a11c09b2d47e6",
      speed: simulation.speed,
      real_time_factor: simulation.phase === "running" ? simulation.speed : 0,
      fifo_priority: 80,
      core: 3,
      memory_locked: true,
      wakeup_latency_ns: distribution(simulation.tick, 4200),
      tick_cost_ns: distribution(simulation.tick, 1900),
      applied_age_ticks: {
        p50: 1,
        p99: 1,
        p99_9: 2,
        p99_99: 3,
        max: 4,
        counts: [0, simulation.tick, 9, 2, 1],
        edges: [1, 2, 3, 5],
      },
      counters: simulation.counters,
      refused: [],
      controllers: ["front", "rear"].map((name, i) => ({
        name,
        role: "required",
        session: `8f3a11c09b2d47e${i}`,
        period_ticks: 1 + i,
        phase_ticks: 0,
        offset_ticks: 1,
        joints: 6,
      })),
      missing: [],
    };
  }
}

function send(socket: WebSocket, subscription: number, value: unknown): void {
  const payload = Buffer.from(JSON.stringify(value));
  const head = Buffer.alloc(13);
  head.writeUInt8(1, 0);
  head.writeUInt32LE(subscription, 1);
  head.writeBigUInt64LE(BigInt(Date.now()) * 1_000_000n, 5);
  socket.send(Buffer.concat([head, payload]));
}

function distribution(ticks: number, middle: number): Status["tick_cost_ns"] {
  const edges: number[] = [];
  for (let decade = 1e3; decade < 1e9; decade *= 10)
    for (const step of [1, 1.5, 2, 3, 5, 7]) edges.push(step * decade);
  edges.push(1e9);
  const counts = edges.map((edge) =>
    Math.round(
      ticks * Math.exp(-0.5 * (Math.log(edge / middle) / 0.35) ** 2) +
        (edge > 2 * middle && edge < 60 * middle ? Math.random() * 3 : 0),
    ),
  );
  counts.push(0);
  return {
    p50: middle,
    p99: 2.4 * middle,
    p99_9: 6 * middle,
    p99_99: 21 * middle,
    max: 47 * middle,
    counts,
    edges,
  };
}
