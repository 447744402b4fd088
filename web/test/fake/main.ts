import { existsSync, readFileSync } from "node:fs";
import { makeRun } from "./run-file.ts";
import { FakeServer } from "./server.ts";
import { Simulation } from "./simulation.ts";
import { flat, makeScene, quadrupedUrdf, terrain } from "./world.ts";
import { PAGE } from "../paths.ts";

/** `npm run fake -- [--port 8765] [--terrain] [--trot] [--log] [--urdf FILE]`: something to look at. */
const has = (name: string): boolean => process.argv.includes(`--${name}`);
const value = (name: string): string | undefined => process.argv[process.argv.indexOf(`--${name}`) + 1];

const world = has("terrain") ? terrain() : flat;
const urdf = has("urdf") ? readFileSync(value("urdf") ?? "", "utf8") : quadrupedUrdf();
const scene = makeScene(has("log") ? "log" : "live", urdf, world, 0x5eed);
const simulation = new Simulation(0x5eed, world, has("trot") ? "trot" : "stand");
const port = Number(has("port") ? value("port") : 8765);
if (!existsSync(PAGE)) throw new Error("build the page first: npm run build");
const server = has("log")
  ? await FakeServer.start({
      page: PAGE,
      port,
      run: makeRun({ scene, simulation, seconds: 20, title: "fake.mcap" }),
    })
  : await FakeServer.start({ page: PAGE, port, scene, simulation });
console.log(`${server.url}`);
