int run(int x);
