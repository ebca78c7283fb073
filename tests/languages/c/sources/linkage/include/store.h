#ifndef STORE_H
#define STORE_H
struct store;
struct store *store_open(const char *path);
int store_put(struct store *s, int value);
extern int store_count(void);
int only_declared(int x);
#endif
