import { core, a, def as Def, renamed, ns, cyc } from "@acme/core";
import { subX } from "@acme/core/sub/x";
import type { T } from "./types";
import legacy = require("./legacy");
import * as legacyNs from "./legacy";
import fs from "node:fs";
core();
// -> packages/core/src/index.ts#core [import]
a();
// -> packages/core/src/a.ts#a
cyc();
// -> packages/core/src/c.ts#cyc
new Def().go();
// -> packages/core/src/b.ts#default.go
renamed();
// -> packages/core/src/b.ts#b
ns.b();
// -> packages/core/src/b.ts#b
subX();
// -> packages/core/src/sub/x.ts#subX
legacy.run();
// -> packages/app/src/legacy.ts#api.run
fs.readFileSync("x");
// x> node:fs.readFileSync
export async function later(): Promise<void> {
  const { core: c } = await import("@acme/core");
  c();
  // -> packages/core/src/index.ts#core
  const mod = await import("./lazy");
  mod.lazy();
  // -> packages/app/src/lazy.ts#lazy
  new mod.default().go();
  // -> packages/app/src/lazy.ts#Lazy.go
  import("./lazy").then((m) => m.lazy());
  // -> packages/app/src/lazy.ts#lazy
  (await import("./lazy")).lazy();
  // -> packages/app/src/lazy.ts#lazy
}
