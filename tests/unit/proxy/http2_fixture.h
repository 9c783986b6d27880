// SPDX-License-Identifier: MIT
//
// Clients and origins of HTTP/2 that tests play frame by frame against a worker.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "unit/http2/support/frames.h"
#include "unit/proxy/proxy_fixture.h"

namespace titanium::proxy::testing {

using SettingsList = std::initializer_list<std::pair<std::uint16_t, std::uint32_t>>;

inline constexpr std::uint16_t kInitialWindow =
    std::to_underlying(http2::SettingId::initial_window_size);
inline constexpr std::uint16_t kExtendedConnect =
    std::to_underlying(http2::SettingId::enable_connect_protocol);
inline constexpr std::uint32_t kWideWindow = 1U << 30;

// One end of a connection. Nothing is answered that the test does not answer.
class Http2Peer {
 public:
  // `preface`: it comes before the first frame.
  Http2Peer(std::unique_ptr<Peer> socket, bool preface)
      : socket_(std::move(socket)), awaits_preface_(preface) {}

  void send(std::string_view frames) { socket_->send(frames); }
  // Takes in what has arrived.
  void read() { take_in(socket_->receive()); }
  // The same for `most` bytes: a slow reader. Returns how many it were.
  std::size_t read_some(std::size_t most);
  // A line for each frame so far ("DATA 1 END hello"), as FrameReader writes them.
  [[nodiscard]] const std::vector<std::string>& seen() const { return seen_; }
  // Those of one stream.
  [[nodiscard]] std::vector<std::string> seen_of(std::uint32_t stream) const;
  [[nodiscard]] Peer& socket() { return *socket_; }
  // The first frame that was not taken before and whose line begins with `begin`, if it is here.
  [[nodiscard]] const std::string* take(std::string_view begin);

 private:
  void take_in(std::string_view bytes);

  std::unique_ptr<Peer> socket_;
  bool awaits_preface_;
  std::string raw_;
  http2::test::FrameReader reader_;
  std::vector<std::string> seen_;
  std::vector<bool> taken_;  // For each of seen_.
};

// The origin speaks HTTP/2 unless a test says something else.
class Http2ProxyTest : public ProxyTest {
 protected:
  Http2ProxyTest() { options().endpoints[0].protocol = OriginProtocol::http2; }

  // A client after its preface, and after the proxy's SETTINGS.
  std::unique_ptr<Http2Peer> connect_http2(SettingsList settings = {}, int receive_buffer = 0);
  // The next connection of the proxy, after both sides' SETTINGS.
  std::unique_ptr<Http2Peer> accept_http2(SettingsList settings = {}, std::size_t endpoint = 0);
  // Waits for the next frame whose line begins with `begin`, and returns the line.
  std::string wait_for(Http2Peer& peer, std::string_view begin);
};

// An extended CONNECT for a WebSocket.
std::string websocket(std::uint32_t stream, std::uint8_t more_flags = 0);
// A response head.
std::string respond(std::uint32_t stream, std::string_view status, std::uint8_t more_flags = 0,
                    const http2::test::Lines& more = {});
// As many DATA frames as `bytes` need.
std::string zeros(std::uint32_t stream, std::size_t bytes, std::uint8_t last_flags = 0);

}  // namespace titanium::proxy::testing
