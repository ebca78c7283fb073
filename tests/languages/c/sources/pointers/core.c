#include "ops.h"

int device_read(struct device *d) {
    return d->ops->read(d);
    // -> driver.c#my_read [flow]
    // -/> driver.c#my_open
    // -/> driver.c#unused
}

int device_close(struct device *d) {
    return (*d->next->ops->close)(d);
    // -> driver.c#my_close [flow]
    // -/> driver.c#my_read
}
