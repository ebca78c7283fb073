int call_it(void);
