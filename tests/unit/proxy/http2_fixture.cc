// SPDX-License-Identifier: MIT
#include "unit/proxy/http2_fixture.h"

#include <algorithm>

namespace titanium::proxy::testing {

namespace frames = http2::test;

std::size_t Http2Peer::read_some(std::size_t most) {
  const std::string some = socket_->receive_some(most);
  take_in(some);
  return some.size();
}

void Http2Peer::take_in(std::string_view bytes) {
  raw_ += bytes;
  if (awaits_preface_) {
    if (raw_.size() < http2::kPreface.size()) return;
    EXPECT_EQ(raw_.substr(0, http2::kPreface.size()), http2::kPreface);
    raw_.erase(0, http2::kPreface.size());
    awaits_preface_ = false;
  }
  auto lines = reader_.read(raw_);
  raw_.clear();
  std::ranges::move(lines, std::back_inserter(seen_));
}

std::vector<std::string> Http2Peer::seen_of(std::uint32_t stream) const {
  const std::string id = std::to_string(stream);
  std::vector<std::string> lines;
  for (const std::string& line : seen_) {
    if (line.starts_with("SETTINGS") || line.starts_with("PING") || line.starts_with("GOAWAY")) {
      continue;
    }
    const std::size_t begin = line.find(' ') + 1;
    if (line.substr(begin, line.find(' ', begin) - begin) == id) lines.push_back(line);
  }
  return lines;
}

const std::string* Http2Peer::take(std::string_view begin) {
  taken_.resize(seen_.size());
  for (std::size_t at = 0; at < seen_.size(); ++at) {
    if (taken_[at] || !seen_[at].starts_with(begin)) continue;
    taken_[at] = true;
    return &seen_[at];
  }
  return nullptr;
}

std::unique_ptr<Http2Peer> Http2ProxyTest::connect_http2(SettingsList settings,
                                                         int receive_buffer) {
  auto client = std::make_unique<Http2Peer>(connect_client(receive_buffer), /*preface=*/false);
  client->send(std::string(http2::kPreface) + frames::settings(settings));
  wait_for(*client, "SETTINGS ");
  wait_for(*client, "SETTINGS ACK");
  client->send(frames::settings_ack());
  return client;
}

std::unique_ptr<Http2Peer> Http2ProxyTest::accept_http2(SettingsList settings,
                                                        std::size_t endpoint) {
  auto origin = std::make_unique<Http2Peer>(accept_origin(endpoint), /*preface=*/true);
  origin->send(frames::settings(settings));
  wait_for(*origin, "SETTINGS ACK");
  origin->send(frames::settings_ack());
  return origin;
}

std::string Http2ProxyTest::wait_for(Http2Peer& peer, std::string_view begin) {
  const std::string* line = nullptr;
  pump_until([&] {
    peer.read();
    line = peer.take(begin);
    return line != nullptr || peer.socket().ended() || peer.socket().was_reset();
  });
  if (line != nullptr) return *line;
  std::string all;
  for (const std::string& seen : peer.seen()) all += "\n" + seen.substr(0, 100);
  ADD_FAILURE() << "no frame like " << begin << " came, but only" << all;
  return {};
}

std::string websocket(std::uint32_t stream, std::uint8_t more_flags) {
  frames::Lines lines = frames::get_lines("/ws");
  lines[0].second = "CONNECT";
  lines.emplace_back(":protocol", "websocket");
  lines.emplace_back("sec-websocket-version", "13");
  return frames::headers(stream, lines, static_cast<std::uint8_t>(frames::kWhole | more_flags));
}

std::string respond(std::uint32_t stream, std::string_view status, std::uint8_t more_flags,
                    const frames::Lines& more) {
  frames::Lines lines = {{":status", std::string(status)}};
  lines.insert(lines.end(), more.begin(), more.end());
  return frames::headers(stream, lines, static_cast<std::uint8_t>(frames::kWhole | more_flags));
}

std::string zeros(std::uint32_t stream, std::size_t bytes, std::uint8_t last_flags) {
  std::string out;
  for (std::size_t left = bytes; left > 0;) {
    const std::size_t part = std::min<std::size_t>(left, http2::kDefaultFrameBytes);
    left -= part;
    out += frames::data(stream, std::string(part, '\0'), left == 0 ? last_flags : std::uint8_t{});
  }
  return out;
}

}  // namespace titanium::proxy::testing
