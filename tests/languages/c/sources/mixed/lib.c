#include "lib.h"
int from_c(int x) { return from_cpp(x); }
// -> glue.cpp#from_cpp [import]
