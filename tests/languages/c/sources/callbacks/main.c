#include <stdlib.h>

typedef int (*visit_fn)(int);

static int twice(int x) { return 2 * x; }
static int thrice(int x) { return 3 * x; }
static int compare(const void *a, const void *b) { return 0; }
static int never(int x) { return x; }

static int apply(visit_fn f, int x) {
    return f(x);
    // -> main.c#twice [flow]
    // -/> main.c#never
}

static visit_fn table[] = { twice, thrice };

int run(int *v, int n) {
    apply(twice, 1);
    // -> main.c#apply [lexical]
    // => main.c#twice
    table[n](3);
    // -> main.c#thrice
    // -> main.c#twice
    // -/> main.c#never
    qsort(v, n, sizeof *v, compare);
    // -> main.c#compare [flow]
    // x> qsort
    int (*chosen)(int) = n ? twice : thrice;
    return chosen(1);
    // -> main.c#thrice
    // -> main.c#twice
    // -/> main.c#never
}

int from_outside(visit_fn f) {
    return f(1);
    // ?? dynamic
}
