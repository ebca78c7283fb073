#include "shape.h"

namespace geo {
int size() { return 9; }
Shape::Shape(int n) : n_(n) {}
Shape::~Shape() {}
void Shape::describe() const {
  area();
  // -> shape.h#geo.Shape.area
  // ?> shape.h#geo.Square.area
  helper(size());
  // -> shape.cpp#geo.helper [lexical]
  // -> shape.h#geo.Shape.size
  // -/> shape.cpp#geo.size
}
Shape* Shape::make(int kind) { return new Square(kind); }
// -> shape.h#geo.Square
// -> shape.h#geo.Square.Square [constructor]
int helper(int x) { return size() + x; }
// -> shape.cpp#geo.size [lexical]
// -/> shape.h#geo.Shape.size
}  // namespace geo

void geo::Shape::missing() { start(); }
// -> shape.h#geo.Shape.start
