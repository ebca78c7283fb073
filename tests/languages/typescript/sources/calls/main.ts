// Rows 37 to 40: tags, optional calls, iterators, constant and computed names, what is outside.
import { readFile } from "node:fs/promises";

function tag(parts: TemplateStringsArray, ...values: unknown[]): string {
  return "";
}
class Range {
  [Symbol.iterator](): Iterator<number> {
    return new Cursor();
    // -> main.ts#Cursor
  }
}
class Cursor {
  next(): IteratorResult<number> {
    return { done: true, value: 0 };
  }
}
class Service {
  get(): void {}
  push(): void {}
}

export async function run(range: Range, service: Service | null): Promise<void> {
  tag`a${range}b`;
  // -> main.ts#tag [lexical]
  service?.get();
  // -> main.ts#Service.get
  for (const value of range) {
    // -> main.ts#Range.[Symbol.iterator] [protocol]
    console.log(value);
  }
  const list = [...range];
  // -> main.ts#Range.[Symbol.iterator] [protocol]
  list.push(1);
  // -/> main.ts#Service.push
  new Map<string, number>().get("a");
  // -/> main.ts#Service.get
  await readFile("a");
  // x> node:fs/promises.readFile
  JSON.stringify(range);
  // x> JSON.stringify
  (0, tag)([] as any);
  // -> main.ts#tag
}
