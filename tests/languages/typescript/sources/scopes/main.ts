// Row 1: hoisting, arrows in constants, block names that shadow.
early();
// -> main.ts#early [lexical]

function early(): void {}

const arrow = (): void => {};

function shadowed(): void {}

export function run(flag: boolean): void {
  arrow();
  // -> main.ts#arrow [lexical]
  if (flag) {
    const shadowed = (): void => {};
    shadowed();
    // -> main.ts#run.shadowed [lexical]
    // -/> main.ts#shadowed
  }
  shadowed();
  // -> main.ts#shadowed [lexical]
  // -/> main.ts#run.shadowed
  inner();
  // -> main.ts#run.inner [lexical]
  function inner(): void {
    run(false);
    // -> main.ts#run [lexical]
  }
}

export function rebinding(): void {
  let f = early;
  f();
  // -> main.ts#early
  // -/> main.ts#shadowed
  f = shadowed;
  f();
  // -> main.ts#shadowed
  // -/> main.ts#early
}
