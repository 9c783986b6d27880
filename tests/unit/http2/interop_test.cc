// SPDX-License-Identifier: MIT
//
// Thousands of streams with bodies both ways: our two roles with each other, and each with nghttp2.
#include <random>

#include "unit/http2/support/endpoints.h"

namespace titanium::http2 {
namespace {

using namespace test;

struct Load {
  std::size_t requests = 1500;
  std::size_t most_bytes = 60'000;
};

// Mostly small bodies, and some that are larger than a window.
std::size_t random_size(std::mt19937& random, std::size_t most) {
  switch (random() % 4) {
    case 0:
      return 0;
    case 1:
      return random() % most;
    default:
      return random() % 500;
  }
}

void exchange(EchoingClient& client, Endpoint& server, Load load = {}) {
  std::mt19937 random(7);
  std::size_t opened = 0;
  for (std::size_t idle = 0; idle < 3;) {
    for (std::size_t more = random() % 8; more > 0 && opened < load.requests; --more) {
      if (!client.can_open()) break;
      client.open(opened++, random_size(random, load.most_bytes), random() % 4 == 0);
    }
    const std::string there = client.say();
    server.hear(there);
    const std::string back = server.say();
    client.hear(back);
    idle = there.empty() && back.empty() && opened == load.requests ? idle + 1 : 0;
  }
  EXPECT_EQ(client.tally.answered, load.requests);
  EXPECT_EQ(client.tally.wrong, 0U);
  EXPECT_EQ(client.tally.failed, 0U);
}

const Options kSmallWindows{.concurrent_streams = 10,
                            .stream_window_bytes = 5'000,
                            .connection_window_bytes = 20'000,
                            .window_updates = 1'000'000};

TEST(Interop, OurClientWithOurServer) {
  OurServer server;
  OurClient client;
  exchange(client, server);
}

TEST(Interop, OurClientWithOurServerAndSmallWindows) {
  OurServer server(kSmallWindows);
  OurClient client(kSmallWindows);
  exchange(client, server, {.requests = 500});
}

TEST(Interop, OurClientWithNghttp2) {
  NgServer server({{NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, 50}});
  OurClient client;
  exchange(client, server);
}

TEST(Interop, OurClientWithNghttp2AndSmallWindows) {
  NgServer server({{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 3'000},
                   {NGHTTP2_SETTINGS_HEADER_TABLE_SIZE, 100},
                   {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, 7}});
  OurClient client(kSmallWindows);
  exchange(client, server, {.requests = 500});
}

TEST(Interop, Nghttp2WithOurServer) {
  OurServer server;
  NgClient client;
  exchange(client, server);
}

TEST(Interop, Nghttp2WithOurServerAndSmallWindows) {
  OurServer server(kSmallWindows);
  NgClient client({{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 2'000},
                   {NGHTTP2_SETTINGS_HEADER_TABLE_SIZE, 0},
                   {NGHTTP2_SETTINGS_MAX_FRAME_SIZE, 100'000}});
  exchange(client, server, {.requests = 500});
}

}  // namespace
}  // namespace titanium::http2
