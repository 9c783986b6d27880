// SPDX-License-Identifier: MIT
#include "base/intrusive_list.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace titanium {
namespace {

struct ByAge {};

struct Item : ListLink<Item>, ListLink<ByAge> {
  explicit Item(int number) : id(number) {}
  int id;
};

std::vector<int> ids(IntrusiveList<Item>& list) {
  std::vector<int> all;
  list.for_each([&](Item& item) { all.push_back(item.id); });
  return all;
}

TEST(IntrusiveList, KeepsTheOrderOfItsItems) {
  Item a(1), b(2), c(3);
  IntrusiveList<Item> list;
  EXPECT_TRUE(list.empty());
  EXPECT_EQ(list.front(), nullptr);
  EXPECT_EQ(list.back(), nullptr);
  list.push_back(a);
  list.push_back(b);
  list.push_front(c);
  EXPECT_EQ(ids(list), (std::vector{3, 1, 2}));
  EXPECT_EQ(list.front(), &c);
  EXPECT_EQ(list.back(), &b);
  EXPECT_EQ(list.pop_front(), &c);
  EXPECT_FALSE(c.ListLink<Item>::is_linked());
  EXPECT_EQ(ids(list), (std::vector{1, 2}));
}

TEST(IntrusiveList, PopsNothingFromAnEmptyList) {
  IntrusiveList<Item> list;
  EXPECT_EQ(list.pop_front(), nullptr);
}

TEST(IntrusiveList, LosesAnItemThatIsUnlinkedOrDestroyed) {
  IntrusiveList<Item> list;
  Item a(1), c(3);
  auto b = std::make_unique<Item>(2);
  list.push_back(a);
  list.push_back(*b);
  list.push_back(c);
  b.reset();
  EXPECT_EQ(ids(list), (std::vector{1, 3}));
  a.ListLink<Item>::unlink();
  a.ListLink<Item>::unlink();  // Harmless the second time.
  EXPECT_EQ(ids(list), std::vector{3});
}

TEST(IntrusiveList, LetsItsItemsGoWhenItDies) {
  Item a(1);
  {
    IntrusiveList<Item> list;
    list.push_back(a);
    EXPECT_TRUE(a.ListLink<Item>::is_linked());
  }
  EXPECT_FALSE(a.ListLink<Item>::is_linked());
  IntrusiveList<Item> other;
  other.push_back(a);
  EXPECT_EQ(other.front(), &a);
}

TEST(IntrusiveList, HoldsAnObjectOncePerTag) {
  Item a(1), b(2);
  IntrusiveList<Item> list;
  IntrusiveList<Item, ByAge> by_age;
  list.push_back(a);
  list.push_back(b);
  by_age.push_back(b);
  by_age.push_back(a);
  EXPECT_EQ(list.front(), &a);
  EXPECT_EQ(by_age.front(), &b);
  b.ListLink<ByAge>::unlink();
  EXPECT_EQ(by_age.front(), &a);
  EXPECT_EQ(ids(list), (std::vector{1, 2}));
}

TEST(IntrusiveList, SplicesAnotherListToItsEnd) {
  Item a(1), b(2), c(3);
  IntrusiveList<Item> list, other;
  list.push_back(a);
  other.push_back(b);
  other.push_back(c);
  list.splice_back(other);
  EXPECT_EQ(ids(list), (std::vector{1, 2, 3}));
  EXPECT_TRUE(other.empty());
}

TEST(IntrusiveList, LetsAVisitorDestroyTheItemItWasGiven) {
  std::vector<std::unique_ptr<Item>> owned;
  IntrusiveList<Item> list;
  for (int i = 0; i < 4; ++i) list.push_back(*owned.emplace_back(std::make_unique<Item>(i)));
  list.for_each([&](Item& item) {
    const int id = item.id;
    if (id % 2 == 0) owned[static_cast<std::size_t>(id)].reset();
  });
  EXPECT_EQ(ids(list), (std::vector{1, 3}));
}

}  // namespace
}  // namespace titanium
