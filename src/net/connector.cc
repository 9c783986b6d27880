// SPDX-License-Identifier: MIT
#include "net/connector.h"

#include <sys/socket.h>

#include <cerrno>
#include <optional>
#include <utility>
#include <vector>

#include "net/dns/address_order.h"
#include "net/tcp_transport.h"

namespace titanium::net {
namespace {

std::string_view reason_of(int error) noexcept {
  switch (error) {
    case ECONNREFUSED:
      return "connection refused";
    case ENETUNREACH:
      return "network unreachable";
    case EHOSTUNREACH:
      return "host unreachable";
    case ETIMEDOUT:
      return "no answer to the connection attempt";
    case ECONNRESET:
      return "connection reset while connecting";
    case EADDRNOTAVAIL:
      return "no local address or port left for the connection";
    case EMFILE:
    case ENFILE:
      return "out of file descriptors";
    case EACCES:
    case EPERM:
      return "connection forbidden by the system";
    default:
      return "connection failed";
  }
}

Error connect_failure(Code code, int native, std::string_view what) {
  return {
      .code = code, .side = Side::origin, .retry = Retry::always, .native = native, .what = what};
}

// Connecting to a closed port of this machine succeeds if the kernel happens to pick that very port
// for our end: TCP's simultaneous open (RFC 9293 §3.5), with ourselves.
bool is_self_connection(const Transport& transport) {
  return transport.peer_address().is_loopback() &&
         transport.peer_address() == transport.local_address();
}

bool means_no_ipv6(int error) noexcept {
  return error == ENETUNREACH || error == EADDRNOTAVAIL || error == EAFNOSUPPORT;
}

}  // namespace

struct Connector::Impl {
  static constexpr std::chrono::seconds kIpv6Pause{30};

  EventLoop& loop;
  Resolver& resolver;
  TimePoint ipv6_last_until{};
};

// From the name to a connection. Ends in finish(), once; the handler is told at the end of the
// turn.
class Connector::Attempt final : private ResolveHandler, private TimerHandler, private Deferred {
 public:
  Attempt(Impl& connector, const ConnectOptions& options, ConnectHandler& handler);
  ~Attempt();

  void start(std::string_view host, std::uint16_t port);

 private:
  class Racer;
  using Outcome = Result<std::unique_ptr<Transport>>;

  void on_resolved(Result<std::vector<SocketAddress>> addresses) override;
  void on_timer(Timer& timer) override;
  void on_turn_end() override;

  void start_next();
  [[nodiscard]] bool open(const SocketAddress& address);
  void on_decided(Racer& racer);
  void note_failure(const SocketAddress& address, int error);
  void finish(Outcome outcome);
  void discard(std::unique_ptr<TcpTransport> transport);

  Impl& connector_;
  ConnectOptions options_;
  ConnectHandler& handler_;
  Timer total_;
  Timer next_;  // Starts the next address while earlier ones are still undecided.
  Resolver::QueryPtr query_;
  std::vector<SocketAddress> addresses_;
  std::size_t tried_ = 0;
  std::vector<std::unique_ptr<Racer>> racers_;  // As many as addresses were tried, at most.
  std::size_t undecided_ = 0;
  int last_error_ = 0;
  std::optional<Outcome> outcome_;
};

// One address that is being connected to.
class Connector::Attempt::Racer final : private TransportHandler {
 public:
  Racer(Attempt& attempt, std::unique_ptr<TcpTransport> transport)
      : attempt_(attempt), transport_(std::move(transport)) {
    transport_->await_connected();
    transport_->set_handler(this);
  }
  [[nodiscard]] TcpTransport& transport() noexcept { return *transport_; }
  // The transport without a handler; null if it was taken before.
  [[nodiscard]] std::unique_ptr<TcpTransport> take() noexcept {
    if (transport_) transport_->set_handler(nullptr);
    return std::move(transport_);
  }

 private:
  // A refused connection is readable and writable, one that was made is writable at least.
  void on_readable() override { attempt_.on_decided(*this); }
  void on_writable() override { attempt_.on_decided(*this); }

