// SPDX-License-Identifier: MIT
//
// Properties of a server's connection next to one of nghttp2 that hears the same: either both end
// the connection or none, both accept the same requests with the same fields, bodies and trailers,
// and both reset the same streams. differences.h lists where they may differ, and why; whoever
// differs so is left out of the comparison from then on. Also: a body arrives once and in order, no
// window is larger than allowed, and none stays shut without a reason.
#include <cstdio>

#include "base/ascii.h"
#include "differential/client.h"
#include "differential/differences.h"
#include "differential/servers.h"

namespace titanium::fuzz {
namespace {

using http2::ErrorCode;
using http2::test::u32;
namespace flag = http2::flag;

// Several cookie lines become one (RFC 9113 §8.2.3), as our heads have it.
Lines with_one_cookie(const Lines& lines) {
  Lines out;
  std::optional<std::size_t> cookie;
  for (const auto& line : lines) {
    if (line.first != "cookie" || !cookie) {
      if (line.first == "cookie") cookie = out.size();
      out.push_back(line);
    } else {
      out[*cookie].second += "; " + line.second;
    }
  }
  return out;
}

// nghttp2's lines of a request as our RequestHead shows them.
Lines as_our_head(const Lines& lines) {
  const auto find = [&](std::string_view name) -> const std::string* {
    const auto line = std::ranges::find(lines, name, &Lines::value_type::first);
    return line == lines.end() ? nullptr : &line->second;
  };
  const auto text = [&](std::string_view name) {
    const std::string* value = find(name);
    return value == nullptr ? std::string() : *value;
  };
  const bool is_upgrade = find(":protocol") != nullptr;
  const bool is_tunnel = text(":method") == "CONNECT" && !is_upgrade;
  Lines out = {{":method", is_upgrade ? "GET" : text(":method")},
               {":scheme", is_tunnel ? "http" : lower_case(text(":scheme"))},
               {":authority", find(":authority") != nullptr ? text(":authority") : text("host")},
               {":path", text(":path")},
               {":protocol", text(":protocol")}};
  for (const auto& line : with_one_cookie(lines)) {
    if (!line.first.starts_with(':')) out.push_back(line);
  }
  return out;
}

class Comparison {
 public:
  Comparison(const std::uint8_t* data, std::size_t size) : script_(data, size) {}

  void run() {
    for (Server* server : servers()) server->hear(http2::kPreface, piece_);
    const std::uint8_t first = script_.number();
    if (first % 32 != 31) say(FrameType::settings, 0, 0, first % 2 == 0 ? "" : settings());
    while (!script_.empty() && !is_over_) act();
  }

 private:
  [[nodiscard]] std::array<Server*, 2> servers() { return {&ours_, &theirs_}; }

  void act() {
    const std::uint8_t what = script_.number();
    if (client_.block_is_open() && what % 8 != 7) return say_continuation(what);
    switch (what % 16) {
      case 0:
      case 1:
      case 2:
        return say_request(what);
      case 3:
      case 4:
      case 5:
        return say_data();
      case 6:
        return say_trailers();
      case 7:
        return say_anything();
      case 8:
        return say(FrameType::window_update, 0, what < 64 ? 0 : pick(), u32(increment()));
      case 9:
        return say(FrameType::rst_stream, 0, pick(), u32(script_.number() % 16));
      case 10:
        return what < 128 ? say(FrameType::settings, flag::kAck, 0, "")
                          : say(FrameType::settings, 0, 0, settings());
      case 11:
        return say_small(what / 16);
      case 12:
      case 13:
        return answer();
      case 14:
        return say_block();
      default:
        return command(what / 16);
    }
  }

  // ---- What the client says.

  // Of a stream that was used, the newest first; now and then of another.
  std::uint32_t pick() {
    const std::uint8_t which = script_.number();
    if (which >= 240) return which - 240U;
    if (client_.said.empty()) return 1;
    auto at = client_.said.rbegin();
    std::advance(at, which % std::min<std::size_t>(client_.said.size(), 8));
    return at->first;
  }
  std::uint32_t increment() {
    const std::uint8_t size = script_.number();
    if (size < 200) return size * 16U;
    return size < 240 ? 1U << (size % 32) : 0x7fff'ffffU - size % 2;
  }
  std::string settings() {
    std::string payload;
    for (std::uint8_t count = script_.number() % 4; count > 0; --count) {
      const std::uint8_t id = script_.number();
      payload += {'\0', static_cast<char>(id % 12)};
      const std::uint8_t kind = script_.number();
      payload += u32(id < 64 ? script_.number32() : kind < 128 ? kind % 3 : kind * 100U);
    }
    return payload;
  }

