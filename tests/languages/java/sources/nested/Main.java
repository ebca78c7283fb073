// Inner, static, local and anonymous classes; unqualified names of enclosing and inherited members; lambdas.
class Parent {
  static class Part {
    void fit() {}
  }

  protected void inherited() {}
}

class Main extends Parent {
  private int count;

  void outer() {}

  void both() {}

  class Inner {
    void both() {}

    void run() {
      outer();
      // -> Main.java#Main.outer
      both();
      // -> Main.java#Main.Inner.both
      // -/> Main.java#Main.both
      Main.this.both();
      // -> Main.java#Main.both
      inherited();
      // -> Main.java#Parent.inherited
    }
  }

  void run() {
    new Part().fit();
    // -> Main.java#Parent.Part
    // -> Main.java#Parent.Part.fit
    class Local {
      void go() {
        outer();
        // -> Main.java#Main.outer
      }
    }
    new Local().go();
    // -> Main.java#Main.run.Local
    // -> Main.java#Main.run.Local.go
    Runnable task =
        new Runnable() {
          @Override
          public void run() {
            helper();
            // -> Main.java#Main.run.task.helper
            outer();
            // -> Main.java#Main.outer
          }

          void helper() {}
        };
    Runnable other = () -> outer();
    // -> Main.java#Main.outer
    Runnable named = this::outer;
    // => Main.java#Main.outer
    toString();
    // x> java.lang.Object.toString
  }
}
