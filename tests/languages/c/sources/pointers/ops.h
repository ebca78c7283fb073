struct device;
typedef int (*read_fn)(struct device *d);
struct ops {
    int (*open)(struct device *d);
    read_fn read;
    int (*close)(struct device *d);
};
struct device { const struct ops *ops; struct device *next; };
