// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <utility>

namespace titanium::http2 {

// Life of a stream, drawn as in RFC 9113 §5.1, Figure 2. The states of pushed streams are left out:
// a client of ours forbids push (SETTINGS_ENABLE_PUSH = 0), and a server of ours never pushes.
//
//                            +--------+
//                            |  idle  |
//                            +---+----+
//                        send H / recv H
//                                v
//                            +--------+
//                    recv ES |        | send ES
//                    ,-------+  open  +-------.
//                    v       |        |       v
//           +----------+     +---+----+     +----------+
//           |   half   |         |          |   half   |
//           |  closed  |  send R / recv R   |  closed  |
//           | (remote) |         v          | (local)  |
//           +----+-----+     +--------+     +----+-----+
//                | send ES   |        |   recv ES |
//                `---------->| closed |<----------'
//                            +--------+
//   H: HEADERS   ES: END_STREAM flag   R: RST_STREAM
//   Not drawn: R closes a stream from the half-closed states, too.
enum class State : std::uint8_t { idle, open, half_closed_local, half_closed_remote, closed };
inline constexpr std::size_t kStateCount = 5;

// END_STREAM is an event of its own, as §5.1 asks: one HEADERS frame may cause two transitions.
enum class Event : std::uint8_t {
  send_headers,
  recv_headers,
  send_end_stream,
  recv_end_stream,
  send_reset,
  recv_reset,
};
inline constexpr std::size_t kEventCount = 6;

struct Transition {
  State from;
  Event on;
  State to;
};

// One line per arrow of the figure; a reviewer checks them against it one by one.
inline constexpr auto kTransitions = [] {
  using enum State;
  using enum Event;
  return std::to_array<Transition>({
      {idle, send_headers, open},
      {idle, recv_headers, open},
      {open, send_end_stream, half_closed_local},
      {open, recv_end_stream, half_closed_remote},
      {open, send_reset, closed},
      {open, recv_reset, closed},
      {half_closed_remote, send_end_stream, closed},
      {half_closed_remote, send_reset, closed},
      {half_closed_remote, recv_reset, closed},
      {half_closed_local, recv_end_stream, closed},
      {half_closed_local, send_reset, closed},
      {half_closed_local, recv_reset, closed},
      // Interim responses and trailers are further HEADERS on a live stream (§8.1): no change.
      {open, send_headers, open},
      {open, recv_headers, open},
      {half_closed_remote, send_headers, half_closed_remote},
      {half_closed_local, recv_headers, half_closed_local},
  });
}();
static_assert(std::ranges::none_of(kTransitions, [](auto& t) { return t.from == State::closed; }),
              "closed is the terminal state");

namespace state_detail {

// The same as a table, so that each frame costs one load and not a search.
inline constexpr auto kNext = [] {
  std::array<std::array<std::optional<State>, kEventCount>, kStateCount> next{};
  for (const Transition& t : kTransitions)
    next[std::to_underlying(t.from)][std::to_underlying(t.on)] = t.to;
  return next;
}();

}  // namespace state_detail

// nullopt: the figure has no such arrow. The caller picks the error code, because §5.1 asks for
// PROTOCOL_ERROR or STREAM_CLOSED depending on the state the stream was in.
[[nodiscard]] constexpr std::optional<State> next_state(State from, Event on) noexcept {
  return state_detail::kNext[std::to_underlying(from)][std::to_underlying(on)];
}

}  // namespace titanium::http2
