#include "../common/shared.h"
int main(void) {
    return either();
    // -/> unix/impl.c#either
    // -/> windows/impl.c#either
    // ?> unix/impl.c#either
    // ?> windows/impl.c#either
    // ?? ambiguous
}
