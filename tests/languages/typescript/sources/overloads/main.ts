// Rows 23, 24: overloads end at the implementation; merged declarations are one thing.
function parse(text: string): number;
function parse(text: number): number;
function parse(text: unknown): number {
  return 0;
}
class Money {
  amount(): number {
    return 0;
  }
}
namespace Money {
  export function of(): Money {
    return new Money();
    // -> main.ts#Money
  }
}
namespace Tools {
  export function trim(): void {}
  export namespace Deep {
    export const cut = (): void => {};
  }
}
interface Money {
  currency: string;
}
enum Level {
  Low,
}
namespace Level {
  export function parse(): Level {
    return Level.Low;
  }
}

export function run(): void {
  parse("1");
  // -> main.ts#parse~3 [lexical]
  // -/> main.ts#parse
  // -/> main.ts#parse~2
  Money.of().amount();
  // -> main.ts#Money.of
  // -> main.ts#Money.amount
  Tools.trim();
  // -> main.ts#Tools.trim
  Tools.Deep.cut();
  // -> main.ts#Tools.Deep.cut
  Level.parse();
  // -> main.ts#Level.parse
}
