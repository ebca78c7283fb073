// Rows 19, 22: type parameters are what a call states or its arguments say; aliases, mapped types and bounds.
class User {
  greet(): void {}
}
class Box<T> {
  constructor(private value: T) {}
  get(): T {
    return this.value;
  }
  map<U>(f: (v: T) => U): Box<U> {
    return new Box(f(this.value));
    // -> main.ts#Box
  }
  static of<V>(v: V): Box<V> {
    return new Box<V>(v);
  }
}
class Cell {
  beep(): void {}
}
export function boxes(typed: Box<User>): void {
  const made = new Box(new User());
  made.get().greet();
  // -> main.ts#User.greet
  typed.get().greet();
  // -> main.ts#User.greet
  new Box<User>(null!).get().greet();
  // -> main.ts#User.greet
  typed.map((u) => {
    u.greet();
    // -> main.ts#User.greet
    return new Cell();
  }).get().beep();
  // -> main.ts#Cell.beep
  // -/> main.ts#User.greet
  Box.of(new Cell()).get().beep();
  // -> main.ts#Cell.beep
  const other = new Box(new Cell());
  other.get().beep();
  // -> main.ts#Cell.beep
}
function identity<T>(x: T): T {
  return x;
}
function make<T>(ctor: new () => T): T {
  return new ctor();
}
function first<T>(list: T[]): T {
  return list[0];
}
interface Type<T> {
  new (...args: unknown[]): T;
}
class Container {
  private map = new Map<unknown, unknown>();
  get<T>(token: Type<T>): T {
    return this.map.get(token) as T;
  }
  byName<T>(name: string): T {
    return this.map.get(name) as T;
  }
}
export function calls(users: User[], container: Container): void {
  identity(new User()).greet();
  // -> main.ts#User.greet
  make(User).greet();
  // -> main.ts#User.greet
  first(users).greet();
  // -> main.ts#User.greet
  container.get(User).greet();
  // -> main.ts#User.greet
  container.byName<User>("x").greet();
  // -> main.ts#User.greet
  first<User>(users).greet();
  // -> main.ts#User.greet
}
interface Repo<T> {
  find(id: string): T;
  all(): Promise<T[]>;
}
abstract class Base<T> implements Repo<T> {
  protected items = new Map<string, T>();
  find(id: string): T {
    return this.items.get(id)!;
  }
  async all(): Promise<T[]> {
    return [...this.items.values()];
  }
}
class Users extends Base<User> {}
export async function repos(r: Repo<User>, users: Users): Promise<void> {
  r.find("x").greet();
  // -> main.ts#User.greet
  (await r.all())[0].greet();
  // -> main.ts#User.greet
  users.find("x").greet();
  // -> main.ts#User.greet
  for (const one of await users.all()) one.greet();
  // -> main.ts#User.greet
}
type Maybe<T> = T | undefined;
type Pair<A, B> = { left: A; right: B };
type Lazy<T> = () => T;
export function aliases(m: Maybe<User>, p: Pair<User, Cell>, l: Lazy<Cell>, r: Record<string, User>): void {
  m?.greet();
  // -> main.ts#User.greet
  p.left.greet();
  // -> main.ts#User.greet
  // -/> main.ts#Cell.beep
  p.right.beep();
  // -> main.ts#Cell.beep
  l().beep();
  // -> main.ts#Cell.beep
  r["x"].greet();
  // -> main.ts#User.greet
  r.y.greet();
  // -> main.ts#User.greet
  Object.values(r).forEach((u) => u.greet());
  // -> main.ts#User.greet
  for (const [k, v] of Object.entries(r)) v.greet();
  // -> main.ts#User.greet
}
function constrained<T extends User>(x: T): void {
  x.greet();
  // -> main.ts#User.greet
}
class Tree<T extends { run(): void }> {
  constructor(readonly root: T) {}
}
type DeepPartial<T> = { [P in keyof T]?: DeepPartial<T[P]> };
interface Services {
  user: User;
  nested: { cell: Cell };
}
export function mapped(s: DeepPartial<Services>, o: Omit<Services, "user">, p: Partial<Services>): void {
  s.user?.greet?.();
  // -> main.ts#User.greet
  s.nested?.cell?.beep?.();
  // -> main.ts#Cell.beep
  o.nested.cell.beep();
  // -> main.ts#Cell.beep
  p.user?.greet();
  // -> main.ts#User.greet
}
