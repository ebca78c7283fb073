// Patterns, switches, resources, enums with bodies, records, initialisers.
class Door implements AutoCloseable {
  Door knock() {
    return this;
  }

  @Override
  public void close() {}
}

record Pair(Door left, Door right) {
  Pair {
    check(left);
    // -> Main.java#Pair.check
  }

  static void check(Door door) {}
}

enum Kind {
  FRONT(1) {
    @Override
    Door open() {
      return new Door();
      // -> Main.java#Door
    }
  },
  BACK(2);
  // -> Main.java#Kind.Kind

  Kind(int at) {}

  Door open() {
    return null;
  }
}

class Main {
  private static final Door SHARED = new Door();
  // -> Main.java#Door

  static {
    SHARED.knock();
    // -> Main.java#Door.knock
  }

  void run(Object thing, Kind kind, Pair pair) {
    if (thing instanceof Door door && door.knock() != null) {
      door.knock();
      // -> Main.java#Door.knock
    }
    try (var opened = new Door()) {
      // -> Main.java#Door.close [protocol]
      opened.knock();
      // -> Main.java#Door.knock
    }
    switch (kind) {
      case FRONT:
        Door first = new Door();
        break;
      default:
        first = null;
        first.knock();
        // -> Main.java#Door.knock
    }
    Door chosen =
        switch (thing) {
          case Door d -> d.knock();
          // -> Main.java#Door.knock
          case Pair p -> p.left().knock();
          // -> Main.java#Door.knock
          default -> null;
        };
    Kind.FRONT.open().knock();
    // -> Main.java#Kind.open
    // ?> Main.java#Kind.FRONT.open
    // -> Main.java#Door.knock
    Kind.valueOf("BACK").open();
    // -> Main.java#Kind.open
    pair.right().knock();
    // -> Main.java#Door.knock
    ((Door) thing).knock();
    // -> Main.java#Door.knock
    thing.knock();
    // -/> Main.java#Door.knock
    // ?? dynamic
  }
}