  Attempt& attempt_;
  std::unique_ptr<TcpTransport> transport_;
};

Connector::Attempt::Attempt(Impl& connector, const ConnectOptions& options, ConnectHandler& handler)
    : connector_(connector),
      options_(options),
      handler_(handler),
      total_(connector.loop, *this),
      next_(connector.loop, *this) {}

Connector::Attempt::~Attempt() {
  for (const auto& racer : racers_) discard(racer->take());
}

void Connector::Attempt::start(std::string_view host, std::uint16_t port) {
  if (options_.timeout > Duration(0)) total_.arm(options_.timeout);
  query_ = connector_.resolver.resolve(host, port, *this);
}

void Connector::Attempt::on_resolved(Result<std::vector<SocketAddress>> addresses) {
  if (!addresses) return finish(std::unexpected(addresses.error()));
  const bool ipv6_last =
      options_.ipv6_soft_skip && connector_.loop.now() < connector_.ipv6_last_until;
  addresses_ = interleave_families(*addresses, ipv6_last);
  start_next();
}

void Connector::Attempt::start_next() {
  while (tried_ < addresses_.size()) {
    if (!open(addresses_[tried_++])) continue;
    if (tried_ < addresses_.size()) next_.arm(kAttemptDelay);
    return;
  }
  if (undecided_ > 0) return;
  finish(std::unexpected(connect_failure(Code::unavailable, last_error_, reason_of(last_error_))));
}

// False if the kernel knows at once that it cannot work.
bool Connector::Attempt::open(const SocketAddress& address) {
  const int family = address.is_ipv6() ? AF_INET6 : AF_INET;
  FileDescriptor socket(::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket || (::connect(socket.get(), address.get(), address.length()) != 0 &&
                  errno != EINPROGRESS && errno != EINTR)) {
    note_failure(address, errno);
    return false;
  }
  // Watched only now: a socket that was never connected counts as hung up.
  racers_.push_back(std::make_unique<Racer>(
      *this, std::make_unique<TcpTransport>(connector_.loop, std::move(socket), address,
                                            options_.socket)));
  ++undecided_;
  return true;
}

void Connector::Attempt::on_decided(Racer& racer) {
  int error = racer.transport().take_connect_error();
  if (error == 0 && is_self_connection(racer.transport())) error = ECONNREFUSED;
  auto transport = racer.take();
  --undecided_;
  if (error == 0) return finish(std::unique_ptr<Transport>(std::move(transport)));
  note_failure(transport->peer_address(), error);
  discard(std::move(transport));
  // RFC 8305 §5: a failure starts the next attempt at once.
  start_next();
}

void Connector::Attempt::note_failure(const SocketAddress& address, int error) {
  last_error_ = error;
  if (address.is_ipv6() && !address.is_loopback() && means_no_ipv6(error)) {
    connector_.ipv6_last_until = connector_.loop.now() + Impl::kIpv6Pause;
  }
}

void Connector::Attempt::on_timer(Timer& timer) {
  if (&timer == &next_) return start_next();
  finish(std::unexpected(connect_failure(
      Code::timed_out, last_error_,
      addresses_.empty() ? "name look-up timed out" : "connection attempt timed out")));
}

void Connector::Attempt::finish(Outcome outcome) {
  outcome_ = std::move(outcome);
  query_.reset();
  total_.disarm();
  next_.disarm();
  addresses_.clear();
  tried_ = 0;
  // The racers themselves stay: one of them may be on the stack.
  for (const auto& racer : racers_) discard(racer->take());
  connector_.loop.defer(*this);
}

void Connector::Attempt::discard(std::unique_ptr<TcpTransport> transport) {
  connector_.loop.destroy_later(std::move(transport));
}

void Connector::Attempt::on_turn_end() {
  Outcome outcome = std::move(*outcome_);
  outcome_.reset();
  // The handler may destroy this attempt.
  handler_.on_connected(std::move(outcome));
}

void Connector::AttemptDelete::operator()(Attempt* attempt) const noexcept { delete attempt; }

Connector::Connector(EventLoop& loop, Resolver& resolver)
    : impl_(std::make_unique<Impl>(loop, resolver)) {}
Connector::~Connector() = default;

Connector::AttemptPtr Connector::connect(std::string_view host, std::uint16_t port,
                                         const ConnectOptions& options, ConnectHandler& handler) {
  AttemptPtr attempt(new Attempt(*impl_, options, handler));
  attempt->start(host, port);
  return attempt;
}

}  // namespace titanium::net
