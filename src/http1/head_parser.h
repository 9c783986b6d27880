// SPDX-License-Identifier: MIT
//
// Parses HTTP/1.x message heads (RFC 9112 §2-§5) from bytes that arrive in pieces. No I/O.
//
// Stricter than the RFC wherever it leaves a choice: a proxy forwards the bytes, so if the next
// parser takes the other choice, the leftover becomes a request of the attacker's making.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "http/message.h"
#include "http1/framing.h"

namespace titanium::http1 {

// Limits for one head. Defaults are those of docs/configuration.md, server.limits.
struct HeadLimits {
  std::uint32_t line_bytes = 64 * 1024;   // One line with its CRLF: 414 (request line) or 431.
  std::uint32_t head_bytes = 256 * 1024;  // Start line and fields together: 431.
  std::uint32_t fields = 256;             // Number of field lines: 431.
};

// What the bytes of a head said about its connection, beyond the version-neutral head.
struct ConnectionInfo {
  bool persistent = false;          // RFC 9112 §9.3, both versions.
  Framing framing = Framing::none;  // How the body ends on this connection.
};

// Finds the lines of a head in a growing buffer and remembers them as offsets, so that the buffer
// may move between two calls. Shared by the request, response and trailer parsers.
class LineScanner {
 public:
  struct Line {
    std::uint32_t begin = 0;
    std::uint32_t end = 0;  // Without CRLF.
  };

  // Looks at the bytes that came since the last call. True: the empty line was found, and size()
  // is the length of the section including it. Refuses CR and LF that are not together (RFC 9112
  // §2.2) and every other control byte but HTAB, so that lines() are free of them, and what is over
  // the limits, all as early as it can be seen.
  //
  // A section that starts with a request line may have up to two empty lines in front.
  [[nodiscard]] Result<bool> scan(std::string_view buffer, const HeadLimits& limits, Side peer,
                                  bool has_start_line);

  [[nodiscard]] const std::vector<Line>& lines() const noexcept { return lines_; }
  [[nodiscard]] std::size_t size() const noexcept { return scanned_; }
  void reset() noexcept;

 private:
  [[nodiscard]] Result<bool> check_unfinished(std::uint32_t seen, const HeadLimits& limits,
                                              Side peer, bool has_start_line) const;

  std::vector<Line> lines_;
  std::uint32_t line_begin_ = 0;
  std::uint32_t scanned_ = 0;
  std::uint32_t skipped_ = 0;  // Empty lines before the request line.
  bool complete_ = false;
};

class RequestParser {
 public:
  explicit RequestParser(HeadLimits limits = {}) : limits_(limits) {}

  // Parses the head at the front of `buffer`, which holds all bytes received since the end of the
  // previous message: more each time, possibly at another address.
  //
  // Returns the length of the head, once it is complete; nullopt while bytes are missing. Then the
  // views in `head` point into `buffer`. Up to two empty lines before the request line are skipped
  // and counted (RFC 9112 §2.2).
  //
  // Errors: `protocol` with status 400 (or 505 for another major version); `limit` with 414 or 431;
  // `unsupported` with 501 for a transfer coding that is not chunked, 417 for an expectation other
  // than 100-continue. The side is `client`. After an error the connection has to be closed.
  //
  // A CONNECT request comes with the body kind and framing `tunnel`: what follows it on the
  // connection is not HTTP if it succeeds, and cannot be trusted to be if it does not.
  //
  // `scheme` is "http" unless the target is an absolute URI; the session knows about TLS.
  //
  // Cost: O(bytes) over all calls together. Allocates only until its tables have grown to the size
  // of the largest head seen.
  [[nodiscard]] Result<std::optional<std::size_t>> parse(std::string_view buffer,
                                                         http::RequestHead& head,
                                                         ConnectionInfo& info);
  // Forgets the current head and gets ready for the next one.
  void reset() noexcept;

  // True if the request line has been seen in full (then a time-out is answered with 408; before
  // it, an idle connection is just closed).
  [[nodiscard]] bool has_started() const noexcept;

 private:
  HeadLimits limits_;
  LineScanner scanner_;
};

class ResponseParser {
 public:
  explicit ResponseParser(HeadLimits limits = {}) : limits_(limits) {}

  // As RequestParser::parse(); errors have side `origin` and status 502. `request_method` decides
  // whether there is a body (RFC 9112 §6.3). `persistent` is false for Framing::until_close.
  [[nodiscard]] Result<std::optional<std::size_t>> parse(std::string_view buffer,
                                                         http::Method request_method,
                                                         http::ResponseHead& head,
                                                         ConnectionInfo& info);
  void reset() noexcept;

 private:
  HeadLimits limits_;
  LineScanner scanner_;
};

}  // namespace titanium::http1
