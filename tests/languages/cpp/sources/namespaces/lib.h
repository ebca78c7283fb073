#pragma once
namespace a {
int f(int x);
namespace b { int f(int x); int g(int x); }
inline namespace v1 { int versioned(int x); }
}
namespace c::d { int nested(int x); }
int f(int x);
