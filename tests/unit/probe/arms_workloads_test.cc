// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "arms/workloads.h"

namespace titanium::probe {
namespace {

TEST(P99Limit, DependsOnTheLoadAndForTinyOnesOnTheWires) {
  struct Case {
    SloClass slo;
    Wire client;
    Wire origin;
    int milliseconds;
  };
  using enum Wire;
  const Case cases[] = {
      {SloClass::tiny, http1, http1, 50},
      {SloClass::tiny, http1_tls, http1_tls, 50},
      {SloClass::tiny, h2c, http1, 100},
      {SloClass::tiny, http2_tls, http2_tls, 100},
      {SloClass::tiny, http3, http1, 150},
      {SloClass::tiny, http1, http3, 150},
      {SloClass::tiny, http2_tls, http3, 150},
      {SloClass::body, http1, http1, 500},
      {SloClass::handshake, http1_tls, http1, 200},
      {SloClass::lossy, http1_tls, http1, 2000},
      {SloClass::architecture, http1_tls, http1, 5000},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(p99_limit(c.slo, c.client, c.origin), std::chrono::milliseconds(c.milliseconds));
  }
}

TEST(Workloads, HaveASuffixWithAHyphenAndAMeaning) {
  for (const WorkloadRow& row : workloads()) {
    EXPECT_TRUE(row.suffix.empty() || row.suffix.starts_with('-')) << row.suffix;
    EXPECT_FALSE(row.meaning.empty()) << row.suffix;
    EXPECT_EQ(&workload_row(row.suffix), &row);
  }
}

}  // namespace
}  // namespace titanium::probe
