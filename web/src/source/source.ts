import type { Answer, EventMessage, Frame, OtherFrame, OtherScene, Scene, Status } from "../protocol/types.ts";

export type Connection = "connecting" | "live" | "no daemon" | "lost" | "plant";

export interface SourceHandlers {
  connection(state: Connection, text: string): void;
  scene(scene: Scene): void;
  frame(frame: Frame): void;
  status(status: Status): void;
  event(event: EventMessage): void;
  otherScene(scene: OtherScene): void;
  otherFrame(frame: OtherFrame): void;
}

/** A simulation that goes on and takes orders: behind a WebSocket, or in this page. */
export interface Source {
  /** Gives an order. It never throws: what went wrong is the text of the answer. */
  order(name: string, request?: object): Promise<Answer>;
  close(): void;
}
