#include "gtest/gtest.h"

int make(int x) { return x; }
void prepare() {}
class Widget { public: int size() { return 1; } };

class WidgetTest : public ::testing::Test {
 protected:
  void SetUp() override { prepare(); }
  int twice(int x) { return make(x); }
  Widget widget_;
};

TEST_F(WidgetTest, HasSize) {
  EXPECT_EQ(widget_.size(), twice(1));
  // -> widget_test.cpp#Widget.size
  // -> widget_test.cpp#WidgetTest.twice
}

TEST(Free, Works) { make(2); }
// -> widget_test.cpp#make [lexical]
