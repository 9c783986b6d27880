// SPDX-License-Identifier: MIT
//
// What lies between OpenSSL and the inner transport: a BIO over chunks. Internal to this layer.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "base/chunk.h"
#include "net/transport.h"
#include "tls/openssl_ptr.h"

namespace titanium::tls {

// Feeds OpenSSL with bytes of the inner transport and collects the records that it makes.
//
// One chunk at most is held for input, and only while it has unread bytes. The end of the stream
// and errors of the transport look like "nothing yet" to OpenSSL and are kept aside: OpenSSL would
// treat them as fatal and then refuse to write too, but a peer that ends its direction may still
// wait for our answer.
class RecordIo {
 public:
  static constexpr std::size_t kFirstBytes = 8;

  RecordIo(ChunkPool& pool, net::Transport& inner) noexcept
      : pool_(pool), inner_(inner), output_(pool) {}
  RecordIo(const RecordIo&) = delete;
  RecordIo& operator=(const RecordIo&) = delete;

  // A BIO that reads and writes here. This object outlives it.
  [[nodiscard]] Bio make_bio();

  // Records to send.
  [[nodiscard]] ChunkQueue& output() noexcept { return output_; }
  [[nodiscard]] const ChunkQueue& output() const noexcept { return output_; }

  [[nodiscard]] bool has_input() const noexcept { return input_.size() > 0; }
  [[nodiscard]] bool has_ended() const noexcept { return ended_; }
  [[nodiscard]] const std::optional<Error>& error() const noexcept { return error_; }

  // OpenSSL may read this many bytes until the next call; then it sees "nothing yet", and
  // is_over_budget() is true. Bounds what a peer can make us do with records that bring no data.
  void set_budget(std::size_t bytes) noexcept { budget_ = bytes; }
  [[nodiscard]] bool is_over_budget() const noexcept { return budget_ == 0; }

  // How the stream began (at most kFirstBytes), to tell clear text from TLS.
  [[nodiscard]] std::string_view first_bytes() const noexcept {
    return {first_.data(), first_count_};
  }

  // Throws away up to `limit` bytes of input, what is there now.
  void discard_input(std::size_t limit);

 private:
  struct Callbacks;

  [[nodiscard]] bool fill();
  [[nodiscard]] std::size_t read(std::span<std::uint8_t> into);
  void remember(Bytes bytes) noexcept;

  ChunkPool& pool_;
  net::Transport& inner_;
  Slice input_;
  bool bulk_ = false;  // The peer has more to say than a chunk holds.
  ChunkQueue output_;
  std::size_t budget_ = 0;
  std::optional<Error> error_;
  std::array<char, kFirstBytes> first_{};
  std::uint8_t first_count_ = 0;
  bool ended_ = false;
};

}  // namespace titanium::tls
