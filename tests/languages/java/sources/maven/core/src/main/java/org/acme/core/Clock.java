package org.acme.core;

public class Clock {
  public static long now() {
    return Hidden.tick();
    // -> core/src/main/java/org/acme/core/Hidden.java#Hidden.tick
  }

  public static class Zone {
    public void shift() {}
  }
}
