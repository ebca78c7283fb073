#include "../common/shared.h"
int either(void) { return 2; }
