// A call through an interface or an abstract method leads to the declaration; implementations are candidates.
interface Store {
  void save(String text);

  default void saveAll() {
    save("");
    // -> Main.java#Store.save
    // ?> Main.java#Disk.save
  }
}

abstract class Base implements Store {
  abstract void prepare();

  void start() {
    prepare();
    // -> Main.java#Base.prepare
    // ?> Main.java#Disk.prepare
    this.save("x");
    // -> Main.java#Store.save [hierarchy]
  }
}

class Disk extends Base {
  @Override
  public void save(String text) {}

  @Override
  void prepare() {}

  @Override
  void start() {
    super.start();
    // -> Main.java#Base.start
    // -/> Main.java#Disk.start
  }

  void save(String text, int times) {}
}

class Lookalike {
  public void save(String text) {}
}

class Main {
  void run(Store store, Disk disk) {
    store.save("x");
    // -> Main.java#Store.save [receiver_type]
    // ?> Main.java#Disk.save
    // -/> Main.java#Lookalike.save
    disk.saveAll();
    // -> Main.java#Store.saveAll [hierarchy]
    disk.save("x");
    // -> Main.java#Disk.save
  }
}
