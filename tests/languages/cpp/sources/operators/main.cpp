struct Vec {
  Vec operator+(const Vec& o) const { return o; }
  Vec& operator+=(const Vec& o) { return *this; }
  int operator[](int i) const { return i; }
  bool operator==(const Vec& o) const { return true; }
  void operator()(int x) {}
  int length() const { return 1; }
};
struct Ptr {
  Vec* operator->() { return &v; }
  Vec v;
};

int run(Vec a, Vec b, Ptr p, int i) {
  Vec c = a + b;
  // -> main.cpp#Vec.operator+ [protocol]
  (a + b).length();
  // -> main.cpp#Vec.length
  a += b;
  // -> main.cpp#Vec.operator+= [protocol]
  a[i];
  // -> main.cpp#Vec.operator[] [protocol]
  if (a == b) return 1;
  // -> main.cpp#Vec.operator== [protocol]
  a(3);
  // -> main.cpp#Vec.operator() [protocol]
  p->length();
  // -> main.cpp#Ptr.operator-> [protocol]
  return i + 1;
}
