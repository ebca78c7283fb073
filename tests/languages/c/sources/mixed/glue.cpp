#include "lib.h"
extern "C" int from_cpp(int x) { return x; }
namespace app { int start() { return from_c(1); } }
// -> lib.c#from_c [import]
