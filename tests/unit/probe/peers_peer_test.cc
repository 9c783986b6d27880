// SPDX-License-Identifier: MIT
#include "peers/peer.h"

#include <gmock/gmock.h>

#include <array>

#include "cli/command_line.h"
#include "peers/template.h"
#include "run/certificates.h"
#include "run/child_process.h"
#include "run/scratch.h"

namespace titanium::probe {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Template, ReplacesKeysWhereverTheyAre) {
  EXPECT_EQ(fill_template("a @x@ b@y@@x@\n", {{"x", "1"}, {"y", "2"}}), "a 1 b21\n");
  EXPECT_EQ(fill_template("no key, one @ only\n", {}), "no key, one @ only\n");
}

TEST(Template, DropsALineOfWhichNothingIsLeft) {
  EXPECT_EQ(fill_template("a\n  @x@\n\nb\n", {{"x", ""}}), "a\n\nb\n");
}

TEST(FindVersion, TakesTheFirstWordThatLooksLikeOne) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"nginx version: nginx/1.26.3\nbuilt with OpenSSL 3.5.7", "1.26.3"},
      {"HAProxy version 3.0.11-1+deb13u4 2026/10/15 - https", "3.0.11-1+deb13u4"},
      {"nghttpx nghttp2/1.64.0", "1.64.0"},
      {"titanium 0.1.0\n", "0.1.0"},
      {"v2.6.2 h1:abc", "2.6.2"},
      {"Server version: Apache/2.4.62 (Debian)", "2.4.62"},
      {"varnishd (varnish-7.1.1 revision 7", "7.1.1"},
      {"h2o version 2.2.5", "2.2.5"},
      {"nothing 7 here", ""},
      {"", ""},
  };
  for (const auto& [text, version] : cases) EXPECT_EQ(find_version(text), version) << text;
}

TEST(Peers, AreAllProductsButControls) {
  for (const ProductRow& product : products()) {
    const Peer* peer = find_peer(product.id);
    EXPECT_EQ(peer == nullptr, product.control) << product.name;
    if (peer == nullptr) continue;
    EXPECT_EQ(peer->path_option, "--" + std::string(product.name) + "-path");
  }
}

TEST(Locate, TakesOnlyPrograms) {
  const Peer& nginx = *find_peer(Product::nginx);
  EXPECT_EQ(locate(nginx, "/bin/sh"), "/bin/sh");
  EXPECT_EQ(locate(nginx, "/etc/passwd"), "");
  EXPECT_EQ(locate(nginx, "/tmp"), "");
  EXPECT_EQ(locate(nginx, "/no/such"), "");
}

// Every configuration that an arm can ask for.
class Configurations : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(certificates_);
    ASSERT_TRUE(make_certificates(certificates_->path()));
  }

  template <typename Check>
  void for_each_input(Product product, Check check) {
    const Peer& peer = *find_peer(product);
    using Kind = Workload::Kind;
    constexpr std::array kWires = {Wire::http1, Wire::http1_tls, Wire::h2c, Wire::http2_tls};
    for (const Wire client : kWires) {
      for (const Wire origin : kWires) {
        for (const Kind kind : {Kind::request, Kind::websocket, Kind::grpc}) {
          if (!never_possible(product, client, origin, kind).empty()) continue;
          if (kind == Kind::grpc && !(is_http2(client) && is_http2(origin))) continue;
          auto folder = ScratchFolder::create();
          ASSERT_TRUE(folder);
          const PeerInput input{.client = client,
                                .origin = origin,
                                .port = 18'080,
                                .origin_port = 18'081,
                                .websocket = kind == Kind::websocket,
                                .grpc = kind == Kind::grpc,
                                .folder = folder->path(),
                                .certificates = certificates_->path(),
                                .pool_connections = 77,
                                .pool_given = true};
          for (const ConfigFile& file : peer.configure(input)) {
            ASSERT_TRUE(write_file(folder->path() / file.name, file.text));
          }
          check(peer, input);
        }
      }
    }
  }

  // Runs the product's own check, which ends with 0 if the configuration is good.
  void expect_accepted(Product product, std::vector<std::string> check_arguments) {
    const std::string program = locate(*find_peer(product), "");
    if (program.empty()) GTEST_SKIP() << product_row(product).name << " is not installed";
    for_each_input(product, [&](const Peer& peer, const PeerInput& input) {
      std::vector<std::string> command = {program};
      command.insert(command.end(), check_arguments.begin(), check_arguments.end());
      for (const std::string& argument : peer.arguments(input)) command.push_back(argument);
      auto child = ChildProcess::start({.command = command, .log_file = input.folder / "log"});
      ASSERT_TRUE(child) << child.error();
      (void)(*child)->wait_for_line("\n", std::chrono::seconds(20));
      EXPECT_EQ((*child)->ending(), "exit code 0") << (*child)->output();
      EXPECT_THAT((*child)->output(), Not(HasSubstr("warn"))) << "a setting that is not taken";
      EXPECT_THAT((*child)->output(), Not(HasSubstr("WARN")));
    });
  }

  std::expected<ScratchFolder, std::string> certificates_ = ScratchFolder::create();
};

