package org.acme.core;

import static org.junit.jupiter.api.Assertions.*;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class ClockTest {
  private Clock clock;

  @BeforeEach
  void setUp() {
    clock = new Clock();
  }

  @Test
  void ticks() {
    assertEquals(0, Clock.now());
    // -> core/src/main/java/org/acme/core/Clock.java#Clock.now
    // x> org.junit.jupiter.api.Assertions.assertEquals
  }
}
