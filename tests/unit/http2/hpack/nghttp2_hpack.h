// SPDX-License-Identifier: MIT
//
// nghttp2's HPACK, as the oracle of tests and fuzz targets.
#pragma once

#include <nghttp2/nghttp2.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "field_lines.h"

namespace titanium::test {

class Nghttp2Inflater {
 public:
  Nghttp2Inflater() {
    nghttp2_hd_inflater* inflater = nullptr;
    nghttp2_hd_inflate_new(&inflater);
    inflater_.reset(inflater);
  }

  void table_bytes_acknowledged(std::uint32_t bytes) {
    nghttp2_hd_inflate_change_table_size(inflater_.get(), bytes);
  }

  // The lines of a whole block; nullopt: it is malformed.
  std::optional<FieldLines> decode(std::string_view block) {
    FieldLines lines;
    const auto* in = reinterpret_cast<const std::uint8_t*>(block.data());
    std::size_t size = block.size();
    for (;;) {
      nghttp2_nv line{};
      int flags = 0;
      const auto used = nghttp2_hd_inflate_hd2(inflater_.get(), &line, &flags, in, size, 1);
      if (used < 0) return std::nullopt;
      in += used;
      size -= static_cast<std::size_t>(used);
      if ((flags & NGHTTP2_HD_INFLATE_EMIT) != 0) {
        lines.push_back({std::string(reinterpret_cast<char*>(line.name), line.namelen),
                         std::string(reinterpret_cast<char*>(line.value), line.valuelen),
                         (line.flags & NGHTTP2_NV_FLAG_NO_INDEX) != 0});
      }
      if ((flags & NGHTTP2_HD_INFLATE_FINAL) != 0) break;
    }
    nghttp2_hd_inflate_end_headers(inflater_.get());
    return lines;
  }

  [[nodiscard]] std::size_t table_bytes() const {
    return nghttp2_hd_inflate_get_dynamic_table_size(inflater_.get());
  }

 private:
  std::unique_ptr<nghttp2_hd_inflater, decltype(&nghttp2_hd_inflate_del)> inflater_{
      nullptr, nghttp2_hd_inflate_del};
};

class Nghttp2Deflater {
 public:
  explicit Nghttp2Deflater(std::size_t most_table_bytes) {
    nghttp2_hd_deflater* deflater = nullptr;
    nghttp2_hd_deflate_new(&deflater, most_table_bytes);
    deflater_.reset(deflater);
  }

  void set_peer_table_bytes(std::size_t bytes) {
    nghttp2_hd_deflate_change_table_size(deflater_.get(), bytes);
  }

  std::string encode(const FieldLines& lines) {
    std::vector<nghttp2_nv> list;
    for (const FieldLine& line : lines) {
      const auto bytes = [](const std::string& text) {
        return reinterpret_cast<std::uint8_t*>(const_cast<char*>(text.data()));
      };
      list.push_back({bytes(line.name), bytes(line.value), line.name.size(), line.value.size(),
                      static_cast<std::uint8_t>(line.never_indexed ? NGHTTP2_NV_FLAG_NO_INDEX
                                                                   : NGHTTP2_NV_FLAG_NONE)});
    }
    std::string out(nghttp2_hd_deflate_bound(deflater_.get(), list.data(), list.size()), '\0');
    const auto used =
        nghttp2_hd_deflate_hd2(deflater_.get(), reinterpret_cast<std::uint8_t*>(out.data()),
                               out.size(), list.data(), list.size());
    out.resize(used < 0 ? 0 : static_cast<std::size_t>(used));
    return out;
  }

 private:
  std::unique_ptr<nghttp2_hd_deflater, decltype(&nghttp2_hd_deflate_del)> deflater_{
      nullptr, nghttp2_hd_deflate_del};
};

}  // namespace titanium::test
