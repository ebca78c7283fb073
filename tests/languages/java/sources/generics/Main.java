// Own generic classes and methods, bounds, library containers, Optional and Stream, contextual types of lambdas.
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

class Cat {
  void speak() {}

  Cat kitten() {
    return this;
  }
}

class Dog {
  void speak() {}
}

class Box<T> {
  private T item;

  T get() {
    return item;
  }

  <R> Box<R> map(Function<T, R> how) {
    return null;
  }
}

class CatBox extends Box<Cat> {}

class Cats extends java.util.ArrayList<Cat> {}

interface Visitor {
  void visit(Cat cat);
}

class Bound<T extends Cat> {
  void use(T value) {
    value.speak();
    // -> Main.java#Cat.speak
  }
}

class Main {
  private final Map<String, List<Cat>> many = new HashMap<>();

  static <T> T same(T value) {
    return value;
  }

  void accept(Visitor visitor) {}

  void run(Box<Cat> box, CatBox cats, Optional<Cat> maybe, Cats list) {
    box.get().speak();
    // -> Main.java#Cat.speak
    // -/> Main.java#Dog.speak
    cats.get().speak();
    // -> Main.java#Cat.speak
    for (Map.Entry<String, List<Cat>> entry : many.entrySet()) {
      entry.getValue().get(0).speak();
      // -> Main.java#Cat.speak
    }
    for (var found : many.values()) {
      found.forEach(cat -> cat.kitten().speak());
      // -> Main.java#Cat.kitten
      // -> Main.java#Cat.speak
    }
    many.get("x").stream().filter(c -> c != null).map(c -> c.kitten()).findFirst().get().speak();
    // -> Main.java#Cat.kitten
    // -> Main.java#Cat.speak
    maybe.map(Cat::kitten).ifPresent(c -> c.speak());
    // => Main.java#Cat.kitten
    // -> Main.java#Cat.speak
    maybe.orElse(null).speak();
    // -> Main.java#Cat.speak
    list.get(0).speak();
    // -> Main.java#Cat.speak
    for (Cat one : list) {
      one.speak();
      // -> Main.java#Cat.speak
    }
    same(new Dog()).speak();
    // -> Main.java#Dog.speak
    // -/> Main.java#Cat.speak
    accept(cat -> cat.speak());
    // -> Main.java#Cat.speak
    box.map(c -> c.kitten());
    // -> Main.java#Cat.kitten
    Cat[] array = new Cat[2];
    array[0].speak();
    // -> Main.java#Cat.speak
  }
}
