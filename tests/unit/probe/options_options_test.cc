// SPDX-License-Identifier: MIT
#include "options.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <initializer_list>

namespace titanium::probe {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

[[nodiscard]] std::expected<Options, EarlyExit> read(std::initializer_list<const char*> words) {
  std::vector<const char*> argv = {"rps-load-probe"};
  argv.insert(argv.end(), words.begin(), words.end());
  return read_options(static_cast<int>(argv.size()), argv.data());
}

TEST(Options, HaveDefaults) {
  const auto options = read({"--mode", "compare"});
  ASSERT_TRUE(options) << options.error().text;
  EXPECT_EQ(options->command, Options::Command::ramp);
  EXPECT_EQ(options->ramp.mode, "compare");
  EXPECT_THAT(options->ramp.concurrency, ElementsAre(8, 16, 32, 64));
  EXPECT_EQ(options->ramp.warm_up, std::chrono::seconds(2));
  EXPECT_EQ(options->ramp.duration, std::chrono::seconds(8));
  EXPECT_EQ(options->ramp.repeats, 1U);
  EXPECT_TRUE(options->ramp.stop_on_slo_fail);
  EXPECT_FALSE(options->ramp.load.any());
}

TEST(Options, OfARampAreTaken) {
  const auto options = read({"--ramp",
                             "--mode",
                             "x",
                             "--concurrency",
                             "2,4",
                             "--warmup-sec",
                             "0.1",
                             "--duration-sec",
                             "0.25",
                             "--repeats",
                             "3",
                             "--no-stop-on-slo-fail",
                             "--arm-shard",
                             "1/2",
                             "--arm-contains",
                             "a,b$",
                             "--results-dir",
                             "r",
                             "--rate",
                             "1000",
                             "--max-cached-connections",
                             "32"});
  ASSERT_TRUE(options) << options.error().text;
  const RampOptions& ramp = options->ramp;
  EXPECT_THAT(ramp.concurrency, ElementsAre(2, 4));
  EXPECT_EQ(ramp.warm_up, std::chrono::milliseconds(100));
  EXPECT_EQ(ramp.duration, std::chrono::milliseconds(250));
  EXPECT_EQ(ramp.repeats, 3U);
  EXPECT_FALSE(ramp.stop_on_slo_fail);
  EXPECT_EQ(ramp.arm_shard, "1/2");
  EXPECT_EQ(ramp.arm_contains, "a,b$");
  EXPECT_EQ(ramp.results_dir, "r");
  EXPECT_EQ(ramp.rate, 1000);
  EXPECT_EQ(ramp.max_cached_connections, 32U);
}

TEST(Options, OfTheLoadAreTaken) {
  const auto options = read({"--mode",
                             "x",
                             "--method",
                             "POST",
                             "--request-bytes",
                             "10",
                             "--response-bytes",
                             "20",
                             "--no-keepalive",
                             "--delay-ms",
                             "3",
                             "--loss-percent",
                             "0.5",
                             "--early-response-after",
                             "5",
                             "--client-read-chunk",
                             "100",
                             "--client-read-sleep-ms",
                             "8",
                             "--websocket"});
  ASSERT_TRUE(options) << options.error().text;
  const LoadOverrides& load = options->ramp.load;
  EXPECT_EQ(load.request_bytes, 10U);
  EXPECT_EQ(load.response_bytes, 20U);
  EXPECT_TRUE(load.no_keepalive);
  EXPECT_EQ(load.delay_ms, 3U);
  EXPECT_EQ(load.loss_percent, 0.5);
  EXPECT_EQ(load.early_response_after, 5U);
  EXPECT_EQ(load.read_chunk_bytes, 100U);
  EXPECT_EQ(load.read_pause_ms, 8U);
  EXPECT_TRUE(load.websocket);
  EXPECT_TRUE(load.any());
}

TEST(Options, OfHttp2AreTaken) {
  const auto grpc = read({"--mode", "x", "--grpc", "--streams-per-connection", "3"});
  ASSERT_TRUE(grpc) << grpc.error().text;
  EXPECT_TRUE(grpc->ramp.load.grpc);
  EXPECT_TRUE(grpc->ramp.load.any());
  EXPECT_EQ(grpc->ramp.streams_per_connection, 3U);
  EXPECT_EQ(read({"--mode", "x"})->ramp.streams_per_connection, 8U);
  setenv("TWP_RPS_SINGLE_HTTP2_CONNECTION", "1", 1);
  const auto single = read({"--mode", "x"});
  unsetenv("TWP_RPS_SINGLE_HTTP2_CONNECTION");
  ASSERT_TRUE(single);
  EXPECT_EQ(single->ramp.streams_per_connection, 4000U);

  const auto origin = read({"--serve-origin", "--h2c", "--https-protocols", "http1"});
  ASSERT_TRUE(origin) << origin.error().text;
  EXPECT_TRUE(origin->origin.h2c);
  EXPECT_FALSE(origin->origin.https_http2);
  EXPECT_FALSE(read({"--serve-origin"})->origin.h2c);
  EXPECT_TRUE(read({"--serve-origin"})->origin.https_http2);
}

TEST(Options, NamePrograms) {
  const auto options = read({"--mode", "x", "--nginx-path", "/a", "--titanium-path", "/b"});
  ASSERT_TRUE(options) << options.error().text;
  EXPECT_EQ(options->ramp.program_paths.at(Product::nginx), "/a");
  EXPECT_EQ(options->ramp.program_paths.at(Product::titanium), "/b");
}

TEST(Options, ComeFromTheEnvironmentToo) {
  setenv("RPS_MODE", "compare-spot", 1);
  setenv("RPS_REPEATS", "5", 1);
  const auto options = read({});
  unsetenv("RPS_MODE");
  unsetenv("RPS_REPEATS");
  ASSERT_TRUE(options) << options.error().text;
  EXPECT_EQ(options->ramp.mode, "compare-spot");
  EXPECT_EQ(options->ramp.repeats, 5U);
}

TEST(Options, OfChildrenFindTheirCertificates) {
  setenv("TWP_RPS_CERT_DIR", "/certs", 1);
  const auto origin = read({"--serve-origin", "--https", "--origin-http-port", "81"});
  const auto proxy = read({"--serve-proxy", "--control", "reverse-http1", "--https", "--port", "80",
                           "--origin-http-port", "81"});
  const auto clear = read({"--serve-proxy", "--origin-http-port", "81"});
  const auto shim =
      read({"--serve-shim", "--target-port", "82", "--delay-ms", "5", "--loss-percent", "1"});
  unsetenv("TWP_RPS_CERT_DIR");
  ASSERT_TRUE(origin && proxy && clear && shim);
  EXPECT_EQ(origin->command, Options::Command::serve_origin);
  EXPECT_TRUE(origin->origin.https);
  EXPECT_EQ(origin->origin.http_port, 81);
  EXPECT_EQ(origin->origin.certificate_file, "/certs/leaf.pem");
  EXPECT_EQ(origin->origin.key_file, "/certs/leaf.key");
  EXPECT_EQ(proxy->command, Options::Command::serve_control);
  EXPECT_EQ(proxy->control.kind, ControlOptions::Kind::reverse_http1);
  EXPECT_EQ(proxy->control.port, 80);
  EXPECT_EQ(proxy->control.origin_port, 81);
  EXPECT_EQ(proxy->control.certificate_file, "/certs/leaf.pem");
  EXPECT_EQ(clear->control.kind, ControlOptions::Kind::relay);
  EXPECT_EQ(clear->control.certificate_file, "");
  EXPECT_EQ(shim->command, Options::Command::serve_shim);
  EXPECT_EQ(shim->shim.target_port, 82);
  EXPECT_EQ(shim->shim.delay_ms, 5U);
  EXPECT_EQ(shim->shim.stall_percent, 1);
}

TEST(Options, OfReportAndGates) {
  const auto report = read({"report", "a.csv", "b.csv", "--markdown", "m", "--svg", "s"});
  ASSERT_TRUE(report) << report.error().text;
  EXPECT_EQ(report->command, Options::Command::report);
  EXPECT_THAT(report->report.files, ElementsAre("a.csv", "b.csv"));
  EXPECT_EQ(report->report.markdown_file, "m");
  EXPECT_EQ(report->report.svg_file, "s");
  const auto gates = read({"gates", "a.csv"});
  ASSERT_TRUE(gates) << gates.error().text;
  EXPECT_EQ(gates->command, Options::Command::gates);
  EXPECT_THAT(gates->gate_files, ElementsAre("a.csv"));
}

// Each error names the flag, and what it could have been where that is not plain.
TEST(Options, ThatAreWrongAreNamed) {
  struct Case {
    std::vector<const char*> words;
    std::vector<std::string> expected;
  };
  const Case cases[] = {
      {{"--concurrency", "0"}, {"--concurrency", "1"}},
      {{"--concurrency", "8,x"}, {"--concurrency", "x"}},
      {{"--concurrency", "4001"}, {"--concurrency", "4000"}},
      {{"--duration-sec", "0"}, {"--duration-sec", "0.01"}},
      {{"--duration-sec", "-1"}, {"--duration-sec"}},
      {{"--warmup-sec", "soon"}, {"--warmup-sec", "soon"}},
      {{"--repeats", "0"}, {"--repeats"}},
      {{"--method", "PUT"}, {"--method", "GET", "POST"}},
      {{"--method", "POST"}, {"--method", "--request-bytes"}},
      {{"--method", "GET", "--request-bytes", "5"}, {"--request-bytes", "--method POST"}},
      {{"--client-read-chunk", "5"}, {"--client-read-chunk", "--client-read-sleep-ms"}},
      {{"--streams-per-connection", "0"}, {"--streams-per-connection"}},
      {{"--https-protocols", "http3"}, {"--https-protocols", "http1and2"}},
      {{"--websocket", "--grpc"}, {"--websocket", "--grpc"}},
      {{"--loss-percent", "101"}, {"--loss-percent", "100"}},
      {{"--durations-sec", "1"}, {"--durations-sec", "did you mean '--duration-sec'?"}},
      {{"repor"}, {"repor", "did you mean 'report'?"}},
      {{"--serve-proxy", "--control", "squid"}, {"--control", "relay", "reverse-http1"}},
      {{"--print-arms", "--print-groups"}, {"--print-arms", "--print-groups"}},
      {{"report"}, {"files"}},
      {{"--port", "70000"}, {"--port", "65535"}},
  };
  for (const Case& c : cases) {
    std::vector<const char*> argv = {"rps-load-probe"};
    argv.insert(argv.end(), c.words.begin(), c.words.end());
    const auto options = read_options(static_cast<int>(argv.size()), argv.data());
    ASSERT_FALSE(options) << testing::PrintToString(c.words);
    EXPECT_EQ(options.error().code, kExitUsage);
    for (const std::string& text : c.expected) {
      EXPECT_THAT(options.error().text, HasSubstr(text)) << testing::PrintToString(c.words);
    }
  }
}

TEST(Options, HelpIsNoError) {
  for (const auto& words : {std::vector<const char*>{"--help"}, {"report", "--help"}}) {
    std::vector<const char*> argv = {"rps-load-probe"};
    argv.insert(argv.end(), words.begin(), words.end());
    const auto options = read_options(static_cast<int>(argv.size()), argv.data());
    ASSERT_FALSE(options);
    EXPECT_EQ(options.error().code, kExitClean);
    EXPECT_THAT(options.error().text, HasSubstr("rps-load-probe"));
  }
}

}  // namespace
}  // namespace titanium::probe
