#pragma once
namespace geo {
class Shape {
 public:
  explicit Shape(int n);
  virtual ~Shape();
  virtual double area() const = 0;
  void describe() const;
  static Shape* make(int kind);
  int size() const { return n_; }

 protected:
  int n_ = start();
  // -> shape.h#geo.Shape.start
  static int start() { return 1; }
};

class Square final : public Shape {
 public:
  Square(int side) : Shape(side), side_(side) {}
  // -> shape.cpp#geo.Shape.Shape
  double area() const override { return side() * size(); }
  // -> shape.h#geo.Square.side [receiver_type]
  // -> shape.h#geo.Shape.size [hierarchy]
  int side() const { return this->side_; }

 private:
  int side_;
};
int helper(int x);
}  // namespace geo
