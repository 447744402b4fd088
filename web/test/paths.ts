import { fileURLToPath } from "node:url";

/** Compiled tests lie in test/.out/test. */
const web = new URL("../../../", import.meta.url);

export const PAGE = fileURLToPath(new URL("../crates/view/page/index.html", web));
/** Written by `npm run plant`; it is not there in every checkout. */
export const PLANT = fileURLToPath(new URL("../docs/plant.html", web));
export const SHOTS = fileURLToPath(new URL("test/shots/", web));
