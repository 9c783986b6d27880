// SPDX-License-Identifier: MIT
#include "load/load.h"

#include <utility>

#include "load/driver.h"
#include "load/http1_connection.h"
#include "load/websocket_connection.h"

namespace titanium::probe {

std::unique_ptr<ClientConnection> make_client_connection(const ClientShared& shared) {
  const Wire wire = shared.target.wire;
  if (wire != Wire::http1 && wire != Wire::http1_tls) return nullptr;
  switch (shared.workload.kind) {
    case Workload::Kind::request:
      return std::make_unique<Http1Connection>(shared);
    case Workload::Kind::websocket:
      return std::make_unique<WebSocketConnection>(shared);
    case Workload::Kind::grpc:
      break;
  }
  return nullptr;
}

Result<std::unique_ptr<LoadGenerator>> LoadGenerator::create(LoadOptions options) {
  std::shared_ptr<tls::ClientContext> tls;
  if (is_tls(options.target.wire)) {
    auto context = tls::ClientContext::create(
        {.ca_path = options.target.ca_file, .alpn = {"http/1.1"}, .cached_sessions = 0});
    if (!context) {
      return std::unexpected(Error{.code = Code::config, .what = "the CA file cannot be used"});
    }
    tls = std::move(*context);
  }
  auto driver = std::make_unique<Driver>(std::move(options), std::move(tls));
  if (!driver->open_slots()) {
    return std::unexpected(
        Error{.code = Code::config, .what = "the generator does not speak this wire"});
  }
  return driver;
}

}  // namespace titanium::probe
