package app;

class Helper {
  static void help() {}
}
