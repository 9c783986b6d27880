// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>

#include "run/selection.h"

namespace titanium::probe {
namespace {

using testing::HasSubstr;

[[nodiscard]] Arm first_arm(std::string mode) {
  RampOptions options;
  options.mode = std::move(mode);
  auto arms = chosen_arms(options);
  EXPECT_TRUE(arms);
  return arms->front();
}

TEST(Overrides, LeaveAnArmAloneIfThereAreNone) {
  Arm arm = first_arm("twp-reverse-http1");
  apply({}, arm);
  EXPECT_EQ(arm.row_key, "h1c-h1c");
}

TEST(Overrides, ChangeTheLoadAndTheRow) {
  Arm arm = first_arm("twp-reverse-http1");
  apply({.request_bytes = 100'000, .response_bytes = 200'000, .no_keepalive = true}, arm);
  EXPECT_EQ(arm.load.workload.request_bytes, 100'000U);
  EXPECT_EQ(arm.load.workload.response_bytes, 200'000U);
  EXPECT_FALSE(arm.load.workload.keep_alive);
  EXPECT_EQ(arm.load.slo, SloClass::body);
  EXPECT_EQ(arm.row_key, "h1c-h1c-custom") << "it would be compared with rows of another load";
}

TEST(Overrides, GetTheLimitsOfTheirKind) {
  struct Case {
    LoadOverrides overrides;
    SloClass slo;
  };
  LoadOverrides fresh;
  fresh.no_keepalive = true;
  LoadOverrides websocket;
  websocket.websocket = true;
  LoadOverrides slow;
  slow.read_chunk_bytes = 1024;
  slow.read_pause_ms = 5;
  LoadOverrides link;
  link.delay_ms = 5;
  LoadOverrides small;
  small.response_bytes = 100;
  const Case cases[] = {{fresh, SloClass::handshake},
                        {websocket, SloClass::architecture},
                        {slow, SloClass::architecture},
                        {link, SloClass::lossy},
                        {small, SloClass::tiny}};
  for (const Case& c : cases) {
    Arm arm = first_arm("twp-reverse-http1");
    apply(c.overrides, arm);
    EXPECT_EQ(arm.load.slo, c.slo);
  }
}

TEST(Selection, RefusesAProgramThatIsNone) {
  RampOptions options;
  options.mode = "compare";
  options.program_paths[Product::nginx] = "/no/such/nginx";
  const auto selection = select_arms(options);
  ASSERT_FALSE(selection);
  EXPECT_THAT(selection.error(), HasSubstr("--nginx-path"));
  EXPECT_THAT(selection.error(), HasSubstr("/no/such/nginx"));
}

TEST(Selection, SaysWhyAnArmIsAbsent) {
  RampOptions options;
  options.mode = "compare-matrix";
  options.arm_contains = "nginx-reverse-http1-to-h2c,twp-reverse-http1-to-http3,origin-direct$";
  const auto selection = select_arms(options);
  ASSERT_TRUE(selection) << selection.error();
  ASSERT_EQ(selection->arms.size(), 1U);
  EXPECT_EQ(selection->arms[0].name, "origin-direct");
  ASSERT_EQ(selection->absent.size(), 2U);
  EXPECT_EQ(selection->absent[0].status, "not possible");
  EXPECT_EQ(selection->absent[0].reason, "nginx speaks HTTP/1 to origins");
  EXPECT_EQ(selection->absent[1].status, "not possible yet");
  EXPECT_TRUE(selection->products.empty());
}

}  // namespace
}  // namespace titanium::probe
