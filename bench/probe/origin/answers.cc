// SPDX-License-Identifier: MIT
#include "origin/answers.h"

#include <fmt/format.h>

#include "origin/content.h"

namespace titanium::probe {

void Answers::set_time(std::time_t now) {
  if (now == made_at_) return;
  made_at_ = now;
  date_text_ = date_.at(now);
  Shape shape{.length = kTinyJson.size()};
  tiny_ = make_head(shape).append(kTinyJson);
  shape.close = true;
  tiny_close_ = make_head(shape).append(kTinyJson);
  last_head_.clear();
}

std::string Answers::make_head(const Shape& shape) const {
  std::string head =
      fmt::format("HTTP/1.1 200 OK\r\nServer: probe-origin\r\nDate: {}\r\nContent-Type: {}\r\n",
                  date_text_, shape.json ? "application/json" : "text/plain");
  head += shape.chunked ? "Transfer-Encoding: chunked\r\n"
                        : fmt::format("Content-Length: {}\r\n", shape.length);
  if (shape.close) head += "Connection: close\r\n";
  return head += "\r\n";
}

std::string_view Answers::head(const Shape& shape, std::time_t now) {
  set_time(now);
  if (last_head_.empty() || shape != last_shape_) {
    last_head_ = make_head(shape);
    last_shape_ = shape;
  }
  return last_head_;
}

std::string_view Answers::date(std::time_t now) {
  set_time(now);
  return date_text_;
}

std::string_view Answers::tiny(bool close, std::time_t now) {
  set_time(now);
  return close ? tiny_close_ : tiny_;
}

}  // namespace titanium::probe
