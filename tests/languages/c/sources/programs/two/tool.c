int run(int x) { return x + 1; }
