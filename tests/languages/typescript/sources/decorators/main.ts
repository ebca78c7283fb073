// Row 36: a decorator is called where it stands, and the definition keeps its name.
function logged(target: unknown): void {}
function route(path: string) {
  return (target: unknown, key: string): void => {};
}

@logged
// -> main.ts#logged
export class Api {
  @route("/a")
  // -> main.ts#route [lexical]
  list(): void {}
}

export function run(api: Api): void {
  api.list();
  // -> main.ts#Api.list
  new Api();
  // -> main.ts#Api
}
