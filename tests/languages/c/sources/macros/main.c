#include <stdio.h>
#define EXPORT
#define LOG(x) log_line(x)
#define TWICE(f, x) f(f(x))
#define old_name new_name

static void log_line(const char *text) { puts(text); }
// x> puts
static int inc(int x) { return x + 1; }
static int new_name(void) { return 1; }

EXPORT int run(void) {
    LOG("start");
    // -> main.c#LOG [lexical]
    // -/> main.c#log_line
    old_name();
    // -> main.c#new_name
    return TWICE(inc, 1);
    // -> main.c#TWICE [lexical]
}

int inside(void) {
    return LOG(inc(2) ? "a" : "b");
    // -> main.c#inc [lexical]
}
