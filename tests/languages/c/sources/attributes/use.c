#include "api.h"
int use(void) {
    first(1);
    // -> api.c#first [import]
    second(2);
    // -> api.c#second [import]
    return fourth(4);
    // -> api.c#fourth [import]
}
