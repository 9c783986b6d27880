// SPDX-License-Identifier: MIT
#include "peers/products.h"
#include "peers/template.h"

namespace titanium::probe {
namespace {

// YARP is a library; this is the configuration of the ready-made program that its authors publish.
// .NET takes as many threads as it needs; bodies stream, connections to the origin are kept.
constexpr std::string_view kTemplate = R"({
  "Logging": {"LogLevel": {"Default": "Warning"}},
  "Kestrel": {
    "Endpoints": {
      "client": {
        "Url": "@scheme@://127.0.0.1:@port@",
        "Protocols": "@client_protocol@"@certificate@
      }
    }
  },
  "ReverseProxy": {
    "Routes": {
      "all": {"ClusterId": "origin", "Match": {"Path": "{**rest}"}}
    },
    "Clusters": {
      "origin": {
        "HttpClient": {"MaxConnectionsPerServer": 16384},
        "HttpRequest": {"Version": "@origin_version@", "VersionPolicy": "RequestVersionExact"},
        "Destinations": {
          "origin": {"Address": "@origin_scheme@://@origin_host@:@origin_port@/"}
        }
      }
    }
  }
}
)";

[[nodiscard]] std::string certificate(const PeerInput& input) {
  if (!is_tls(input.client)) return {};
  const std::string folder = input.certificates.string();
  return ",\n        \"Certificate\": {\"Path\": \"" + folder + "/leaf.pem\", \"KeyPath\": \"" +
         folder + "/leaf.key\"}";
}

[[nodiscard]] std::vector<ConfigFile> configure(const PeerInput& input) {
  const bool origin_tls = is_tls(input.origin);
  return {{"yarp.config",
           fill_template(kTemplate,
                         {{"scheme", is_tls(input.client) ? "https" : "http"},
                          {"port", std::to_string(input.port)},
                          {"client_protocol", is_http2(input.client) ? "Http2" : "Http1"},
                          {"origin_version", is_http2(input.origin) ? "2" : "1.1"},
                          {"certificate", certificate(input)},
                          {"origin_scheme", origin_tls ? "https" : "http"},
                          // It verifies the name that it connects to.
                          {"origin_host", origin_tls ? std::string(kServerName) : "127.0.0.1"},
                          {"origin_port", std::to_string(input.origin_port)}})}};
}

[[nodiscard]] std::vector<std::string> arguments(const PeerInput& input) {
  return {(input.folder / "yarp.config").string()};
}

}  // namespace

Peer yarp_peer() {
  return {.product = Product::yarp,
          .path_option = "--yarp-path",
          .programs = {"yarp"},
          .version_arguments = {"--version"},
          .version_marker = "",
          .configure = configure,
          .arguments = arguments,
          .roots_by_environment = true};
}

}  // namespace titanium::probe
