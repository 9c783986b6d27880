// SPDX-License-Identifier: MIT
#include "load/load.h"

#include <utility>

#include "load/driver.h"
#include "load/http1_connection.h"
#include "load/http2_connection.h"
#include "load/websocket_connection.h"

namespace titanium::probe {

std::unique_ptr<ClientConnection> make_client_connection(const ClientShared& shared) {
  if (is_http2(shared.target.wire)) return std::make_unique<Http2Connection>(shared);
  if (!is_http1(shared.target.wire)) return nullptr;
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
    const char* const protocol = is_http2(options.target.wire) ? "h2" : "http/1.1";
    auto context = tls::ClientContext::create(
        {.ca_path = options.target.ca_file, .alpn = {protocol}, .cached_sessions = 0});
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
