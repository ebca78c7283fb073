#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

struct Item {
  Item(int n) {}
  void go() {}
  void stop() {}
};
struct Decoy {
  void go() {}
  int size() { return 0; }
  void get() {}
};

struct Owner {
  std::unique_ptr<Item> one;
  std::vector<std::shared_ptr<Item>> many;
  std::map<std::string, Item> named;
  std::optional<Item> maybe;
  std::function<void()> callback;
};

void run(Owner& o, std::vector<Item>& items) {
  o.one->go();
  // -> main.cpp#Item.go [receiver_type]
  // -/> main.cpp#Decoy.go
  (*o.one).stop();
  // -> main.cpp#Item.stop
  for (auto& each : o.many) each->go();
  // -> main.cpp#Item.go
  for (const auto& [key, value] : o.named) value.go();
  // -> main.cpp#Item.go
  for (auto& pair : o.named) pair.second.stop();
  // -> main.cpp#Item.stop
  o.named["x"].go();
  // -> main.cpp#Item.go
  o.maybe->go();
  // -> main.cpp#Item.go
  items[0].stop();
  // -> main.cpp#Item.stop
  items.front().stop();
  // -> main.cpp#Item.stop
  o.many.size();
  // -/> main.cpp#Decoy.size
  // x> std::vector.size
  o.one.get()->go();
  // -> main.cpp#Item.go
  // -/> main.cpp#Decoy.get
  auto made = std::make_unique<Item>(1);
  // -> main.cpp#Item.Item [constructor]
  made->stop();
  // -> main.cpp#Item.stop
  auto moved = std::move(made);
  moved->go();
  // -> main.cpp#Item.go
}