  void say_request(std::uint8_t what) {
    test::FieldLines lines = request_lines(script_);
    if (what >= 64) change_lines(script_, lines);
    const std::uint8_t how = script_.number();
    const std::uint32_t id =
        client_.last_id + (client_.last_id == 0 ? 1 : 2) + (how >= 224 ? 4 : 0);
    say_headers(id, client_.encode(lines), how);
  }
  void say_trailers() {
    test::FieldLines lines = {{"x-sum", "1"}};
    change_lines(script_, lines);
    const std::uint8_t how = script_.number();
    const std::uint32_t id = pick();
    if (!is_out(id)) say_headers(id, client_.encode(lines), how | (how < 192 ? 1 : 0));
  }
  void say_block() {
    const std::uint8_t how = script_.number();
    const std::uint32_t id = how % 64 < 32 ? client_.last_id + 2 - client_.last_id % 2 : pick();
    say_headers(id | 1, script_.take(script_.number() % 64), how);
  }
  // `how`: END_STREAM, padding, priority, and where the block is cut.
  void say_headers(std::uint32_t id, std::string_view block, std::uint8_t how) {
    std::uint8_t flags = how & 1 ? flag::kEndStream : 0;
    std::string payload;
    std::uint8_t padding = 0;
    if (how & 2) {
      flags |= flag::kPadded;
      padding = script_.number();
      payload += static_cast<char>(padding);
    }
    if (how & 4) {
      flags |= flag::kPriority;
      payload += u32(how & 16 ? id : 0) + "\x10";
    }
    std::size_t cut = std::string_view::npos;
    if (how & 8) cut = script_.number() % 64;
    const std::string_view part = block.substr(0, cut);
    payload += part;
    payload.append(padding, '\0');
    pending_ = block.substr(part.size());
    if (!(how & 8)) flags |= flag::kEndHeaders;
    say(FrameType::headers, flags, id, payload);
    open_id_ = id;
  }
  void say_continuation(std::uint8_t what) {
    const std::string part = pending_.substr(0, what < 128 ? pending_.size() : what % 16);
    pending_.erase(0, part.size());
    say(FrameType::continuation, what < 192 && pending_.empty() ? flag::kEndHeaders : 0, open_id_,
        part);
  }
  void say_data() {
    const std::uint8_t how = script_.number();
    const std::uint32_t id = pick();
    std::int64_t bytes = how & 2 ? script_.number() * 16 : script_.number();
    const std::uint8_t padding = how & 4 ? script_.number() : 0;
    const std::int64_t overhead = how & 4 ? padding + 1 : 0;
    const std::array windows = {ours_.window, theirs_.window, ours_.exchanges[id].window,
                                theirs_.exchanges[id].window};
    // Within all windows, or beyond both of the stream.
    if (how & 64 && how & 128) {
      bytes = std::max(windows[2], windows[3]) + 1;
    } else {
      bytes = std::min(bytes, std::ranges::min(windows) - overhead);
    }
    if (bytes < 0 || bytes + overhead > std::min(windows[0], windows[1]) || bytes > 16'000) return;
    std::string payload;
    if (how & 4) payload += static_cast<char>(padding);
    for (std::int64_t at = 0; at < bytes; ++at) payload += static_cast<char>(next_byte_++ % 251);
    payload.append(padding, '\0');
    const int flags = (how & 1 ? flag::kEndStream : 0) | (how & 4 ? flag::kPadded : 0);
    say(FrameType::data, static_cast<std::uint8_t>(flags), id, payload);
  }
  void say_small(std::uint8_t which) {
    switch (which % 8) {
      case 0:
        return say(FrameType::ping, script_.number() & 1, 0, "12345678");
      case 1:
        return say(FrameType::goaway, 0, 0, u32(script_.number() % 4) + u32(0));
      case 2:
        return say(FrameType::priority, 0, pick(), u32(pick()) + "\x10");
      case 3:
        return say(FrameType::priority_update, 0, 0, u32(pick()) + "u=1");
      case 4:
        return say(script_.number(), script_.number(), pick(), script_.take(script_.number() % 16));
      case 5:
        return say(FrameType::data, 0, pick(), "");
      case 6:
        return say(FrameType::rst_stream, 0, pick(), script_.take(script_.number() % 8));
      default:
        return say(FrameType::window_update, 0, pick(), script_.take(script_.number() % 8));
    }
  }
  // Any frame, also such that are too large.
  void say_anything() {
    const std::uint8_t type = script_.number();
    const std::uint8_t flags = script_.number();
    const std::uint32_t id = pick();
    const std::uint8_t size = script_.number();
    if (size == 255) return say(type, flags, id, std::string(16'385, '\0'));
    say(type, flags, id, script_.take(size % 64));
  }

  // ---- What the owner does.

  void answer() {
    const std::uint32_t id = pick();
    const std::uint8_t size = script_.number();
    const bool is_large = script_.number() % 4 == 0;
    if (!is_live(id) || ours_.exchanges[id].answered) return;
    for (Server* server : servers()) {
      server->exchanges[id].answered = true;
      server->answer(id, {.bytes = is_large ? size * 512U : size, .has_trailers = size % 4 == 3});
    }
    settle();
  }
  void command(std::uint8_t which) {
    switch (which % 8) {
      case 0: {
        const std::uint32_t id = pick();
        if (!is_live(id)) return;
        for (Server* server : servers()) server->abort(id);
        break;
      }
      case 1:
        holds_ = true;
        return;
      case 2:
        piece_ = 1 + script_.number();
        return;
      case 3:
        ours_.wait(std::chrono::milliseconds(script_.number() % 4));
        return;
      case 4:
        // Within a block: nghttp2 has opened its stream already, and we have not.
        if (script_.number() % 4 != 0 || client_.block_is_open()) return;
        for (Server* server : servers()) server->drain();
        is_drained_ = true;
        break;
      default:
        holds_ = false;
    }
    settle();
  }
  [[nodiscard]] bool is_live(std::uint32_t id) {
    if (is_out(id) || !client_.said.contains(id) || client_.block_is_open()) return false;
    const Exchange& ours = ours_.exchanges[id];
    const Exchange& theirs = theirs_.exchanges[id];
    return ours.accepted && theirs.accepted && !ours.closed && !theirs.closed;
  }
  [[nodiscard]] bool is_out(std::uint32_t id) const {
    const auto said = client_.said.find(id & 0x7fff'ffff);
    return said != client_.said.end() && said->second.is_over;
  }

  // ---- The comparison.

  void say(FrameType type, std::uint8_t flags, std::uint32_t id, std::string_view payload) {
    say(std::to_underlying(type), flags, id, payload);
  }
  void say(std::uint8_t type, std::uint8_t flags, std::uint32_t id, std::string_view payload) {
    if (is_out(id)) return;
    our_streams_ = ours_.stream_count();
    their_streams_ = theirs_.stream_count();
    const Step step = client_.step(type, flags, id, payload);
    id = step.header.stream_id;
    for (Server* server : servers()) {
      if (is_type(step, FrameType::data)) server->take_window(id, payload.size());
      if (is_type(step, FrameType::headers) && step.is_new) server->open(id);
      const bool is_ack = is_type(step, FrameType::settings) && step.header.has(flag::kAck);
      if (is_ack && client_.acknowledged == 1 && payload.empty() && id == 0) {
        server->on_settings_acknowledged();
      }
      server->hear(step.bytes, piece_);
    }
    settle();
    judge(step);
  }
  void settle() {
    for (Server* server : servers()) {
      server->flush();
      if (holds_) continue;
      server->pass_on_all();
      server->flush();
    }
    if (!client_.block_is_open()) ours_.check();
    if (theirs_.is_done()) is_over_ = true;
  }

  void judge(const Step& step) {
    const bool ours_failed = ours_.failure.has_value();
    const bool theirs_failed = theirs_.failure.has_value();
    if (ours_failed || theirs_failed) is_over_ = true;
    if (ours_failed && theirs_failed) return;
    const std::uint32_t id = step.header.stream_id;
    if (client_.block_is_open() && theirs_failed) return require_bad_block(step);
    if (ours_failed) return explain(kOnlyOursFails, step, id, "only ours ended the connection");
    if (theirs_failed) return explain(kOnlyTheirsFails, step, id, "only nghttp2 ended it");
    if (client_.block_is_open()) return;
    for (auto& [stream, said] : client_.said) {
      if (!said.is_over) compare(step, stream, said);
    }
  }
  // nghttp2 decodes while a block arrives; we do when it is complete.
  void require_bad_block(const Step& step) {
    const std::string rest =
        http2::test::frame(FrameType::continuation, flag::kEndHeaders, open_id_, "");
    ours_.hear(rest, piece_);
    ours_.flush();
    if (!ours_.failure)
      explain(kOnlyTheirsFails, step, open_id_, "only nghttp2 ended it in a block");
  }

  void compare(const Step& step, std::uint32_t id, Said& said) {
    const Exchange& ours = ours_.exchanges[id];
    const Exchange& theirs = theirs_.exchanges[id];
    require(said.body.starts_with(ours.body));
    require(!ours.ended || ours.body == said.body);
    if (is_same(ours, theirs)) return;
    const bool is_at_hand = id == step.header.stream_id;
    if (is_at_hand && (ours.reset || ours.refused) && !theirs.reset) {
      explain(kOnlyOursRefuses, step, id, "only ours refused it");
    } else if (is_at_hand && theirs.reset && !ours.reset) {
      explain(kOnlyTheirsRefuses, step, id, "only nghttp2 refused it");
    } else {
      fail(step, id, "they differ");
    }
    // Out of the comparison; and closed in both, so that they count it alike.
    said.is_over = true;
    for (Server* server : servers()) {
      server->hear(http2::test::rst_stream(id, ErrorCode::cancel), piece_);
    }
    settle();
    require(!ours_.failure && !theirs_.failure);
  }
  bool is_same(const Exchange& ours, const Exchange& theirs) const {
    // After GOAWAY we refuse streams by name, and nghttp2 says nothing. Nobody takes them.
    if (is_drained_ && !ours.accepted && !theirs.accepted) return true;
    if (ours.accepted != theirs.accepted || ours.refused) return false;
    if (ours.accepted && ours.head != as_our_head(theirs.head)) return false;
    if (ours.reset.has_value() != theirs.reset.has_value()) return false;
    if (ours.reset) {  // Of the frame that broke a rule, either may have delivered a part.
      return ours.body.starts_with(theirs.body) || theirs.body.starts_with(ours.body);
    }
    return ours.body == theirs.body && ours.ended == theirs.ended &&
           ours.trailers == with_one_cookie(theirs.trailers);
  }

  template <std::size_t N>
  void explain(const std::array<Difference, N>& list, const Step& step, std::uint32_t id,
               std::string_view what) {
    const Situation situation{.step = step,
                              .ours = ours_.exchanges[id],
                              .theirs = theirs_.exchanges[id],
                              .client = client_,
                              .our_streams = our_streams_,
                              .their_streams = their_streams_};
    if (find_reason(list, situation) == nullptr) fail(step, id, what);
  }
  [[noreturn]] void fail(const Step& step, std::uint32_t id, std::string_view what) {
    std::fprintf(stderr, "stream %u: %.*s\nframe: type %u flags %u id %u length %u\n", id,
                 static_cast<int>(what.size()), what.data(), step.header.type, step.header.flags,
                 step.header.stream_id, step.header.length);
    for (const char byte : step.payload.substr(0, 64)) {
      std::fprintf(stderr, "%02x ", static_cast<unsigned char>(byte));
    }
    std::fprintf(stderr, "\n");
    for (const auto& line : step.lines) {
      std::fprintf(stderr, "  line: [%s] [%s]\n", line.name.c_str(), line.value.c_str());
    }
    for (Server* server : servers()) {
      const Exchange& exchange = server->exchanges[id];
      std::fprintf(stderr,
                   "failure %d accepted %d refused %d ended %d reset %d closed %d body %zu\n",
                   static_cast<int>(server->failure.value_or(0)), exchange.accepted,
                   exchange.refused, exchange.ended, static_cast<int>(exchange.reset.value_or(0)),
                   exchange.closed, exchange.body.size());
      for (const auto& line : exchange.head) {
        std::fprintf(stderr, "  head: [%s] [%s]\n", line.first.c_str(), line.second.c_str());
      }
    }
    std::abort();
  }

  Script script_;
  OurServer ours_;
  Nghttp2Server theirs_;
  Client client_;
  std::string pending_;  // Of the block that is open.
  std::uint32_t open_id_ = 0;
  std::size_t piece_ = 1 << 20;
  std::size_t our_streams_ = 0;
  std::size_t their_streams_ = 0;
  std::uint32_t next_byte_ = 0;
  bool holds_ = false;
  bool is_drained_ = false;
  bool is_over_ = false;
};

}  // namespace
}  // namespace titanium::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  titanium::fuzz::Comparison(data, size).run();
  return 0;
}
