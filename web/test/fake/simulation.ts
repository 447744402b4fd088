import type { Answer, Contact, EventMessage, Frame, Phase, Vec3 } from "../../src/protocol/types.ts";
import { efforts, FOOT_RADIUS, GRAVITY, inverse, LEGS, MASS_KG, pose, type Gait } from "./quadruped.ts";
import { add, conjugate, rotate, scale, sub } from "./vector.ts";
import type { World } from "./world.ts";

/** What a tick changes; all the rest of a frame follows from it and from the tick. */
interface Record_ {
  shift: Vec3;
  velocity: Vec3;
  digest: number;
  push: Vec3;
}

interface ActivePush {
  force: Vec3;
  until: number;
}

const PERIOD_S = 1e-3;

/** A quadruped that sways or trots and yields to pushes like a mass on a spring. */
export class Simulation {
  tick = 0;
  phase: Phase = "running";
  speed = 1;
  stopped = false;
  mu = 0.8;
  muKinetic = 0.6;
  runUntil: number | null = null;
  onEvent: (event: EventMessage) => void = () => {};
  counters: Record<string, number> = {
    commands_received: 0,
    commands_accepted: 0,
    missed_deadlines: 0,
    rejected_late: 0,
    rejected_sequence: 0,
    link_dropped: 0,
  };
  private records: Record_[] = [
    { shift: [0, 0, 0], velocity: [0, 0, 0], digest: 0x811c9dc5, push: [0, 0, 0] },
  ];
  private pushes: ActivePush[] = [];
  private velocity: Vec3 = [0, 0, 0];
  private snapshots = new Map<number, { tick: number; records: Record_[] }>();
  private nextSnapshot = 1;

  constructor(
    public runId: number,
    readonly world: World,
    readonly gait: Gait,
  ) {}

  get time(): number {
    return this.tick * PERIOD_S;
  }

  step(ticks: number): void {
    for (let i = 0; i < ticks; i++) {
      const record = this.records[this.tick]!;
      let force: Vec3 = [0, 0, 0];
      this.pushes = this.pushes.filter((push) => push.until > this.tick);
      for (const push of this.pushes) force = add(force, push.force);
      const spring = add(scale(record.shift, -42), scale(record.velocity, -7));
      const acceleration = add(scale(force, 1 / MASS_KG), spring);
      const velocity = add(record.velocity, scale(acceleration, PERIOD_S));
      const shift = add(record.shift, scale(velocity, PERIOD_S));
      this.tick++;
      const digest = hash(record.digest, [this.tick, ...shift, ...velocity]);
      this.records.length = this.tick;
      this.records.push({ shift, velocity, digest, push: force });
      this.counters["commands_received"]!++;
      this.counters["commands_accepted"]!++;
      if (this.tick % 2900 === 0) {
        this.counters["rejected_late"]! += 2;
        this.counters["missed_deadlines"]!++;
      }
      if (this.runUntil !== null && this.time >= this.runUntil - 1e-9) {
        this.runUntil = null;
        this.phase = "paused";
        return;
      }
    }
  }

