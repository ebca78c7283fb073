#include <algorithm>
#include <functional>
#include <vector>

void direct() {}
void handed(int x) {}
bool less(int a, int b) { return a < b; }

struct Worker {
  void work(int x) {}
  void loop(std::vector<int>& v) {
    std::for_each(v.begin(), v.end(), [this](int x) { work(x); });
    // -> main.cpp#Worker.work
    auto f = [&] { direct(); };
    // -> main.cpp#direct [lexical]
    f();
    std::sort(v.begin(), v.end(), less);
    // -> main.cpp#less [flow]
    // => main.cpp#less
  }
};

template <typename F>
void call(F f) {
  f(1);
  // -> main.cpp#handed [flow]
}

void use() {
  call(handed);
  // -> main.cpp#call [lexical]
  std::function<void(int)> g = handed;
  g(2);
  // -> main.cpp#handed
  auto bound = std::bind(less, 1, 2);
  bound();
  // -> main.cpp#less
  call(&Worker::work);
  // => main.cpp#Worker.work
}
