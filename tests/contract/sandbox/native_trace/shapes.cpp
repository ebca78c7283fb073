#include <cstdlib>
#include <vector>
#include <algorithm>
struct Shape { virtual ~Shape() {} virtual int area() = 0; };
static int __attribute__((noinline)) helper(int x) { return x * 2; }
struct Square : Shape {
  int side;
  Square(int s) : side(s) {}
  int area() override { return helper(side) * side; }
};
int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
template <typename T> T twice(T x) { return helper(x) + x; }
int caught() { try { throw 1; } catch (int e) { return helper(e); } }
int main() {
  Shape *s = new Square(3);
  int sum = s->area();
  for (int i = 0; i < 10; i++) sum += helper(i);
  auto f = [](int x) { return helper(x); };
  sum += f(2) + fib(5) + twice(4) + caught();
  delete s;
  return sum > 0 ? 0 : 1;
}