  order(name: string, request: Record<string, unknown>): Answer {
    const number = (key: string): number => Number(request[key]);
    switch (name) {
      case "pause":
        this.phase = "paused";
        return { ok: true, text: `paused at tick ${this.tick}` };
      case "resume":
        this.phase = "running";
        this.runUntil = null;
        return { ok: true, text: "running" };
      case "stop":
        this.stopped = true;
        this.event("stop", "emergency stop");
        return { ok: true, text: "emergency stop" };
      case "arm":
        this.stopped = false;
        this.event("arm", "armed");
        return { ok: true, text: "armed" };
      case "reset":
        this.tick = 0;
        this.records.length = 1;
        this.pushes = [];
        this.runId++;
        return { ok: true, text: "reset" };
      case "step": {
        this.phase = "paused";
        const ticks = Math.trunc(number("ticks"));
        if (ticks >= 0) this.step(ticks);
        else this.back(-ticks);
        return { ok: true, text: `tick ${this.tick}` };
      }
      case "run_until":
        if (!(number("time_s") > this.time))
          return { ok: false, text: `${number("time_s")} s is over; it is ${this.time.toFixed(3)} s` };
        this.runUntil = number("time_s");
        this.phase = "running";
        return { ok: true, text: `running until ${number("time_s")} s` };
      case "speed":
        this.speed = number("speed");
        return { ok: true, text: `speed ${this.speed}` };
      case "snapshot": {
        const id = this.nextSnapshot++;
        this.snapshots.set(id, { tick: this.tick, records: this.records.slice(0, this.tick + 1) });
        return { ok: true, text: `saved as ${id}`, id };
      }
      case "restore": {
        const saved = this.snapshots.get(number("id"));
        if (saved === undefined)
          return { ok: false, text: `there is no saved state ${String(request["id"])}` };
        this.tick = saved.tick;
        this.records = saved.records.slice();
        return { ok: true, text: `restored tick ${this.tick}` };
      }
      case "push": {
        const force = request["force_n"] as Vec3;
        const ticks = Math.round(number("duration_s") / PERIOD_S);
        this.pushes.push({ force, until: this.tick + ticks });
        const size = Math.hypot(...force).toFixed(1);
        this.event("push", `${size} N on ${String(request["link"])} for ${ticks} ticks`);
        return { ok: true, text: `push of ${size} N from tick ${this.tick} on` };
      }
      case "friction":
        this.mu = number("mu_static");
        this.muKinetic = number("mu_kinetic");
        this.event("friction", `µ ${this.mu} / ${this.muKinetic}`);
        return { ok: true, text: `friction ${this.mu} / ${this.muKinetic} from tick ${this.tick} on` };
      case "cmd_vel":
        this.velocity = request["velocity"] as Vec3;
        return { ok: true, text: `cmd vel at tick ${this.tick}` };
      case "fault": {
        const { kind, ...parameters } = request;
        this.event("fault", `${String(kind)} ${JSON.stringify(parameters)}`);
        return { ok: true, text: `${String(kind)} until it is cleared from tick ${this.tick} on` };
      }
      case "clear":
        this.event("clear", request["kind"] === undefined ? "everything" : String(request["kind"]));
        return { ok: true, text: `cleared from tick ${this.tick} on` };
      default:
        return { ok: false, text: `${name} is not an order` };
    }
  }

  private back(ticks: number): void {
    this.tick = Math.max(0, this.tick - ticks);
    this.pushes = [];
    this.records.length = this.tick + 1;
  }

  private event(kind: string, text: string): void {
    this.onEvent({
      run_id: this.runId,
      tick: this.tick,
      time_s: this.time,
      kind,
      controller: "",
      asker: "page",
      text,
    });
  }

  frame(): Frame {
    const record = this.records[this.tick]!;
    const at = pose(this.time, this.gait, this.world.height, record.shift);
    const before = pose(
      this.time - PERIOD_S,
      this.gait,
      this.world.height,
      sub(record.shift, scale(record.velocity, PERIOD_S)),
    );
    const v = scale(sub(at.base, before.base), 1 / PERIOD_S);
    const w = scale(sub(at.rpy, before.rpy), 1 / PERIOD_S);
    const contacts = this.contacts(at, record);
    const force = LEGS.map(
      (_, i) => contacts.find((contact) => contact.station === i)?.force ?? ([0, 0, 0] as Vec3),
    );
    const q = LEGS.flatMap((_, i) => inverse(i, at.base, at.quat, at.feet[i]!));
    const tau = LEGS.flatMap((_, i) => efforts(i, at.quat, q.slice(3 * i, 3 * i + 3) as Vec3, force[i]!));
    const q0 = LEGS.flatMap((_, i) => inverse(i, before.base, before.quat, before.feet[i]!));
    const noise = (n: number): number => 0.02 * Math.sin(this.tick * (1.3 + 0.7 * n) + n);
    const acc = rotate(conjugate(at.quat), [noise(1), noise(2), GRAVITY + noise(3)]);
    return {
      run_id: this.runId,
      tick: this.tick,
      time_ns: this.tick * 1_000_000,
      mode: "realtime",
      phase: this.phase,
      failure: null,
      authority: this.stopped ? "stopped" : this.tick % 7 === 3 ? "held" : "fresh",
      command_age_ticks: this.tick % 7 === 3 ? 2 : 1,
      owner: "front, rear",
      joint_owners: LEGS.flatMap((leg) => Array<string>(3).fill(leg[0] === "F" ? "front" : "rear")),
      joint_ages: LEGS.flatMap((leg) => Array<number>(3).fill(leg[0] === "F" || this.tick % 7 !== 3 ? 1 : 2)),
      digest: this.digest(),
      velocity_command: this.velocity,
      base: { p: at.base, quat: at.quat, v, w },
      imu: { quat: at.quat, gyro: add(w, [noise(4), noise(5), noise(6)]), acc },
      q,
      dq: q.map((value, i) => (value - q0[i]!) / PERIOD_S),
      tau,
      command: {
        q: q.map((value, i) => value + tau[i]! / 100),
        dq: q.map(() => 0),
        kp: q.map(() => 100),
        kd: q.map(() => 3),
        tau_ff: q.map(() => 0),
      },
      foot_contact: force.map((f) => f[2] > 1),
      foot_normal_n: force.map((f) => f[2]),
      feet: at.feet.map((point, i) => ({
        point: sub(point, [0, 0, FOOT_RADIUS]),
        force: force[i]!,
        moment: [0, 0, 0] as Vec3,
      })),
      contacts,
      surfaces: this.world.surfaces.flatMap((surface, index) =>
        surface.moves
          ? [
              {
                surface: index,
                position_m: add(surface.position_m, [0, 0.2 * Math.sin(this.time), 0]),
                quat: surface.quat,
              },
            ]
          : [],
      ),
    };
  }

