// SPDX-License-Identifier: MIT
#pragma once

#include <openssl/ssl.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "control/worker.h"
#include "net/file_descriptor.h"

namespace titanium::probe::control {

struct SslDelete {
  void operator()(SSL* ssl) const noexcept { SSL_free(ssl); }
};
using SslHandle = std::unique_ptr<SSL, SslDelete>;

class Endpoint;

class EndpointOwner {
 public:
  // Something may have become possible: reading, or sending more.
  virtual void on_endpoint(Endpoint& endpoint) = 0;

 protected:
  ~EndpointOwner() = default;
};

// A socket, clear or with OpenSSL straight on it, and the bytes that it could not take yet.
class Endpoint final : public Pollable {
 public:
  // `tls` is null for clear text, else ready to accept.
  Endpoint(Worker& worker, net::FileDescriptor socket, SslHandle tls, EndpointOwner* owner);
  ~Endpoint() override;
  // To 127.0.0.1; sending may start at once. Null if there is no descriptor or port left.
  [[nodiscard]] static std::unique_ptr<Endpoint> connect(Worker& worker, std::uint16_t port,
                                                         EndpointOwner* owner);

  void set_owner(EndpointOwner* owner) noexcept { owner_ = owner; }

  enum class Status : std::uint8_t { bytes, blocked, ended, failed };
  struct Got {
    Status status = Status::blocked;
    std::string_view bytes;  // In the worker's scratch.
  };
  [[nodiscard]] Got read();
  // Sends what the peer takes and keeps the rest. False: the connection is broken.
  [[nodiscard]] bool send(std::string_view bytes);
  // The peer has to take more before anything else is to be sent.
  [[nodiscard]] bool is_blocked() const noexcept { return sent_ < backlog_.size(); }
  // Ends our direction once everything is out.
  void shutdown_write();
  // Nothing came since the last read, and the connection is whole: it can be used again.
  [[nodiscard]] bool is_fresh() const noexcept { return !readable_ && !ending_ && !broken_; }
  [[nodiscard]] bool is_broken() const noexcept { return broken_; }

 private:
  void on_events(std::uint32_t events) override;
  // How many bytes the socket took; -1: broken.
  [[nodiscard]] std::ptrdiff_t write_some(std::string_view bytes);
  [[nodiscard]] std::ptrdiff_t write_tls(std::string_view bytes);
  [[nodiscard]] Got read_clear();
  [[nodiscard]] Got read_tls();
  void flush();
  void end_write();

  Worker& worker_;
  net::FileDescriptor socket_;
  SslHandle tls_;
  EndpointOwner* owner_;
  std::string backlog_;
  std::size_t sent_ = 0;   // Of the backlog.
  bool readable_ = false;  // An event said so, and no read found the end of it yet.
  bool can_write_ = true;  // Until a write falls short.
  bool ending_ = false;    // FIN or an error is somewhere behind the bytes.
  bool broken_ = false;
  bool end_wanted_ = false;
  bool end_sent_ = false;
};

}  // namespace titanium::probe::control
