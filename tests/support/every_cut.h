// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string_view>

namespace titanium::test {

// Hands `feed` the input cut in two at every position. read(2) may return at any byte, so a parser
// that is right for one cut and wrong for another is wrong.
template <typename Feed>
void for_each_cut(std::string_view input, Feed feed) {
  for (std::size_t cut = 0; cut <= input.size(); ++cut) {
    SCOPED_TRACE(testing::Message() << "cut after byte " << cut);
    feed(input.substr(0, cut), input.substr(cut));
  }
}

// A copy in memory of exactly its size: AddressSanitizer sees each byte that is read beyond it, and
// each view into it that outlives it.
class ExactCopy {
 public:
  explicit ExactCopy(std::string_view text)
      : size_(text.size()), bytes_(std::make_unique_for_overwrite<char[]>(size_)) {
    std::copy(text.begin(), text.end(), bytes_.get());
  }
  [[nodiscard]] std::string_view view() const noexcept { return {bytes_.get(), size_}; }

 private:
  std::size_t size_;
  std::unique_ptr<char[]> bytes_;
};

}  // namespace titanium::test
