// SPDX-License-Identifier: MIT
//
// Properties of the decoder: it accepts what nghttp2 accepts and finds the same lines, over several
// blocks of one connection and changes of the setting; and tight limits change neither the verdict
// nor the table.
//
// Known difference, which inputs of a fuzzer's size do not reach: nghttp2 refuses names and values
// of more than 64 KiB; here the size of the block and DecodeLimits bound them.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "../../tests/unit/http2/hpack/nghttp2_hpack.h"
#include "../http1/property.h"

namespace titanium::http2 {
namespace {

using fuzz::ExactCopy;
using fuzz::require;

constexpr DecodeLimits kNoLimits{.list_bytes = 1 << 30, .fields = 1 << 30};
constexpr DecodeLimits kTight{.list_bytes = 200, .fields = 3};

struct Connection {
  HpackDecoder decoder;
  HpackDecoder tight;
  test::Nghttp2Inflater inflater;

  void set_table_bytes(std::uint32_t bytes) {
    decoder.table_bytes_acknowledged(bytes);
    tight.table_bytes_acknowledged(bytes);
    inflater.table_bytes_acknowledged(bytes);
  }

  // False: the block is malformed, and the connection is over.
  bool decode(std::string_view block) {
    const ExactCopy copy(block);
    FieldBlock out;
    FieldBlock part;
    const auto outcome = decoder.decode(copy.view(), kNoLimits, Side::client, out);
    const auto cut = tight.decode(copy.view(), kTight, Side::client, part);
    const auto theirs = inflater.decode(copy.view());
    require(outcome.has_value() == theirs.has_value());
    require(outcome.has_value() == cut.has_value());
    if (!outcome) return false;
    require(!outcome->over_limit && test::lines_of(out) == *theirs);
    require(decoder.table().bytes() == inflater.table_bytes());
    require_beginning_of(test::lines_of(out), test::lines_of(part), cut->over_limit);
    require(part.list_bytes() <= kTight.list_bytes);
    require(test::lines_of(decoder.table()) == test::lines_of(tight.table()));
    return true;
  }

  static void require_beginning_of(const test::FieldLines& all, const test::FieldLines& part,
                                   bool over_limit) {
    require(over_limit ? part.size() < all.size() : part.size() == all.size());
    require(std::equal(part.begin(), part.end(), all.begin()));
  }
};

}  // namespace
}  // namespace titanium::http2

// Blocks, each after a byte that gives its size; every eighth value changes the setting instead.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace titanium;
  http2::Connection connection;
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  const auto take = [&](std::size_t bytes) {
    const std::string_view taken = rest.substr(0, bytes);
    rest.remove_prefix(taken.size());
    return taken;
  };
  while (!rest.empty()) {
    const auto control = static_cast<unsigned char>(take(1).front());
    if (control % 8 == 7) {
      connection.set_table_bytes(control / 8U * 32U);
    } else if (!connection.decode(take(control))) {
      break;
    }
  }
  return 0;
}
