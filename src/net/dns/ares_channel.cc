// SPDX-License-Identifier: MIT
#include "net/dns/ares_channel.h"

#include <sys/time.h>

#include <algorithm>

namespace titanium::net {
namespace {

std::string_view reason_of(int status) noexcept {
  switch (status) {
    case ARES_ENOTFOUND:
    case ARES_ENODATA:
    case ARES_ENONAME:
      return "name not found";
    case ARES_EBADNAME:
    case ARES_EBADQUERY:
    case ARES_EBADSTR:
      return "not a valid host name";
    case ARES_ETIMEOUT:
      return "name look-up timed out";
    case ARES_ECONNREFUSED:
    case ARES_ENOSERVER:
      return "name server not reachable";
    case ARES_ESERVFAIL:
      return "name server failed";
    case ARES_EREFUSED:
      return "name server refused the look-up";
    default:
      return "name look-up failed";
  }
}

NameAnswer failed_look_up(int status) {
  return {.addresses = std::unexpected(Error{.code = Code::unavailable,
                                             .side = Side::origin,
                                             .retry = Retry::always,
                                             .native = status,
                                             .what = reason_of(status)})};
}

NameAnswer answer_of(const ares_addrinfo& info) {
  std::vector<SocketAddress> addresses;
  int ttl = INT32_MAX;
  for (const auto* alias = info.cnames; alias != nullptr; alias = alias->next) {
    ttl = std::min(ttl, alias->ttl);
  }
  for (const auto* node = info.nodes; node != nullptr; node = node->ai_next) {
    const SocketAddress address(node->ai_addr, node->ai_addrlen);
    if (address.empty() || addresses.size() == Resolver::kAddresses) continue;
    ttl = std::min(ttl, node->ai_ttl);
    if (!std::ranges::contains(addresses, address)) addresses.push_back(address);
  }
  if (addresses.empty()) return failed_look_up(ARES_ENODATA);
  return {.addresses = std::move(addresses), .ttl = std::chrono::seconds(ttl)};
}

}  // namespace

// One socket of c-ares: it opens a few UDP and TCP sockets to each server.
class AresChannel::Socket final : public IoHandler {
 public:
  Socket(AresChannel& channel, ares_socket_t fd) : channel_(channel), fd_(fd) {
    // If the kernel refuses, the query runs into its time-out.
    watched_ = channel_.loop_.watch(fd_, *this);
  }
  ~Socket() {
    if (watched_) channel_.loop_.unwatch(fd_, *this);
  }

  void on_ready(Readiness ready) override {
    if (ready.writable) writable_ = true;
    const bool write = ready.writable && wants_writable_;
    if (!ready.readable && !write) return;
    // This object may be gone after the call.
    channel_.process(ready.readable ? fd_ : ARES_SOCKET_BAD, write ? fd_ : ARES_SOCKET_BAD);
  }

  // True if the socket was reported writable before anybody wanted to know: no event will follow.
  bool set_wants_writable(bool wanted) noexcept {
    const bool missed = wanted && !wants_writable_ && writable_;
    wants_writable_ = wanted;
    return missed;
  }
  [[nodiscard]] bool wants_writable() const noexcept { return wants_writable_; }

 private:
  AresChannel& channel_;
  ares_socket_t fd_;
  bool watched_ = false;
  bool writable_ = false;
  bool wants_writable_ = false;
};

AresChannel::AresChannel(EventLoop& loop, const Resolver::Options& options)
    : loop_(loop), timer_(loop, *this) {
  ares_options settings{};
  std::string lookups = "fb";  // The hosts file, then DNS.
  std::string hosts_file = options.hosts_file;
  settings.lookups = lookups.data();
  settings.sock_state_cb = &AresChannel::on_socket_state;
  settings.sock_state_cb_data = this;
  // Two tries fit into the time; the resolver's own deadline ends the look-up in any case.
  settings.tries = 2;
  settings.timeout = static_cast<int>(std::max<Duration::rep>(options.timeout.count() * 2 / 5, 1));
  settings.qcache_max_ttl = 0;  // The resolver caches, within its own bounds.
  int mask = ARES_OPT_LOOKUPS | ARES_OPT_SOCK_STATE_CB | ARES_OPT_TRIES | ARES_OPT_TIMEOUTMS |
             ARES_OPT_QUERY_CACHE;
  if (!options.server.empty()) {
    // The search list of /etc/resolv.conf belongs to the servers named there.
    settings.flags = ARES_FLAG_EDNS | ARES_FLAG_NOSEARCH;
    mask |= ARES_OPT_FLAGS;
  }
  if (!hosts_file.empty()) {
    settings.hosts_path = hosts_file.data();
    mask |= ARES_OPT_HOSTS_FILE;
  }
  ares_channel_t* channel = nullptr;
  if (ares_init_options(&channel, &settings, mask) != ARES_SUCCESS) return;
  channel_.reset(channel);
  if (!options.server.empty() &&
      ares_set_servers_ports_csv(channel, options.server.c_str()) != ARES_SUCCESS) {
    channel_.reset();
  }
}

AresChannel::~AresChannel() = default;

void AresChannel::look_up(const std::string& name, NameReceiver& receiver) {
  if (!channel_) return receiver.on_answer(failed_look_up(ARES_ENOSERVER));
  ares_addrinfo_hints hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  ares_getaddrinfo(channel_.get(), name.c_str(), nullptr, &hints, &AresChannel::on_addresses,
                   &receiver);
  rearm();
}

void AresChannel::on_addresses(void* receiver, int status, int /*timeouts*/,
                               ares_addrinfo* answer) {
  const std::unique_ptr<ares_addrinfo, decltype([](ares_addrinfo* a) { ares_freeaddrinfo(a); })>
      owned(answer);
  const bool ok = status == ARES_SUCCESS && answer != nullptr;
  static_cast<NameReceiver*>(receiver)->on_answer(ok ? answer_of(*answer) : failed_look_up(status));
}

void AresChannel::on_socket_state(void* self, ares_socket_t fd, int readable, int writable) {
  static_cast<AresChannel*>(self)->set_interest(fd, readable != 0, writable != 0);
}

void AresChannel::set_interest(ares_socket_t fd, bool readable, bool writable) {
  if (!readable && !writable) {
    sockets_.erase(fd);
    return;
  }
  auto& socket = sockets_[fd];
  if (!socket) socket = std::make_unique<Socket>(*this, fd);
  if (socket->set_wants_writable(writable)) loop_.defer(*this);
}

void AresChannel::on_turn_end() {
  std::vector<ares_socket_t> waiting;
  for (const auto& [fd, socket] : sockets_) {
    if (socket->wants_writable()) waiting.push_back(fd);
  }
  for (const ares_socket_t fd : waiting) process(ARES_SOCKET_BAD, fd);
}

void AresChannel::on_timer(Timer&) { process(ARES_SOCKET_BAD, ARES_SOCKET_BAD); }

void AresChannel::process(ares_socket_t readable, ares_socket_t writable) {
  ares_process_fd(channel_.get(), readable, writable);
  rearm();
}

void AresChannel::rearm() {
  timeval left{};
  if (ares_timeout(channel_.get(), nullptr, &left) == nullptr) {
    timer_.disarm();
    return;
  }
  const auto exact = std::chrono::seconds(left.tv_sec) + std::chrono::microseconds(left.tv_usec);
  timer_.arm(std::chrono::ceil<Duration>(exact));
}

}  // namespace titanium::net
