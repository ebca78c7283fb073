import { one as uno } from "@one";
import { two } from "@lib/two";
import three, { helper } from "src/lib/three";
import { barrel } from "./lib";
uno();
// -> src/lib/one.ts#one
two();
// -> src/lib/two.tsx#two
three();
// -> src/lib/three.ts#default
helper();
// -> src/lib/three.ts#helper
barrel();
// -> src/lib/one.ts#one
export let live = () => first();
// -> src/main.ts#first
function first(): void {}
