// Rows 11 to 18, 23, 24: classes, static blocks, private members, accessors, merged declarations.
abstract class Animal {
  static count = 0;
  static registry = new Map<string, Animal>();
  static {
    Animal.init();
    // -> main.ts#Animal.init
  }
  #secret = new Voice();
  protected voice: Voice;
  constructor(protected readonly store: Store, public name?: string) {
    this.voice = new Voice();
    this.#hidden();
    // -> main.ts#Animal.#hidden
  }
  static init(): void {
    this.helper();
    // -> main.ts#Animal.helper
  }
  static helper(): void {}
  #hidden(): void {
    this.#secret.speak();
    // -> main.ts#Voice.speak
  }
  abstract cry(): void;
  get loud(): Voice {
    return this.voice;
  }
  set loud(v: Voice) {
    this.voice = v;
  }
  chain(): this {
    return this;
  }
  describe(): void {
    this.cry();
    // -> main.ts#Animal.cry
    // ?> main.ts#Dog.cry
    this.loud.speak();
    // -> main.ts#Animal.loud
    // -> main.ts#Voice.speak
    this.loud = new Voice();
    // -> main.ts#Animal.loud~2
    this.store.put();
    // -> main.ts#Store.put
    Animal.registry.get("x")?.cry();
    // -> main.ts#Animal.cry
  }
}
class Voice {
  speak(): void {}
}
class Store {
  put(): void {}
}
class Dog extends Animal {
  constructor(store: Store) {
    super(store);
    // -> main.ts#Animal.constructor
  }
  private handler = (): void => {
    this.cry();
    // -> main.ts#Dog.cry
  };
  cry(): void {
    super.describe();
    // -> main.ts#Animal.describe
    this.chain().bark();
    // -> main.ts#Animal.chain
    // -> main.ts#Dog.bark
    const self = this;
    [1].forEach(function () {
      self.bark();
      // -> main.ts#Dog.bark
    });
    [1].forEach(() => this.bark());
    // -> main.ts#Dog.bark
    setTimeout(this.handler);
    // => main.ts#Dog.handler
    const { bark } = this;
    bark();
    // -> main.ts#Dog.bark
    const bound = this.bark.bind(this);
    bound();
    // -> main.ts#Dog.bark
    this.bark.call(this);
    // -> main.ts#Dog.bark
    this.bark.apply(this, []);
    // -> main.ts#Dog.bark
  }
  bark(): void {}
  static create(): Dog {
    return new this(new Store());
    // -> main.ts#Dog
  }
  static override count2 = Dog.create().cry();
  // -> main.ts#Dog.create
  // -> main.ts#Dog.cry
}
const Cat = class extends Dog {
  bark(): void {
    super.bark();
    // -> main.ts#Dog.bark
    purr();
    // -> main.ts#purr
  }
};
function purr(): void {}
new Cat(new Store()).bark();
// -> main.ts#Cat
// -> main.ts#Cat.bark
// -> main.ts#Dog.constructor
interface Shape {
  area(): number;
  name?: string;
  draw?(): void;
}
interface Shape {
  merged(): void;
}
class Sq implements Shape {
  area(): number {
    return 1;
  }
  merged(): void {}
}
namespace Shapes {
  export function make(): Shape {
    return new Sq();
    // -> main.ts#Sq
  }
  export namespace Inner {
    export const deep = () => make();
    // -> main.ts#Shapes.make
  }
  export class Part {
    go(): void {}
  }
}
enum Color {
  Red,
  Blue,
}
namespace Color {
  export function parse(): Color {
    return Color.Red;
  }
}
class Config {}
namespace Config {
  export function load(): Config {
    return new Config();
    // -> main.ts#Config
  }
}
function jquery(): void {}
namespace jquery {
  export function ajax(): void {}
}
export function use(s: Shape): void {
  s.area();
  // -> main.ts#Shape.area
  // ?> main.ts#Sq.area
  s.merged();
  // ?> main.ts#Sq.merged
  s.draw?.();
  // -> main.ts#Shape.draw
  Shapes.make().area();
  // -> main.ts#Shapes.make
  Shapes.Inner.deep();
  // -> main.ts#Shapes.Inner.deep
  new Shapes.Part().go();
  // -> main.ts#Shapes.Part
  // -> main.ts#Shapes.Part.go
  Color.parse();
  // -> main.ts#Color.parse
  Config.load();
  // -> main.ts#Config.load
  jquery();
  // -> main.ts#jquery
  jquery.ajax();
  // -> main.ts#jquery.ajax
}
function over(x: string): void;
function over(x: number): void;
function over(x: unknown): void {}
over("x");
// -> main.ts#over~3
class Over {
  run(x: string): Voice;
  run(x: number): Store;
  run(x: unknown): unknown {
    return x;
  }
}
new Over().run("");
// -> main.ts#Over.run~3
class Clamp {
  static round(x: number): number {
    return x;
  }
  round(x: number): number {
    return Clamp.round(x) + this.again();
    // -> main.ts#Clamp.round
    // -/> main.ts#Clamp.round~2
  }
  private again(): number {
    return this.round(1);
    // -> main.ts#Clamp.round~2
    // -/> main.ts#Clamp.round
  }
}
new Clamp().round(1);
// -> main.ts#Clamp.round~2
// -/> main.ts#Clamp.round
