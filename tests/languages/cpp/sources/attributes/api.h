#pragma once
#define LIB_BEGIN namespace lib {
#define LIB_END }
#define LIB_API __attribute__((visibility("default")))
LIB_BEGIN
class LIB_API Client {
 public:
  LIB_NODISCARD LIB_INLINE int send(int x) { return check(x); }
  // -> api.cpp#lib.Client.check
  int check(int x) GUARDED_BY(mu_);
  int count_ GUARDED_BY(mu_);
};
LIB_NODISCARD LIB_INLINE int connect(int port) { return port; }
LIB_END
