// SPDX-License-Identifier: MIT
#include "tls/connection.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "base/assert.h"

namespace titanium::tls {

using net::ReadResult;

Connection::~Connection() {
  inner_->set_handler(nullptr);
  // Without close_notify the peer could not tell our end from an attacker's (RFC 8446 §6.1). One
  // attempt: nobody is left who would wait.
  if (state_ == State::open && !abort_ && !write_error_) {
    if (closing_ == Closing::no) closing_ = Closing::wanted;
    flush();
  }
}

void Connection::set_handler(net::TransportHandler* handler) noexcept {
  handler_ = handler;
  if (handler == nullptr || state_ == State::handshaking) return;
  if (may_read_) report_readable_ = true;
  if (report_readable_ || report_writable_) loop_.defer(*this);
}

// Reading ---------------------------------------------------------------------------------------

ReadResult Connection::read(std::span<std::uint8_t> into) {
  if (state_ == State::failed) return {.status = ReadResult::Status::failed, .error = *error_};
  if (state_ == State::handshaking) return {};
  if (finished_) return {.status = *finished_};
  clear_openssl_errors();
  std::size_t length = 0;
  const int outcome = SSL_read_ex(ssl_.get(), into.data(), into.size(), &length);
  if (outcome == 1) {
    io_.set_budget(kControlBudgetBytes);
    return {.status = ReadResult::Status::bytes, .bytes = length};
  }
  return after_failed_read(SSL_get_error(ssl_.get(), outcome));
}

ReadResult Connection::after_failed_read(int ssl_error) {
  // What came may have asked for an answer.
  if (!io_.output().empty()) loop_.defer(*this);
  if (ssl_error == SSL_ERROR_ZERO_RETURN) {
    finished_ = ReadResult::Status::end;
    return {.status = *finished_};
  }
  if (ssl_error != SSL_ERROR_WANT_READ) {
    return fail_read(take_openssl_error(Code::protocol, peer_, "TLS record refused"));
  }
  if (io_.is_over_budget()) {
    return fail_read(
        {.code = Code::limit, .side = peer_, .what = "too many TLS control messages without data"});
  }
  if (io_.error()) return fail_read(with_side(*io_.error()));
  if (io_.has_ended()) {
    finished_ = ReadResult::Status::truncated;
    return {.status = *finished_};
  }
  may_read_ = false;
  return {};
}

ReadResult Connection::fail_read(const Error& error) {
  state_ = State::failed;
  error_ = error;
  plain_.clear();
  return {.status = ReadResult::Status::failed, .error = error};
}

bool Connection::is_stale() {
  if (state_ != State::open || finished_ || write_error_) return true;
  // A TLS 1.3 server sends session tickets whenever it likes: bytes on an idle connection do not
  // mean that it is over, so they are looked at. SSL_peek() keeps data for read().
  if (!io_.has_input() && SSL_has_pending(ssl_.get()) == 0 && !inner_->is_stale()) return false;
  clear_openssl_errors();
  std::uint8_t byte = 0;
  std::size_t length = 0;
  const int outcome = SSL_peek_ex(ssl_.get(), &byte, 1, &length);
  if (outcome == 1) return true;
  const ReadResult result = after_failed_read(SSL_get_error(ssl_.get(), outcome));
  // Half a record is half an answer to nothing.
  return result.status != ReadResult::Status::would_block || SSL_has_pending(ssl_.get()) != 0;
}

// Writing ---------------------------------------------------------------------------------------

Result<> Connection::write(ChunkQueue& from) {
  if (state_ == State::failed) return std::unexpected(*error_);
  if (write_error_) return std::unexpected(*write_error_);
  if (closing_ != Closing::no) {
    return std::unexpected(Error{.code = Code::internal, .what = "write after shutdown_write"});
  }
  if (state_ == State::handshaking) {
    writer_waits_ = !from.empty();
    return {};
  }
  // The bytes are only moved here and encrypted at the end of the turn, so that whatever was
  // written in many small calls shares its records.
  while (!from.empty() && backlog() < kBacklogBytes) {
    plain_.append(from, std::min(from.size(), kBacklogBytes - backlog()));
    if (backlog() < kFlushBytes) break;
    flush();
    if (state_ == State::failed) return std::unexpected(*error_);
    if (write_error_) return std::unexpected(*write_error_);
  }
  writer_waits_ = !from.empty() || backlog() > kNotifyBytes;
  loop_.defer(*this);
  return {};
}

// The plain bytes of the next record: the front slice, or a copy of several small ones.
Bytes Connection::next_record(std::span<std::uint8_t, kRecordBytes> scratch) const {
  const Bytes front = plain_.front();
  if (front.size() >= kSmallSliceBytes || front.size() == plain_.size()) return front;
  std::array<iovec, 64> slices;
  std::size_t length = 0;
  for (const iovec& slice : plain_.gather(slices)) {
    // A large slice that does not fit makes a record of its own: splitting it would leave a small
    // rest that drags the next large one into the copy, and so on.
    if (slice.iov_len > scratch.size() - length) break;
    std::memcpy(scratch.data() + length, slice.iov_base, slice.iov_len);
    length += slice.iov_len;
  }
  return scratch.first(length);
}

void Connection::encrypt() {
  std::array<std::uint8_t, kRecordBytes> scratch;
  while (!plain_.empty() && io_.output().size() < kFlushBytes) {
    const Bytes record = next_record(scratch);
    clear_openssl_errors();
    std::size_t written = 0;
    if (SSL_write_ex(ssl_.get(), record.data(), record.size(), &written) != 1) {
      // The queue behind the BIO takes everything, so this is no want-write.
      fail_writing(take_openssl_error(Code::internal, Side::self, "TLS record cannot be made"));
      return;
    }
    plain_.consume(written);
  }
}

void Connection::flush() {
  while (!inner_blocked_) {
    if (state_ == State::open) encrypt();
    if (state_ == State::open && closing_ == Closing::wanted && plain_.empty()) {
      clear_openssl_errors();
      // Reading goes on (RFC 8446 §6.1): the peer's close_notify is not waited for.
      (void)SSL_shutdown(ssl_.get());
      closing_ = Closing::notify_queued;
    }
    if (io_.output().empty()) break;
    if (auto written = inner_->write(io_.output()); !written) {
      fail_writing(with_side(written.error()));
      return;
    }
    inner_blocked_ = !io_.output().empty();
  }
  if (closing_ == Closing::notify_queued && io_.output().empty()) {
    closing_ = Closing::done;
    inner_->shutdown_write();
    report_writable_ = true;
  }
  if (writer_waits_ && state_ == State::open && backlog() <= kNotifyBytes) {
    writer_waits_ = false;
    report_writable_ = true;
  }
}

void Connection::fail_writing(const Error& error) {
  write_error_ = error;
  plain_.clear();
  io_.output().clear();
  // Both, since whoever only reads now would not learn it otherwise.
  report_writable_ = report_readable_ = true;
}

void Connection::shutdown_write() {
  if (closing_ != Closing::no) return;
  closing_ = Closing::wanted;
  loop_.defer(*this);
}

void Connection::abort_on_close() noexcept {
  abort_ = true;
  inner_->abort_on_close();
}

std::size_t Connection::unsent_bytes() const noexcept { return backlog() + inner_->unsent_bytes(); }

// Events ----------------------------------------------------------------------------------------

void Connection::on_readable() {
  if (state_ == State::handshaking) {
    continue_handshake();
    return;
  }
  may_read_ = true;
  if (state_ == State::open && handler_ != nullptr) handler_->on_readable();
}

void Connection::on_writable() {
  inner_blocked_ = false;
  flush();
  notify();
}

void Connection::on_turn_end() {
  if (!started_) {
    started_ = true;
    continue_handshake();
  }
  if (handshake_over_) report_handshake();
  flush();
  notify();
}

void Connection::notify() {
  if (state_ == State::handshaking) return;
  if (std::exchange(report_writable_, false)) {
    if (handler_ == nullptr) {
      report_writable_ = true;
    } else {
      handler_->on_writable();
    }
  }
  // The handler may have been replaced meanwhile.
  if (report_readable_ && handler_ != nullptr) {
    report_readable_ = false;
    handler_->on_readable();
  }
}

// Queries ---------------------------------------------------------------------------------------

Error Connection::with_side(Error error) const noexcept {
  if (error.side == Side::self) error.side = peer_;
  return error;
}

const net::SocketAddress& Connection::peer_address() const noexcept {
  return inner_->peer_address();
}

const net::SocketAddress& Connection::local_address() const noexcept {
  return inner_->local_address();
}

std::string_view Connection::alpn() const noexcept {
  const unsigned char* name = nullptr;
  unsigned int length = 0;
  SSL_get0_alpn_selected(ssl_.get(), &name, &length);
  return {reinterpret_cast<const char*>(name), length};
}

std::string_view Connection::server_name() const noexcept {
  if (server_context_ == nullptr) return {};
  const char* name = SSL_get_servername(ssl_.get(), TLSEXT_NAMETYPE_host_name);
  return name == nullptr ? std::string_view{} : std::string_view(name);
}

std::string_view Connection::version() const noexcept { return SSL_get_version(ssl_.get()); }

std::string_view Connection::group() const noexcept {
  const char* name = SSL_get0_group_name(ssl_.get());
  return name == nullptr ? std::string_view{} : std::string_view(name);
}

std::string_view Connection::cipher() const noexcept { return SSL_get_cipher_name(ssl_.get()); }

bool Connection::resumed() const noexcept { return SSL_session_reused(ssl_.get()) == 1; }

}  // namespace titanium::tls
