#include <stdlib.h>
#include "store.h"

struct store { int n; };

static int check(int value) { return value > 0; }

struct store *store_open(const char *path) {
    return calloc(1, sizeof(struct store));
    // x> calloc
}

int store_put(struct store *s, int value) {
    return check(value);
    // -> src/store.c#check [lexical]
    // -/> src/main.c#check
}

int store_count(void) { return 0; }
