#include "shape.h"

class Other {
 public:
  double area() { return 0; }
};

int main() {
  geo::Shape* s = geo::Shape::make(1);
  // -> shape.cpp#geo.Shape.make
  s->area();
  // -/> main.cpp#Other.area
  s->describe();
  // -> shape.cpp#geo.Shape.describe
  geo::Square q(3);
  // -> shape.h#geo.Square.Square [constructor]
  // -> shape.h#geo.Square
  q.area();
  // -> shape.h#geo.Square.area
  // -/> shape.h#geo.Shape.area
  q.size();
  // -> shape.h#geo.Shape.size [hierarchy]
  delete s;
  // -> shape.cpp#geo.Shape.~Shape
  geo::Shape& r = q;
  r.describe();
  // -> shape.cpp#geo.Shape.describe
  return geo::helper(1);
  // -> shape.cpp#geo.helper [import]
}