  digest(): string {
    const value = this.records[this.tick]!.digest;
    return value.toString(16).padStart(8, "0") + hash(value, [this.tick]).toString(16).padStart(8, "0");
  }

  /** Normal forces add up to the weight; friction carries pushes and an inner load. */
  private contacts(at: ReturnType<typeof pose>, record: Record_): Contact[] {
    const lean = sub(
      at.base,
      scale(
        at.feet.reduce((sum, foot) => add(sum, foot), [0, 0, 0] as Vec3),
        0.25,
      ),
    );
    const share = at.feet.map((_, i) => {
      const along = 1 + ((i < 2 ? 1 : -1) * lean[0]) / 0.19;
      const across = 1 + ((i % 2 === 0 ? 1 : -1) * lean[1]) / 0.145;
      return at.load[i]! * Math.max(along, 0.05) * Math.max(across, 0.05);
    });
    const whole = share.reduce((sum, part) => sum + part, 0);
    const contacts: Contact[] = [];
    const loaded = share.filter((part) => part > 0.01).length;
    at.feet.forEach((foot, i) => {
      const part = share[i]! / whole;
      if (part < 0.005 || loaded === 0) return;
      const normal_n = part * MASS_KG * GRAVITY;
      const inner = 0.16 + 0.1 * Math.sin(1.1 * this.time + i);
      // Opposite feet bear against each other, so the inner load adds up to nothing.
      const t: Vec3 = [
        -record.push[0] * part +
          (i < 2 ? -1 : 1) * (loaded === 4 ? 4.5 * inner : 14 * Math.sin(12 * this.time)),
        -record.push[1] * part + (i % 2 === 0 ? -1 : 1) * 22 * inner * (loaded === 4 ? 1 : 0),
        0,
      ];
      const size = Math.hypot(t[0], t[1]);
      const limit = this.mu * normal_n;
      const slides = size > limit;
      const friction = slides ? scale(t, (this.muKinetic * normal_n) / size) : t;
      const p = sub(foot, [0, 0, FOOT_RADIUS]);
      contacts.push({
        station: i,
        surface: 0,
        p,
        normal: [0, 0, 1],
        force: add(friction, [0, 0, normal_n]),
        normal_n,
        anchor: slides ? p : add(p, scale(friction, 1 / 900)),
        slip_m_per_s: slides ? 0.004 * (size - limit) : 0.0004,
        sliding: slides ? 1 : 0,
        mu: slides ? this.muKinetic : this.mu,
        limit_n: (slides ? this.muKinetic : this.mu) * normal_n,
      });
    });
    return contacts;
  }
}

function hash(seed: number, values: number[]): number {
  const bytes = new Uint8Array(new Float64Array(values).buffer);
  let h = seed >>> 0;
  for (const byte of bytes) h = Math.imul(h ^ byte, 0x01000193) >>> 0;
  return h;
}
