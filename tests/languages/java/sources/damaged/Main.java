// One broken method costs no other.
class Main {
  void whole() {
    last();
    // -> Main.java#Main.last
  }

  void broken() {
    if ( { x. ;
  }

  void other() {
    whole();
    // -> Main.java#Main.whole
  }

  void last() {}
}
