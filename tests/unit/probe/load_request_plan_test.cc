// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "load/request_plan.h"

namespace titanium::probe {
namespace {

TEST(RequestPlan, FollowsTheWorkload) {
  struct Case {
    Workload workload;
    const char* name;
    std::uint32_t body_bytes;
    std::optional<std::uint64_t> answer_bytes;
  };
  const Case cases[] = {
      {{}, "GET /", 0, {}},
      {{.response_bytes = 65536}, "GET /bytes/65536", 0, 65536},
      {{.request_bytes = 10}, "POST /", 10, {}},
      {{.request_bytes = 10, .response_bytes = 10}, "POST /echo", 10, 10},
      {{.request_bytes = 10, .response_bytes = 20}, "POST /bytes/20", 10, 20},
      {{.request_bytes = 10, .early_response_after = 5}, "POST /early/5", 10, {}},
      {{.request_bytes = 10, .response_bytes = 20, .early_response_after = 5},
       "POST /early/5/20",
       10,
       20},
      // A GET has nothing that could be early.
      {{.response_bytes = 7, .early_response_after = 5}, "GET /bytes/7", 0, 7},
      {{.kind = Workload::Kind::websocket, .request_bytes = 3}, "GET /ws", 0, {}},
      {{.kind = Workload::Kind::grpc, .request_bytes = 3}, "POST /grpc.Echo/Unary", 0, {}},
  };
  const LoadTarget target{.address = {}, .authority = "a:1", .ca_file = {}};
  for (const Case& row : cases) {
    const RequestPlan plan = plan_request(target, row.workload);
    EXPECT_EQ(plan.name(), row.name);
    EXPECT_EQ(plan.body_bytes, row.body_bytes) << row.name;
    EXPECT_EQ(plan.answer_bytes, row.answer_bytes) << row.name;
    EXPECT_EQ(plan.authority, "a:1");
  }
}

TEST(RequestPlan, ChecksTheBodyItAsksFor) {
  const LoadTarget target;
  BodyCheck tiny = plan_request(target, {}).make_check();
  EXPECT_TRUE(tiny.take(kTinyJson));
  EXPECT_TRUE(tiny.is_complete());
  BodyCheck bytes = plan_request(target, {.response_bytes = 10}).make_check();
  EXPECT_TRUE(bytes.take(pattern().substr(0, 10)));
  EXPECT_TRUE(bytes.is_complete());
  const RequestPlan plan = plan_request(target, {.kind = Workload::Kind::grpc, .message_bytes = 3});
  BodyCheck message = plan.make_check();
  EXPECT_TRUE(message.take(std::string("\0\0\0\0\3", 5).append(pattern().substr(0, 3))));
  EXPECT_TRUE(message.is_complete());
}

}  // namespace
}  // namespace titanium::probe
