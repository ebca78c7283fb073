package lib;

public class Circle implements Shape {
  private final double radius;

  public Circle(double radius) {
    this.radius = radius;
  }

  @Override
  public double area() {
    return radius * radius;
  }

  public void grow() {}
}
