#include <string>
class Shape {};
class Square : public Shape {};

int put(int x) { return x; }
int put(int x, int y) { return x + y; }
int put(const char* text) { return 0; }
int put(const Shape& s) { return 0; }

class Sink {
 public:
  void write(int x) {}
  void write(const Square& s) {}
  void write(int x, int y) {}
  Sink() {}
  Sink(int n, int m) {}
  template <typename T> void any(T t) { write(t); }
  // ?> main.cpp#Sink.write
};

int unknown_type(auto x);

void run(Square sq, Sink& sink) {
  put(1, 2);
  // -> main.cpp#put~2 [lexical]
  // -/> main.cpp#put
  put("x");
  // -> main.cpp#put~3
  // -/> main.cpp#put
  put(sq);
  // -> main.cpp#put~4
  // -/> main.cpp#put
  sink.write(sq);
  // -> main.cpp#Sink.write~2
  // -/> main.cpp#Sink.write
  sink.write(1, 2);
  // -> main.cpp#Sink.write~3
  // -/> main.cpp#Sink.write
  Sink made(1, 2);
  // -> main.cpp#Sink.Sink~2 [constructor]
  // -/> main.cpp#Sink.Sink
  Sink plain;
  // -> main.cpp#Sink.Sink
  // -/> main.cpp#Sink.Sink~2
}
