// Overloads: by number, then by types; spread over the hierarchy; undecided ones are candidates, never an edge.
import java.util.List;
import other.Thing;

class Base {
  void put(Object value) {}

  void flush() {}
}

class Sink extends Base {
  Sink() {
    this("x", 1);
    // -> Main.java#Sink.Sink~2
    // -/> Main.java#Sink.Sink
  }

  Sink(String name, int size) {
    super();
  }

  void put(int value) {}

  void put(String value) {}

  void put(String value, int count) {}

  void put(long value, long other) {}

  void all(String... values) {}

  void all(char... values) {}
}

class Main {
  void run(Sink sink, Thing thing, char[] letters, List<String> texts) {
    sink.put(1);
    // -> Main.java#Sink.put
    // -/> Main.java#Sink.put~2
    // -/> Main.java#Base.put
    sink.put("x");
    // -> Main.java#Sink.put~2
    // -/> Main.java#Sink.put
    sink.put("x", 1);
    // -> Main.java#Sink.put~3
    sink.put(1, 2);
    // -> Main.java#Sink.put~4
    // -/> Main.java#Sink.put~3
    sink.put(sink);
    // -> Main.java#Base.put [hierarchy]
    // -/> Main.java#Sink.put
    sink.put(texts.get(0) + 1);
    // -> Main.java#Sink.put~2
    sink.put(thing.some());
    // ?> Main.java#Sink.put
    // ?> Main.java#Sink.put~2
    // -/> Main.java#Sink.put
    // -/> Main.java#Sink.put~2
    // ?? ambiguous
    sink.all("a", "b");
    // -> Main.java#Sink.all
    // -/> Main.java#Sink.all~2
    sink.all(letters);
    // -> Main.java#Sink.all~2
    // -/> Main.java#Sink.all
    sink.flush();
    // -> Main.java#Base.flush [hierarchy]
    new Sink("y", 2);
    // -> Main.java#Sink.Sink~2 [constructor]
    // -> Main.java#Sink [lexical]
  }
}
