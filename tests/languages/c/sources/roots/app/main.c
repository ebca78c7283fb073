#include <api/call.h>
int main(void) {
    return call_it();
    // -> lib/call.c#call_it [import]
}
