// SPDX-License-Identifier: MIT
#include "http2/hpack/dynamic_table.h"

#include <gtest/gtest.h>

#include <deque>
#include <random>
#include <string>

#include "base/text_words.h"
#include "unit/http2/hpack/field_lines.h"

namespace titanium::http2 {
namespace {

using test::FieldLine;
using test::FieldLines;
using test::lines_of;

LineHash hash_of(std::string_view name, std::string_view value) {
  const std::uint32_t name_hash = hash_text(name);
  return {.name = name_hash, .line = hash_text(value, name_hash)};
}

void insert(DynamicTable& table, std::string_view name, std::string_view value) {
  table.insert(name, value, http::find_known_field(name), hash_of(name, value));
}

std::uint32_t find_line(const DynamicTable& table, std::string_view name, std::string_view value) {
  return table.find_line(name, value, hash_of(name, value).line);
}

TEST(DynamicTable, HasNoMemoryBeforeTheFirstLine) {
  DynamicTable table(4096, DynamicTable::Search::by_text);
  EXPECT_EQ(table.count(), 0U);
  EXPECT_EQ(table.bytes(), 0U);
  EXPECT_EQ(find_line(table, "a", "b"), DynamicTable::kNoLine);
  EXPECT_EQ(table.find_name("a", hash_text("a")), DynamicTable::kNoLine);
  table.set_max_bytes(0);
}

TEST(DynamicTable, GivesTheNewestLineTheLowestAge) {
  DynamicTable table(4096, DynamicTable::Search::by_age);
  insert(table, "date", "today");
  insert(table, "x", "");
  EXPECT_EQ(lines_of(table), (FieldLines{{"x", ""}, {"date", "today"}}));
  EXPECT_EQ(table.at(1).known, http::KnownField::date);
  EXPECT_EQ(table.bytes(), 32U + 1 + 32 + 9);  // RFC 7541 §4.1
}

TEST(DynamicTable, EvictsTheOldestUntilANewLineFits) {
  DynamicTable table(100, DynamicTable::Search::by_age);
  insert(table, "a", "1");  // 34 bytes each.
  insert(table, "b", "2");
  EXPECT_EQ(lines_of(table), (FieldLines{{"b", "2"}, {"a", "1"}}));
  insert(table, "c", "3");
  EXPECT_EQ(lines_of(table), (FieldLines{{"c", "3"}, {"b", "2"}}));
}

TEST(DynamicTable, TakesALineOfExactlyItsSizeAndIsEmptiedByALargerOne) {
  DynamicTable table(40, DynamicTable::Search::by_age);
  insert(table, "name", "1234");
  EXPECT_EQ(lines_of(table), (FieldLines{{"name", "1234"}}));
  insert(table, "name", "12345");  // RFC 7541 §4.4: not an error.
  EXPECT_EQ(table.count(), 0U);
}

TEST(DynamicTable, EvictsWhenItsSizeGoesDownAndRefillsWhenItGoesUp) {
  DynamicTable table(102, DynamicTable::Search::by_age);
  for (const char* name : {"a", "b", "c"}) insert(table, name, "1");
  table.set_max_bytes(101);
  EXPECT_EQ(lines_of(table), (FieldLines{{"c", "1"}, {"b", "1"}}));
  table.set_max_bytes(0);
  EXPECT_EQ(table.bytes(), 0U);
  insert(table, "d", "1");
  EXPECT_EQ(table.count(), 0U);
  table.set_max_bytes(34);
  insert(table, "e", "1");
  EXPECT_EQ(lines_of(table), (FieldLines{{"e", "1"}}));
}

TEST(DynamicTable, FindsTheNewestOfEqualLinesAndNames) {
  DynamicTable table(4096, DynamicTable::Search::by_text);
  insert(table, "a", "1");
  insert(table, "a", "2");
  insert(table, "a", "1");
  insert(table, "b", "1");
  EXPECT_EQ(find_line(table, "a", "1"), 1U);
  EXPECT_EQ(find_line(table, "a", "2"), 2U);
  EXPECT_EQ(find_line(table, "a", "3"), DynamicTable::kNoLine);
  EXPECT_EQ(table.find_name("a", hash_text("a")), 1U);
  EXPECT_EQ(table.find_name("b", hash_text("b")), 0U);
  EXPECT_EQ(table.find_name("c", hash_text("c")), DynamicTable::kNoLine);
}

TEST(DynamicTable, TellsTextsOfTheSameHashApart) {
  DynamicTable table(4096, DynamicTable::Search::by_text);
  const LineHash same{.name = 7, .line = 7};
  for (int i = 0; i < 50; ++i) table.insert("n" + std::to_string(i), "v", {}, same);
  for (std::uint32_t i = 0; i < 50; ++i) {
    EXPECT_EQ(table.find_line("n" + std::to_string(i), "v", 7), 49 - i);
    EXPECT_EQ(table.find_name("n" + std::to_string(i), 7), 49 - i);
  }
  EXPECT_EQ(table.find_line("n1v", "", 7),
            DynamicTable::kNoLine);  // The same bytes, cut elsewhere.
}

// A table as the RFC describes it, with no thought of speed.
class PlainTable {
 public:
  void set_max_bytes(std::size_t bytes) {
    max_ = bytes;
    evict_until(bytes);
  }
  void insert(const std::string& name, const std::string& value) {
    const std::size_t bytes = name.size() + value.size() + 32;
    if (bytes > max_) return evict_until(0);
    evict_until(max_ - bytes);
    lines_.push_front({name, value});
    bytes_ += bytes;
  }
  [[nodiscard]] FieldLines lines() const { return {lines_.begin(), lines_.end()}; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  [[nodiscard]] std::uint32_t find(std::string_view name, const std::string* value) const {
    for (std::uint32_t age = 0; age < lines_.size(); ++age) {
      if (lines_[age].name == name && (value == nullptr || lines_[age].value == *value)) return age;
    }
    return DynamicTable::kNoLine;
  }

 private:
  void evict_until(std::size_t bytes) {
    while (bytes_ > bytes) {
      bytes_ -= lines_.back().name.size() + lines_.back().value.size() + 32;
      lines_.pop_back();
    }
  }
  std::size_t max_ = 4096;
  std::size_t bytes_ = 0;
  std::deque<FieldLine> lines_;
};

TEST(DynamicTable, DoesTheSameAsAPlainOneOverManySteps) {
  std::minstd_rand random(1);  // NOLINT: the same steps in each run.
  const auto below = [&](std::size_t n) { return random() % n; };
  DynamicTable table(4096, DynamicTable::Search::by_text);
  PlainTable plain;
  for (int step = 0; step < 20'000; ++step) {
    if (below(200) == 0) {
      const auto bytes = static_cast<std::uint32_t>(below(3) == 0 ? below(200) : below(6000));
      table.set_max_bytes(bytes);
      plain.set_max_bytes(bytes);
    }
    const std::string name = "n" + std::to_string(below(20));
    const std::string value(below(10) == 0 ? below(3000) : below(40),
                            static_cast<char>('a' + below(3)));
    ASSERT_EQ(find_line(table, name, value), plain.find(name, &value)) << "step " << step;
    ASSERT_EQ(table.find_name(name, hash_text(name)), plain.find(name, nullptr));
    insert(table, name, value);
    plain.insert(name, value);
    ASSERT_EQ(table.bytes(), plain.bytes());
    if (step % 16 == 0) {
      ASSERT_EQ(lines_of(table), plain.lines()) << "step " << step;
    }
  }
}

}  // namespace
}  // namespace titanium::http2
