package org.acme.app;

import static org.acme.core.Clock.now;

import java.util.concurrent.*;
import org.acme.core.*;
import org.acme.core.Clock.Zone;

class Main {
  void run(Zone zone, Clock.Zone other) {
    zone.shift();
    // -> core/src/main/java/org/acme/core/Clock.java#Clock.Zone.shift
    other.shift();
    // -> core/src/main/java/org/acme/core/Clock.java#Clock.Zone.shift
    now();
    // -> core/src/main/java/org/acme/core/Clock.java#Clock.now
    Clock.now();
    // -> core/src/main/java/org/acme/core/Clock.java#Clock.now
    org.acme.core.Clock.now();
    // -> core/src/main/java/org/acme/core/Clock.java#Clock.now
    Executors.newCachedThreadPool();
    // x> java.util.concurrent.Executors.newCachedThreadPool
  }
}
