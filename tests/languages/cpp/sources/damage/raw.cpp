const char* text = R"ABCDEFGHIJKLMNOP(hello)ABCDEFGHIJKLMNOP";

int after() { return 1; }

int broken( { if (;

int last() {
  return after();
  // -> raw.cpp#after [lexical]
}
