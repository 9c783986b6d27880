// SPDX-License-Identifier: MIT
#include "cli/log/access_log_line.h"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <nlohmann/json.hpp>
#include <string>

namespace titanium::cli {
namespace {

using namespace std::chrono_literals;

[[nodiscard]] std::string line_of(const proxy::ExchangeFinished& event) {
  std::array<char, kMaxAccessLogLineBytes> out;
  return {out.data(), write_access_log_line(event, out)};
}

[[nodiscard]] proxy::ExchangeFinished usual() {
  proxy::ExchangeFinished event;
  event.started = std::chrono::sys_days{std::chrono::January / 2 / 2026} + 3h + 4min + 5s + 6ms;
  event.duration = 1234us;
  event.client_ip = "192.0.2.1";
  event.method = "GET";
  event.scheme = "https";
  event.host = "example.com:8443";
  event.path = "/a?b=c";
  event.status = 200;
  event.request_body_bytes = 7;
  event.response_body_bytes = 56;
  event.origin = "127.0.0.1:9000";
  return event;
}

TEST(AccessLogLine, HasEveryFieldInAFixedOrder) {
  EXPECT_EQ(line_of(usual()),
            "{\"ts\":\"2026-01-02T03:04:05.006Z\",\"method\":\"GET\","
            "\"url\":\"https://example.com:8443/a?b=c\",\"host\":\"example.com:8443\","
            "\"status\":200,\"durationMs\":1.234,\"clientIp\":\"192.0.2.1\",\"requestBytes\":7,"
            "\"responseBytes\":56,\"origin\":\"127.0.0.1:9000\",\"error\":null}\n");
}

TEST(AccessLogLine, NamesTheErrorAndTheMissingOrigin) {
  const Error error{.code = Code::unavailable, .side = Side::origin, .what = "connection refused"};
  proxy::ExchangeFinished event = usual();
  event.origin = {};
  event.error = &error;
  const auto json = nlohmann::json::parse(line_of(event));
  EXPECT_TRUE(json["origin"].is_null());
  EXPECT_EQ(json["error"], "connection refused");
}

TEST(AccessLogLine, KeepsTargetsThatAreNoPathAsTheyAre) {
  proxy::ExchangeFinished event = usual();
  event.path = "*";
  EXPECT_EQ(nlohmann::json::parse(line_of(event))["url"], "*");
}

TEST(AccessLogLine, IsOneValidJsonLineWhateverAClientSends) {
  std::string all_bytes;
  for (int i = 0; i < 256; ++i) all_bytes += static_cast<char>(i);
  proxy::ExchangeFinished event = usual();
  const std::string path = "/" + all_bytes;
  event.method = event.host = event.client_ip = event.origin = all_bytes;
  event.path = path;
  const std::string line = line_of(event);
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  EXPECT_TRUE(nlohmann::json::accept(line));
}

TEST(AccessLogLine, CutsLongTextsAndStaysValid) {
  // The worst case: each byte becomes six.
  const std::string huge(100'000, '\x01');
  const std::string path = "/" + huge;
  const Error error{.what = huge};
  proxy::ExchangeFinished event = usual();
  event.method = event.host = event.client_ip = event.origin = event.scheme = huge;
  event.path = path;
  event.error = &error;
  const std::string line = line_of(event);
  EXPECT_LT(line.size(), kMaxAccessLogLineBytes);
  EXPECT_TRUE(nlohmann::json::accept(line));
  EXPECT_TRUE(line.ends_with("}\n"));
}

TEST(AccessLogLine, CutsAUrlAtItsLimitAndBetweenCharacters) {
  proxy::ExchangeFinished event = usual();
  event.scheme = "http";
  event.host = "h";
  std::string path = "/";
  while (path.size() < 2 * kMaxLoggedUrlBytes) path += "\xe2\x82\xac";
  event.path = path;
  const std::string line = line_of(event);
  ASSERT_TRUE(nlohmann::json::accept(line));
  const auto url = nlohmann::json::parse(line)["url"].get<std::string>();
  EXPECT_LE(url.size(), kMaxLoggedUrlBytes);
  EXPECT_GT(url.size(), kMaxLoggedUrlBytes - 4);
}

TEST(AccessLogLine, SurvivesAClockBeforeTheEpochAndANegativeDuration) {
  proxy::ExchangeFinished event = usual();
  event.started = std::chrono::system_clock::time_point(-1ms);
  event.duration = -5us;
  const auto json = nlohmann::json::parse(line_of(event));
  EXPECT_EQ(json["ts"], "1969-12-31T23:59:59.999Z");
  EXPECT_EQ(json["durationMs"], 0.0);
}

}  // namespace
}  // namespace titanium::cli
