import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Browser } from "playwright-core";
import { launch, open } from "./browser.ts";
import { FakeServer } from "./fake/server.ts";
import { Simulation } from "./fake/simulation.ts";
import { flat, makeScene } from "./fake/world.ts";
import { FAST, shown, SMALL } from "./helpers.ts";
import { PAGE } from "./paths.ts";

/** A corner of a cube, in every format that a URDF may name. */
const corner: [number, number, number][][] = [
  [
    [0, 0, 0],
    [0.2, 0, 0],
    [0, 0.2, 0],
  ],
  [
    [0, 0, 0],
    [0, 0.2, 0],
    [0, 0, 0.2],
  ],
];

function binaryStl(): Buffer {
  const out = Buffer.alloc(84 + 50 * corner.length);
  out.writeUInt32LE(corner.length, 80);
  corner.forEach((triangle, i) =>
    triangle.flat().forEach((value, k) => out.writeFloatLE(value, 84 + 50 * i + 12 + 4 * k)),
  );
  return out;
}

function textStl(): Buffer {
  const facets = corner.map(
    (triangle) =>
      `facet normal 0 0 1\nouter loop\n${triangle.map((v) => `vertex ${v.join(" ")}`).join("\n")}\nendloop\nendfacet`,
  );
  return Buffer.from(`solid corner\n${facets.join("\n")}\nendsolid corner\n`);
}

function obj(): Buffer {
  const lines = ["mtllib missing.mtl", ...corner.flat().map((v) => `v ${v.join(" ")}`), "f 1 2 3", "f 4 5 6"];
  return Buffer.from(lines.join("\n"));
}

/** In mm and with y up: the unit counts, the up-axis does not. */
function collada(): Buffer {
  const positions = corner
    .flat(2)
    .map((value) => 1000 * value)
    .join(" ");
  return Buffer.from(`<?xml version="1.0"?><COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
<asset><unit name="millimeter" meter="0.001"/><up_axis>Y_UP</up_axis></asset>
<library_images><image id="img"><init_from>http://example.invalid/texture.png</init_from></image></library_images>
<library_geometries><geometry id="g"><mesh>
<source id="p"><float_array id="pa" count="18">${positions}</float_array><technique_common><accessor source="#pa" count="6" stride="3"><param name="X" type="float"/><param name="Y" type="float"/><param name="Z" type="float"/></accessor></technique_common></source>
<vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
<triangles count="2"><input semantic="VERTEX" source="#v" offset="0"/><p>0 1 2 3 4 5</p></triangles></mesh></geometry></library_geometries>
<library_visual_scenes><visual_scene id="s"><node id="n"><instance_geometry url="#g"/></node></visual_scene></library_visual_scenes>
<scene><instance_visual_scene url="#s"/></scene></COLLADA>`);
}

let browser: Browser;

before(async () => {
  browser = await launch();
});

after(async () => {
  await browser.close();
});

test("meshes in STL, OBJ and DAE, and as data: URLs; a missing one does no harm", async (t) => {
  const meshes = [binaryStl(), textStl(), obj(), collada()];
  const names = [
    ...meshes.map((_, i) => `mesh/${i}`),
    `data:application/octet-stream;base64,${binaryStl().toString("base64")}`,
  ];
  const visuals = names.map(
    (name, i) =>
      `<visual><origin xyz="${0.3 * i} 0 0"/><geometry><mesh filename="${name}"/></geometry></visual>`,
  );
  const urdf = `<robot name="corners"><link name="base">${visuals.join("")}</link>
<joint name="j" type="revolute"><parent link="base"/><child link="arm"/><origin xyz="0 0 0.3"/><axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
<link name="arm"><inertial><mass value="0.4"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
<joint name="k" type="fixed"><parent link="arm"/><child link="tip"/><origin xyz="0 0 0.3"/></joint><link name="tip"/></robot>`;
  const simulation = new Simulation(1, flat, "stand");
  const given = simulation.frame.bind(simulation);
  simulation.frame = () => ({
    ...given(),
    base: { p: [0, 0, 0.5], quat: [1, 0, 0, 0], v: [0, 0, 0], w: [0, 0, 0] },
    q: [0.5],
    dq: [0],
    tau: [0],
    command: null,
  });
  const scene = {
    ...makeScene("live", urdf, flat, 1),
    base_link: "base",
    joints: [
      {
        name: "j",
        kind: "revolute" as const,
        q_initial: 0,
        q_min: -1,
        q_max: 1,
        effort_max: 1,
        velocity_max: 1,
      },
    ],
  };
  const server = await FakeServer.start({ page: PAGE, scene, simulation, meshes });
  t.after(() => server.stop());
  const { page, errors, requests } = await open(browser, server.url + FAST, SMALL);
  await shown(page);
  await page.evaluate(() => window.hardstand!.ready());
  assert.deepEqual(await page.evaluate(() => window.hardstand!.failedMeshes), []);
  await page.waitForTimeout(600);
  const tip = await page.evaluate(() => window.hardstand!.linkPose("tip")!.position_m);
  assert.ok(
    Math.abs(tip[0] - 0.3 * Math.sin(0.5)) < 1e-6 && Math.abs(tip[2] - 0.8 - 0.3 * Math.cos(0.5)) < 1e-6,
    String(tip),
  );
  const box = await page.evaluate(() => window.hardstand!.boxes("base"));
  assert.equal(box.length, names.length);
  for (const size of box)
    for (const side of size) assert.ok(Math.abs(side - 0.2) < 1e-4, `mesh of ${size.join(" × ")} m`);
  assert.deepEqual(errors, []);
  assert.ok(
    requests.every((request) => !request.includes("example.invalid") && !request.includes("missing.mtl")),
  );
  await page.context().close();

  const broken = await FakeServer.start({ page: PAGE, scene, simulation, meshes: [] });
  t.after(() => broken.stop());
  const second = await open(browser, broken.url + FAST, SMALL);
  await shown(second.page);
  await second.page.evaluate(() => window.hardstand!.ready());
  assert.equal((await second.page.evaluate(() => window.hardstand!.failedMeshes)).length, 4);
  await second.page.context().close();
});
