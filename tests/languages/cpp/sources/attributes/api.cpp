#include "api.h"
int lib::Client::check(int x) { return x; }
int use(lib::Client& c) {
  lib::connect(1);
  // -> api.h#connect [import]
  return c.send(2);
  // -> api.h#Client.send
}
