#include "api.h"
int first(int a) { return a; }
int ZEXPORT second(int a) { return a; }
__attribute__((noinline)) int fourth(int a) { return third(a); }
// -> api.h#third [import]
