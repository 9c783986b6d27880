// SPDX-License-Identifier: MIT
//
// An arm: one product on one pair of wires under one kind of load. Arms are made from tables
// (pairs.cc, product.cc, workloads.cc, rows.cc), never written down one by one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "arms/product.h"
#include "arms/workloads.h"
#include "workload.h"

namespace titanium::probe {

struct Arm {
  std::string name;     // In the CSV: "twp-reverse-http1-tls-body64k".
  std::string mode;     // What --mode may call it besides its name; for peers the same.
  std::string row_key;  // "h1tls-h1c-body64k": arms with the same one are compared.
  Product product = Product::titanium;
  Wire client = Wire::http1;
  Wire origin = Wire::http1;
  WorkloadRow load;
  // "not possible: …" or "not possible yet: …"; empty: it can run if the product is installed.
  std::string not_possible;

  [[nodiscard]] bool is_websocket() const noexcept {
    return load.workload.kind == Workload::Kind::websocket;
  }
  [[nodiscard]] bool is_grpc() const noexcept { return load.workload.kind == Workload::Kind::grpc; }
};

// All arms, row by row in the order of the tables; in a row the controls first and ours last.
[[nodiscard]] std::vector<Arm> all_arms();

}  // namespace titanium::probe
