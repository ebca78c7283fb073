// Row 33: a class that a function makes is a base, and what the function is handed stands behind it.
type Ctor<T = {}> = new (...args: any[]) => T;
class Entity {
  id(): void {}
}
function Stamped<B extends Ctor>(Base: B) {
  return class extends Base {
    stamp(): void {
      this.touch();
      // -> main.ts#Stamped.touch
    }
    touch(): void {}
  };
}
function Named<B extends Ctor>(Base: B) {
  return class NamedImpl extends Base {
    label(): void {}
  };
}
class User extends Stamped(Named(Entity)) {
  run(): void {
    this.stamp();
    // -> main.ts#Stamped.stamp
    this.label();
    // -> main.ts#Named.NamedImpl.label
    this.id();
    // -> main.ts#Entity.id
  }
}
const Plain = Stamped(Entity);
export function go(): void {
  new User().stamp();
  // -> main.ts#User
  // -> main.ts#Stamped.stamp
  new User().id();
  // -> main.ts#Entity.id
  const p = new Plain();
  p.stamp();
  // -> main.ts#Stamped.stamp
}
