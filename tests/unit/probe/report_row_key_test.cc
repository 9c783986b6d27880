// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <string_view>

#include "report/row_key.h"

namespace titanium::probe {
namespace {

TEST(ParseRowKey, TellsWiresAndWorkloadApart) {
  struct Case {
    std::string_view key;
    std::string_view client;
    std::string_view origin;
    std::string_view workload;
  };
  const Case cases[] = {
      {"h1c-h1c", "HTTP/1 · plain", "HTTP/1 · plain", ""},
      {"h1tls-h3", "HTTP/1 · TLS", "HTTP/3 · QUIC", ""},
      {"h2tls-h2c-body64k", "HTTP/2 · TLS", "HTTP/2 · plain", "body64k"},
      {"h1tls-h1tls-duplex-ws-h1tls", "HTTP/1 · TLS", "HTTP/1 · TLS", "duplex-ws-h1tls"},
      {"https-connect", "–", "–", "https-connect"},
      {"h1c", "–", "–", "h1c"},
      {"h1c-", "–", "–", "h1c-"},
      {"", "–", "–", ""},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(std::string(c.key));
    const RowKey key = parse_row_key(c.key);
    EXPECT_EQ(wire_words(key.client), c.client);
    EXPECT_EQ(wire_words(key.origin), c.origin);
    EXPECT_EQ(key.workload, c.workload);
  }
}

TEST(GroupOf, PutsUnknownWorkloadsIntoTheLastTable) {
  EXPECT_EQ(workload_group(group_of("")).title, "Tiny GET");
  EXPECT_EQ(workload_group(group_of("nc-tiny")).title, "What TLS costs");
  EXPECT_EQ(workload_group(group_of("never-heard")).title, "Other workloads");
  EXPECT_EQ(workload_words("never-heard"), "never-heard");
}

TEST(Ranks, OrderRowsAsTheWiresAndColumnsWithOursFirstAndControlsLast) {
  EXPECT_LT(row_rank(parse_row_key("h1c-h1tls")), row_rank(parse_row_key("h1tls-h1c")));
  EXPECT_LT(row_rank(parse_row_key("h3-h3")), row_rank(parse_row_key("h1c-h1c-body64k")));
  EXPECT_LT(product_rank("titanium"), product_rank("nginx"));
  EXPECT_LT(product_rank("squid"), product_rank("bare-relay"));
  EXPECT_LT(product_rank("bare-relay"), product_rank("never-heard"));
}

}  // namespace
}  // namespace titanium::probe
