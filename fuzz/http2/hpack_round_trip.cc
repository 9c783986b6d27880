// SPDX-License-Identifier: MIT
//
// Properties of the encoder: our decoder and nghttp2's find the lines that went in, names in lower
// case, over several blocks of one connection and changes of the setting; both ends have the same
// table; and what must never be indexed is marked so.
#include <cstdint>
#include <string>
#include <string_view>

#include "../../tests/unit/http2/hpack/nghttp2_hpack.h"
#include "../http1/property.h"
#include "base/ascii.h"

namespace titanium::http2 {
namespace {

using fuzz::ExactCopy;
using fuzz::require;
using test::FieldLine;
using test::FieldLines;

constexpr DecodeLimits kNoLimits{.list_bytes = 1 << 30, .fields = 1 << 30};

struct Connection {
  HpackEncoder encoder;
  HpackDecoder decoder;
  test::Nghttp2Inflater inflater;

  void set_table_bytes(std::uint32_t bytes) {
    encoder.set_peer_table_bytes(bytes);
    decoder.table_bytes_acknowledged(bytes);
    inflater.table_bytes_acknowledged(bytes);
  }

  void pass_on(const FieldLines& lines) {
    std::string block;
    encoder.begin_block(block);
    for (const FieldLine& line : lines) {
      const ExactCopy name(line.name);
      const ExactCopy value(line.value);
      encoder.add(block, name.view(), value.view(), http::find_known_field(line.name),
                  line.never_indexed ? Indexing::never : Indexing::automatic);
    }
    FieldBlock out;
    const auto outcome = decoder.decode(block, kNoLimits, Side::client, out);
    require(outcome.has_value());
    const FieldLines ours = test::lines_of(out);
    require(inflater.decode(block) == ours);
    require(ours.size() == lines.size());
    for (std::size_t i = 0; i < lines.size(); ++i) {
      require(ours[i].name == lower_case(lines[i].name) && ours[i].value == lines[i].value);
      require(ours[i].never_indexed || !lines[i].never_indexed);
      require(ours[i].never_indexed || ours[i].name != "authorization");
    }
    require(test::lines_of(encoder.table()) == test::lines_of(decoder.table()));
    require(encoder.table().bytes() <= encoder.table().max_bytes());
  }
};

// Names that the encoder treats in special ways come up more often than chance would have it.
std::string name_of(std::size_t number, std::string_view text) {
  constexpr std::string_view kNames[] = {
      ":method", ":path", "Content-Length", "cookie", "authorization", "x-any", "Via"};
  return std::string(number < std::size(kNames) ? kNames[number] : text);
}

}  // namespace
}  // namespace titanium::http2

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace titanium;
  http2::Connection connection;
  test::FieldLines lines;
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  const auto number = [&]() -> std::size_t {
    if (rest.empty()) return 0;
    const auto byte = static_cast<unsigned char>(rest.front());
    rest.remove_prefix(1);
    return byte;
  };
  const auto text = [&](std::size_t bytes) {
    const std::string_view taken = rest.substr(0, bytes);
    rest.remove_prefix(taken.size());
    return taken;
  };
  while (!rest.empty()) {
    const std::size_t control = number();
    if (control % 8 == 6) {
      connection.pass_on(lines);
      lines.clear();
    } else if (control % 8 == 7) {
      connection.set_table_bytes(static_cast<std::uint32_t>(control / 8 * 32));
    } else {
      const std::string_view name = text(control / 16);
      const std::string_view value = text(number());
      lines.push_back(
          {http2::name_of(control / 8 % 16, name), std::string(value), control % 8 == 5});
    }
  }
  connection.pass_on(lines);
  return 0;
}
