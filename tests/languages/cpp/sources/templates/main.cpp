struct Engine {
  void start() {}
};
struct Other {
  void start() {}
};

template <typename T>
class Box {
 public:
  T* get() { return item_; }
  void run() { item_->start(); }
  // ?? dynamic
  // -/> main.cpp#Other.start
 private:
  T* item_;
};

template <typename T>
void never(T t) {
  t.start();
  // ?? dynamic
  // -/> main.cpp#Engine.start
}

template <typename T>
T identity(T t) { return t; }

template <class D>
struct Base {
  void call() { static_cast<D*>(this)->start(); }
  // -/> main.cpp#Engine.start
  // -/> main.cpp#Derived.start
};
struct Derived : Base<Derived> {
  void start() {}
};

void use(Box<Engine>& box, Engine& e) {
  box.get()->start();
  // -> main.cpp#Engine.start
  // -/> main.cpp#Other.start
  identity<int>(1);
  // -> main.cpp#identity [lexical]
  Derived d;
  d.call();
  // -> main.cpp#Base.call [hierarchy]
}
