#include "lib.h"
namespace q = a::b;
using c::d::nested;

int hidden(int x) { return x; }

int one() {
  f(1);
  // -> lib.cpp#f [import]
  // -/> lib.cpp#a.f
  a::f(1);
  // -> lib.cpp#a.f [import]
  a::b::f(1);
  // -> lib.cpp#a.b.f [import]
  q::g(1);
  // -> lib.cpp#a.b.g [import]
  nested(1);
  // -> lib.cpp#c.d.nested
  a::versioned(1);
  // -> lib.cpp#a.v1.versioned
  ::f(1);
  // -> lib.cpp#f [import]
  return hidden(1);
  // -> main.cpp#hidden [lexical]
  // -/> lib.cpp#hidden
}

namespace a {
int two() { return f(2) + b::g(1); }
// -> lib.cpp#a.f [import]
// -> lib.cpp#a.b.g [import]
// -/> lib.cpp#f
}

using namespace a::b;
int three() { return g(1); }
// -> lib.cpp#a.b.g [import]
