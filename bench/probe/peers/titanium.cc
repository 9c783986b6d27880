// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include "peers/products.h"
#include "peers/template.h"

namespace titanium::probe {
namespace {

// Default settings, but for what every product of the comparison is told: where to listen and
// forward, the certificate, and who may sign the origin's. There is no access log unless asked for.
// Titanium adds Via and X-Forwarded-* by default and does so here; the peers, whose default is to
// add none, add none.
constexpr std::string_view kClearOrigin = R"(schemaVersion: "7.1"

listeners:
  - host: 127.0.0.1
    port: @port@
    decryptSsl: @client_tls@
    forwardHost: 127.0.0.1
    forwardPort: @origin_port@
@listener_protocol@

@server@
@certificates@
)";

// With TLS to the origin its certificate is verified, as the peers do it.
constexpr std::string_view kTlsOrigin = R"(schemaVersion: "7.1"

listeners:
  - host: 127.0.0.1
    port: @port@
    decryptSsl: @client_tls@

routes:
  - id: all
    clusterId: origin
    match:
      path: /

clusters:
  - id: origin
@cluster_protocol@
    destinations:
      - address: 127.0.0.1
        port: @origin_port@
        useHttps: true
    tls:
      caPath: @folder@/root.pem
      serverName: @server_name@

@server@
@certificates@
)";

// HTTP/1 is what it speaks by default to this origin, whose ALPN offers nothing else. Clear HTTP/2
// needs prior knowledge; over TLS it is said too, so that no first connection has to find out.
[[nodiscard]] std::string protocol_line(const PeerInput& input) {
  return is_http2(input.origin) ? "    upstreamHttpProtocol: http2" : "";
}

[[nodiscard]] std::string server_block(const PeerInput& input) {
  if (!input.pool_given) return {};
  return fmt::format("server:\n  pooling:\n    maxCachedConnections: {}\n", input.pool_connections);
}

[[nodiscard]] std::string certificates_block(const PeerInput& input) {
  if (!is_tls(input.client)) return {};
  const std::string folder = input.certificates.string();
  return fmt::format(
      "certificates:\n  certificatePath: {0}/leaf.pem\n"
      "  privateKeyPath: {0}/leaf.key\n",
      folder);
}

[[nodiscard]] std::vector<ConfigFile> configure(const PeerInput& input) {
  const std::string_view text = is_tls(input.origin) ? kTlsOrigin : kClearOrigin;
  return {{"twp.yaml", fill_template(text, {{"port", std::to_string(input.port)},
                                            {"origin_port", std::to_string(input.origin_port)},
                                            {"client_tls", is_tls(input.client) ? "true" : "false"},
                                            {"folder", input.certificates.string()},
                                            {"server_name", std::string(kServerName)},
                                            {"listener_protocol", protocol_line(input)},
                                            {"cluster_protocol", protocol_line(input)},
                                            {"server", server_block(input)},
                                            {"certificates", certificates_block(input)}})}};
}

[[nodiscard]] std::vector<std::string> arguments(const PeerInput& input) {
  return {"run", "-c", (input.folder / "twp.yaml").string()};
}

}  // namespace

Peer titanium_peer() {
  return {.product = Product::titanium,
          .path_option = "--titanium-path",
          .programs = {"titanium"},
          .version_arguments = {"version"},
          .version_marker = "titanium ",
          .configure = configure,
          .arguments = arguments};
}

}  // namespace titanium::probe
