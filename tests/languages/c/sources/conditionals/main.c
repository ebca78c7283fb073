#ifdef WIN
static int path(int x) { return 1; }
#else
static int path(int x) { return 2; }
#endif

int use(int x) {
    return path(x);
    // -> main.c#path [lexical]
    // -> main.c#path~2 [lexical]
}

int split(int x) {
#ifdef WIN
    if (x) {
#else
    if (!x) {
#endif
        return path(1);
        // -> main.c#path [lexical]
    }
    return 0;
}

int old_style(a, b)
    int a;
    char *b;
{
    return use(a);
    // -> main.c#use [lexical]
}
