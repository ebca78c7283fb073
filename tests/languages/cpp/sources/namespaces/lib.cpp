#include "lib.h"
namespace a {
int f(int x) { return x; }
namespace b {
int f(int x) { return x; }
int g(int x) { return f(x); }
// -> lib.cpp#a.b.f [lexical]
// -/> lib.cpp#a.f
}
int v1::versioned(int x) { return x; }
}
int c::d::nested(int x) { return x; }
int f(int x) { return x; }
namespace {
int hidden(int x) { return x; }
}
int use_hidden() { return hidden(1); }
// -> lib.cpp#hidden [lexical]
