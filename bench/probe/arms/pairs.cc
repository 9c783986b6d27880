// SPDX-License-Identifier: MIT
#include "arms/pairs.h"

#include <algorithm>
#include <array>

#include "arms/wire.h"
#include "base/assert.h"

namespace titanium::probe {
namespace {

using enum Wire;

// Most pairs have one name for all. The exceptions are old names that scripts rely on.
constexpr PairRow same(Wire client, Wire origin, std::string_view name) {
  return {client, origin, name, name, name};
}

constexpr auto kPairs = std::to_array<PairRow>({
    same(http1, http1, "reverse-http1"),
    same(http1, http1_tls, "reverse-http1-to-https"),
    same(http1, h2c, "reverse-http1-plain-to-h2c"),
    same(http1, http2_tls, "reverse-http1-plain-to-http2"),
    same(http1, http3, "reverse-http1-plain-to-http3"),
    same(http1_tls, http1, "reverse-http1-tls"),
    {http1_tls, http1_tls, "reverse-http1-mitm", "reverse-http1-mitm",
     "reverse-http1-tls-to-https"},
    same(http1_tls, h2c, "reverse-http1-to-h2c"),
    same(http1_tls, http2_tls, "reverse-http11-to-http2"),
    same(http1_tls, http3, "reverse-http1-to-http3"),
    same(h2c, http1, "reverse-h2c-to-h1"),
    same(h2c, http1_tls, "reverse-h2c-to-https"),
    same(h2c, h2c, "reverse-h2c-to-h2c"),
    same(h2c, http2_tls, "reverse-h2c"),
    same(h2c, http3, "reverse-h2c-to-h3"),
    {http2_tls, http1, "reverse-http2-cleartext", "reverse-http2-cleartext", "reverse-http2"},
    {http2_tls, http1_tls, "mitm-http2-to-http1", "reverse-http2-to-https-http1",
     "reverse-http2-to-https-http1"},
    same(http2_tls, h2c, "reverse-http2-to-h2c"),
    {http2_tls, http2_tls, "reverse-http2", "reverse-http2", "reverse-http2-to-https"},
    same(http2_tls, http3, "reverse-http2-to-http3"),
    same(http3, http1, "reverse-http3-cleartext"),
    {http3, http1_tls, "mitm-http3-to-http1", "reverse-http3-to-https-http1",
     "reverse-http3-to-https-http1"},
    same(http3, h2c, "reverse-http3-to-h2c"),
    same(http3, http2_tls, "reverse-http3-to-http2"),
    {http3, http3, "reverse-http3", "reverse-http3", "reverse-http3-to-http3"},
});
static_assert(kPairs.size() == kAllWires.size() * kAllWires.size());

}  // namespace

std::string PairRow::key() const {
  return std::string(wire_name(client)).append("-").append(wire_name(origin));
}

std::span<const PairRow> pairs() { return kPairs; }

const PairRow& pair_row(std::string_view key) {
  const auto row = std::ranges::find(kPairs, key, &PairRow::key);
  TI_ASSERT(row != kPairs.end());
  return *row;
}

}  // namespace titanium::probe
