import type { App } from "./app.ts";
import type { Pose } from "./protocol/automation.ts";
import type { Stage } from "./scene/stage.ts";
import { Quaternion, Vector3 } from "three";

export function publish(app: App, stage: Stage): void {
  const pose = (robot: Stage["robot"], name: string): Pose | null => {
    const link = robot?.link(name) ?? null;
    if (link === null) return null;
    link.updateWorldMatrix(true, false);
    const q = link.getWorldQuaternion(new Quaternion());
    return { position_m: link.getWorldPosition(new Vector3()).toArray(), quat: [q.w, q.x, q.y, q.z] };
  };
  window.hardstand = {
    get source() {
      return app.connection;
    },
    get scene() {
      return app.scene;
    },
    get frame() {
      return app.frame;
    },
    get ghostFrame() {
      return app.ghostFrame;
    },
    get status() {
      return app.status;
    },
    get time_s() {
      return app.time_s;
    },
    get fps() {
      return stage.view.fps;
    },
    get drawn() {
      return stage.view.rendered;
    },
    get drawMs() {
      return stage.view.frameMs;
    },
    get framesReceived() {
      return app.framesReceived;
    },
    get failedMeshes() {
      return stage.robot?.failedMeshes ?? [];
    },
    get marks() {
      return app.marks;
    },
    ready: async () => {
      await stage.robot?.ready;
      await stage.ghost?.ready;
      await Promise.all([...stage.others.values()].map((other) => other.ready));
    },
    linkPose: (name) => pose(stage.robot, name),
    ghostLinkPose: (name) => pose(stage.ghost, name),
    others: () => [...stage.others.keys()],
    otherLinkPose: (robot, name) => pose(stage.others.get(robot) ?? null, name),
    boxes: (name) => stage.robot?.boxes(name) ?? [],
    screenPoint: (name) => {
      const link = stage.robot?.link(name) ?? null;
      if (link === null) return null;
      const point = link.getWorldPosition(new Vector3()).project(stage.view.camera);
      const box = stage.view.renderer.domElement.getBoundingClientRect();
      return [box.left + (point.x * 0.5 + 0.5) * box.width, box.top + (0.5 - point.y * 0.5) * box.height];
    },
    arrows: () => stage.contacts.arrows(),
    order: (name, request) => app.order(name, request),
    play: () => {
      if (!app.running) app.toggle();
    },
    pause: () => {
      if (app.running) app.toggle();
    },
    seek: (time_s) => app.player?.seek(time_s),
    step: (count) => app.step(count),
    select: (name) => {
      const index = app.scene?.joints.findIndex((joint) => joint.name === name) ?? -1;
      app.select(index < 0 ? null : index);
    },
    camera: (position_m, target_m) => {
      stage.setFollow(false);
      stage.rig.taken = true;
      stage.rig.target.set(...target_m);
      stage.view.camera.position.set(...position_m);
      stage.view.invalidate();
    },
  };
}
