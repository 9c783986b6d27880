// SPDX-License-Identifier: MIT
//
// As much of HTTP/1.1 as passing messages on takes: where a head ends, what must not be forwarded,
// and where the body ends. Written for well-behaved peers of a benchmark: it refuses what it does
// not understand, and checks nothing else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace titanium::probe::control {

struct Head {
  std::size_t bytes = 0;  // With the empty line.
  std::uint16_t status = 0;
  bool is_head_request = false;
  bool http10 = false;
  bool close = false;       // Connection: close
  bool keep_alive = false;  // Connection: keep-alive
  bool upgrade = false;     // Connection: upgrade
  bool chunked = false;
  std::optional<std::uint64_t> content_length{};

  // RFC 9112 §9.3
  [[nodiscard]] bool persistent() const noexcept { return !close && (!http10 || keep_alive); }
};

enum class HeadStatus : std::uint8_t { complete, incomplete, bad };

// Larger heads are refused.
inline constexpr std::size_t kMaxHeadBytes = 64 * 1024;

// Reads the head in front of `input` and appends it to `out` without Connection, Keep-Alive and
// Proxy-Connection; without the empty line, so that the caller can add fields. Upgrade and its
// Connection stay (RFC 9110 §7.8) if the message asks to leave HTTP.
[[nodiscard]] HeadStatus parse_head(std::string_view input, bool is_response, Head& head,
                                    std::string& out);

// Counts the bytes of a body, chunked or not, without changing them.
class BodyScanner {
 public:
  void start_request(const Head& head) noexcept;
  // `to_head_request`: there is no body, whatever the head says.
  void start_response(const Head& head, bool to_head_request) noexcept;
  void start_raw() noexcept { state_ = State::until_close; }

  // How many bytes of `input` belong to the body; the rest is the next message.
  [[nodiscard]] std::size_t take(std::string_view input) noexcept;
  [[nodiscard]] bool is_done() const noexcept { return state_ == State::done; }
  [[nodiscard]] bool is_bad() const noexcept { return state_ == State::bad; }
  [[nodiscard]] bool ends_with_connection() const noexcept { return state_ == State::until_close; }

 private:
  enum class State : std::uint8_t {
    done,
    sized,
    chunk_size,
    chunk_extension,
    chunk_data,
    trailer_start,
    trailer_line,
    until_close,
    bad,
  };

  void start_sized(std::uint64_t bytes) noexcept;
  std::size_t take_data(std::size_t available, State then) noexcept;
  void take_letter(char letter) noexcept;

  State state_ = State::done;
  std::uint64_t left_ = 0;
  bool has_digits_ = false;
};

}  // namespace titanium::probe::control
