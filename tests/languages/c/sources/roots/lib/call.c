#include <api/call.h>
int call_it(void) { return 1; }
