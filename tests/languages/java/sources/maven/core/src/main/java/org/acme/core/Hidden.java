package org.acme.core;

class Hidden {
  static long tick() {
    return 0;
  }
}
