// Row 19 and beyond: members of generic types through known arguments; contextual types of callbacks.
class Cat {
  speak(): void {}
}
class Dog {
  speak(): void {}
}
class Box<T> {
  item!: T;
  constructor(readonly first: T) {}
  get(): T {
    return this.first;
  }
  all(): T[] {
    return [];
  }
}
class CatBox extends Box<Cat> {}
interface Source<T> {
  read(): Promise<T>;
}
class Files implements Source<Dog> {
  async read(): Promise<Dog> {
    return new Dog();
  }
}
type Handler = (cat: Cat) => void;
function onCat(handler: Handler): void {}
function withSource(use: (source: Source<Dog>) => void): void {}

export async function run(box: Box<Cat>, cats: CatBox, source: Source<Cat>): Promise<void> {
  box.get().speak();
  // -> main.ts#Cat.speak
  // -/> main.ts#Dog.speak
  box.item.speak();
  // -> main.ts#Cat.speak
  cats.get().speak();
  // -> main.ts#Cat.speak
  for (const cat of cats.all()) {
    cat.speak();
    // -> main.ts#Cat.speak
    // -/> main.ts#Dog.speak
  }
  (await source.read()).speak();
  // -> main.ts#Cat.speak
  // -/> main.ts#Dog.speak
}

export function contextual(): void {
  onCat((cat) => cat.speak());
  // -> main.ts#Cat.speak
  // -/> main.ts#Dog.speak
  withSource((source) => source.read());
  // -> main.ts#Source.read
  // ?> main.ts#Files.read
  const handler: Handler = (cat) => {
    cat.speak();
    // -> main.ts#Cat.speak
  };
  handler(new Cat());
  // -> main.ts#contextual.handler
}
