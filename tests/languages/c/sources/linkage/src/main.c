#include <stdio.h>
#include "store.h"

static int check(int value) { return value; }

static int later(void);

int main(void) {
    struct store *s = store_open("x");
    // -> src/store.c#store_open [import]
    store_put(s, check(1));
    // -> src/store.c#store_put [import]
    // -> src/main.c#check [lexical]
    // -/> src/store.c#check
    only_declared(3);
    // x> only_declared
    printf("%d", store_count());
    // x> printf
    // -> src/store.c#store_count [import]
    return later();
    // -> src/main.c#later [lexical]
}

static int later(void) { return 1; }
