class Shape {
  area() {
    return 0;
  }
}
module.exports = Shape;
