package lib;

public interface Shape {
  double area();

  default double twice() {
    return area() * 2;
    // -> src/main/java/lib/Shape.java#Shape.area [receiver_type]
    // ?> src/main/java/lib/Circle.java#Circle.area
  }

  static Shape unit() {
    return new Circle(1);
    // -> src/main/java/lib/Circle.java#Circle [lexical]
    // -> src/main/java/lib/Circle.java#Circle.Circle [constructor]
  }
}
