// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/chunk.h"
#include "http/field.h"

namespace titanium::proxy {

// What arrived on an HTTP/2 stream while the exchange took nothing: at most a window of body bytes,
// and perhaps the end of the body with its trailers.
class Http2Inbound {
 public:
  explicit Http2Inbound(ChunkPool& pool) noexcept : data_(pool) {}

  [[nodiscard]] ChunkQueue& data() noexcept { return data_; }
  [[nodiscard]] bool has_ended() const noexcept { return ended_; }

  // Keeps the end for later; copies the trailers, as their texts do not stay.
  void keep_end(const http::FieldList& trailers) {
    ended_ = true;
    trailers_.clear();
    for (const http::Field& field : trailers) {
      if (!field.dropped) trailers_.emplace_back(field.name, field.value);
    }
  }
  // The kept trailers, written to `trailers`; views into this object.
  void get_trailers(http::FieldList& trailers) const {
    trailers.clear();
    for (const auto& [name, value] : trailers_) trailers.add(name, value);
  }
  void clear() noexcept {
    data_.clear();
    ended_ = false;
    trailers_.clear();
  }

 private:
  ChunkQueue data_;
  bool ended_ = false;
  std::vector<std::pair<std::string, std::string>> trailers_;
};

}  // namespace titanium::proxy
