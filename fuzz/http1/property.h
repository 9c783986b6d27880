// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string_view>

namespace titanium::fuzz {

// A property that has to hold for every input.
inline void require(bool holds) {
  if (!holds) std::abort();
}

// A copy in memory of exactly its size: each byte read beyond it is noticed.
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

// Numbers from the front of the input, which decide where the rest of it is cut.
class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size)
      : rest_(reinterpret_cast<const char*>(data), size) {}

  std::size_t number() {
    if (rest_.empty()) return 0;
    const auto value = static_cast<unsigned char>(rest_.front());
    rest_.remove_prefix(1);
    return value;
  }
  [[nodiscard]] std::string_view rest() const noexcept { return rest_; }

 private:
  std::string_view rest_;
};

}  // namespace titanium::fuzz
