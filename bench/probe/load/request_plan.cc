// SPDX-License-Identifier: MIT
#include "load/request_plan.h"

#include <fmt/format.h>

#include "origin/grpc.h"

namespace titanium::probe {
namespace {

// The paths are those of origin.h.
std::string path_of(const Workload& workload) {
  if (workload.kind == Workload::Kind::websocket) return "/ws";
  if (workload.kind == Workload::Kind::grpc) return std::string(kGrpcPath);
  if (workload.request_bytes > 0) {
    if (workload.early_response_after > 0) {
      if (workload.response_bytes == 0) {
        return fmt::format("/early/{}", workload.early_response_after);
      }
      return fmt::format("/early/{}/{}", workload.early_response_after, workload.response_bytes);
    }
    if (workload.response_bytes == workload.request_bytes) return "/echo";
  }
  if (workload.response_bytes > 0) return fmt::format("/bytes/{}", workload.response_bytes);
  return "/";
}

}  // namespace

RequestPlan plan_request(const LoadTarget& target, const Workload& workload) {
  RequestPlan plan{.path = path_of(workload), .authority = target.authority};
  if (workload.kind == Workload::Kind::websocket) return plan;
  if (workload.kind == Workload::Kind::grpc) {
    plan.method = http::Method::post;
    plan.message = make_grpc_message(workload.message_bytes);
    return plan;
  }
  if (workload.request_bytes > 0) {
    plan.method = http::Method::post;
    plan.body_bytes = workload.request_bytes;
  }
  if (workload.response_bytes > 0) plan.answer_bytes = workload.response_bytes;
  return plan;
}

BodyCheck RequestPlan::make_check() const noexcept {
  BodyCheck check;
  if (!message.empty()) {
    check.expect_text(message);
  } else if (answer_bytes) {
    check.expect_pattern(*answer_bytes);
  } else {
    check.expect_tiny();
  }
  return check;
}

std::string RequestPlan::name() const {
  return fmt::format("{} {}", method == http::Method::post ? "POST" : "GET", path);
}

}  // namespace titanium::probe