TEST_F(Configurations, OfNginxAreAcceptedByIt) { expect_accepted(Product::nginx, {"-t"}); }

TEST_F(Configurations, OfHaproxyAreAcceptedByIt) { expect_accepted(Product::haproxy, {"-c"}); }

TEST_F(Configurations, OfTitaniumAreAcceptedByItEvenStrictly) {
  for_each_input(Product::titanium, [](const Peer& peer, const PeerInput& input) {
    const std::string file = peer.arguments(input).back();
    const char* const arguments[] = {"titanium", "test", "-c", file.c_str(), "--strict"};
    EXPECT_EQ(cli::run_command_line(5, arguments), 0) << read_file(file);
  });
}

TEST_F(Configurations, SayWhichVersionOfHttpIsSpoken) {
  struct Case {
    Product product;
    std::string client;
    std::string origin;
  };
  const Case cases[] = {
      {Product::titanium, "", "upstreamHttpProtocol: http2"},
      {Product::nginx, "http2 on;", "grpc_pass"},
      {Product::nghttpx, "alpn-list=h2", "proto=h2"},
      {Product::caddy, "protocols h1 h2", ""},
      {Product::yarp, "\"Http2\"", "\"Version\": \"2\""},
      {Product::envoy, "codec_type: HTTP2", "explicit_http_config"},
  };
  for (const Case& c : cases) {
    for_each_input(c.product, [&](const Peer& peer, const PeerInput& input) {
      const std::string text = peer.configure(input).front().text;
      const std::string product(product_row(c.product).name);
      if (!c.client.empty()) {
        EXPECT_EQ(text.contains(c.client), is_http2(input.client)) << product << "\n" << text;
      }
      if (!c.origin.empty()) {
        EXPECT_EQ(text.contains(c.origin), is_http2(input.origin)) << product << "\n" << text;
      }
    });
  }
}

// What makes the comparison fair, as far as a text can show it.
TEST_F(Configurations, OfAllProductsNameTheSamePortsAndCertificates) {
  for (const Peer& known : peers()) {
    if (known.product == Product::varnish) continue;  // Has no TLS, and its port is an argument.
    for_each_input(known.product, [](const Peer& peer, const PeerInput& input) {
      const std::string text = peer.configure(input).front().text;
      const std::string product(product_row(peer.product).name);
      EXPECT_THAT(text, HasSubstr("18080")) << product;
      EXPECT_THAT(text, HasSubstr("18081")) << product;
      EXPECT_EQ(text.contains("/leaf"), is_tls(input.client)) << product << "\n" << text;
      const bool verifies = is_tls(input.origin) && peer.product != Product::yarp;
      EXPECT_EQ(text.contains("/root.pem"), verifies) << product << "\n" << text;
    });
  }
}

TEST_F(Configurations, HaveTheSizeOfThePool) {
  const std::pair<Product, std::string> cases[] = {
      {Product::titanium, "maxCachedConnections: 77"},
      {Product::nginx, "keepalive 77;"},
      {Product::haproxy, "pool-max-conn 154"},  // Of two workers together.
      {Product::caddy, "keepalive_idle_conns_per_host 154"},
      {Product::apache, "smax=77"},
  };
  for (const auto& [product, expected] : cases) {
    for_each_input(product, [&](const Peer& peer, const PeerInput& input) {
      EXPECT_THAT(peer.configure(input).front().text, HasSubstr(expected));
    });
  }
}

}  // namespace
}  // namespace titanium::probe
