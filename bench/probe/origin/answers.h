// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <ctime>
#include <limits>
#include <string>
#include <string_view>

#include "http/date.h"

namespace titanium::probe {

// Complete answers and heads of answers as bytes, made once per second: with Server, Date,
// Content-Type and Content-Length, as ordinary origins send them.
class Answers {
 public:
  struct Shape {
    bool json = true;  // Else text/plain.
    bool close = false;
    bool chunked = false;
    std::uint64_t length = 0;  // Unless chunked.
    bool operator==(const Shape&) const = default;
  };

  // Both valid until the next call.
  [[nodiscard]] std::string_view head(const Shape& shape, std::time_t now);
  [[nodiscard]] std::string_view tiny(bool close, std::time_t now);
  // Of the Date field.
  [[nodiscard]] std::string_view date(std::time_t now);

 private:
  void set_time(std::time_t now);
  [[nodiscard]] std::string make_head(const Shape& shape) const;

  http::DateCache date_;
  std::time_t made_at_ = std::numeric_limits<std::time_t>::min();
  std::string date_text_;
  std::string tiny_;
  std::string tiny_close_;
  Shape last_shape_;  // The answers of an arm are all alike.
  std::string last_head_;
};

}  // namespace titanium::probe
