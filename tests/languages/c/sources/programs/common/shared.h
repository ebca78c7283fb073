int either(void);
