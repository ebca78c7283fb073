#include <stdlib.h>
#include <unistd.h>
#include <sys/wait.h>

static int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

int add(int a, int b) {
    return a + b;
}

int apply(int (*function)(int, int), int x) {
    return function(x, x);
}

static int depth(int n) {
    return n ? add(1, depth(n - 1)) : 0;
}

int main(void) {
    int numbers[] = {3, 1, 2};
    qsort(numbers, 3, sizeof(int), compare);
    pid_t child = fork();
    if (!child) {
        apply(add, 1);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    return depth(3) == 3 && apply(add, 2) == 4 ? 0 : 1;
}
