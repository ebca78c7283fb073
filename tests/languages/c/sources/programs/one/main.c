#include "tool.h"
int main(void) {
    return run(1);
    // -> one/tool.c#run [import]
    // -/> two/tool.c#run
}
