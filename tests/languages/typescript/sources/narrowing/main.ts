// Rows 20, 21: unions split, and are narrowed by instanceof, predicates, casts and early returns.
class Cat {
  speak(): void {}
}
class Dog {
  speak(): void {}
}
function isCat(animal: Cat | Dog): animal is Cat {
  return animal instanceof Cat;
}

export function all(animal: Cat | Dog): void {
  animal.speak();
  // -> main.ts#Cat.speak
  // -> main.ts#Dog.speak
}
export function some(animal: Cat | Dog): void {
  if (animal instanceof Cat) {
    animal.speak();
    // -> main.ts#Cat.speak
    // -/> main.ts#Dog.speak
    return;
  }
  animal.speak();
  // -> main.ts#Dog.speak
  // -/> main.ts#Cat.speak
}
export function predicate(animal: Cat | Dog): void {
  if (isCat(animal)) {
    animal.speak();
    // -> main.ts#Cat.speak
    // -/> main.ts#Dog.speak
  }
}
export function cast(value: unknown, maybe: Cat | undefined): void {
  (value as Cat).speak();
  // -> main.ts#Cat.speak [receiver_type]
  maybe!.speak();
  // -> main.ts#Cat.speak [receiver_type]
  maybe?.speak();
  // -> main.ts#Cat.speak [receiver_type]
  (value as any).speak();
  // -/> main.ts#Cat.speak
  // -/> main.ts#Dog.speak
}
