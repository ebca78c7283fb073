package app;

import static lib.Shape.unit;

import java.util.ArrayList;
import java.util.List;
import lib.Circle;
import lib.Shape;

class Main {
  private final List<Circle> circles = new ArrayList<>();
  private Shape shape;

  void run(Shape given) {
    given.area();
    // -> src/main/java/lib/Shape.java#Shape.area [receiver_type]
    // ?> src/main/java/lib/Circle.java#Circle.area
    shape.twice();
    // -> src/main/java/lib/Shape.java#Shape.twice
    unit().area();
    // -> src/main/java/lib/Shape.java#Shape.unit [receiver_type]
    // -> src/main/java/lib/Shape.java#Shape.area
    for (Circle circle : circles) {
      circle.grow();
      // -> src/main/java/lib/Circle.java#Circle.grow
      circle.twice();
      // -> src/main/java/lib/Shape.java#Shape.twice [hierarchy]
    }
    circles.get(0).grow();
    // -> src/main/java/lib/Circle.java#Circle.grow
    // x> java.util.List.get
    circles.forEach(c -> c.grow());
    // -> src/main/java/lib/Circle.java#Circle.grow
    circles.stream().filter(c -> c.area() > 1).map(c -> c).findFirst().get().grow();
    // -> src/main/java/lib/Circle.java#Circle.grow
    // -> src/main/java/lib/Circle.java#Circle.area
    circles.forEach(Circle::grow);
    // => src/main/java/lib/Circle.java#Circle.grow
    Helper.help();
    // -> src/main/java/app/Helper.java#Helper.help
  }
}
