import single from "./single.js";
import { trim } from "./tools.js";
import * as table from "./table.js";

export async function run() {
  single();
  // -> single.js#single
  trim("");
  // -> tools.js#trim
  table.pad();
  // -> table.js#pad
  const tools = await import("./tools.js");
  tools.cut();
  // -> tools.js#cut
}
