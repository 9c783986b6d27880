// SPDX-License-Identifier: MIT
#include "net/dns/resolver.h"

#include <optional>
#include <unordered_map>
#include <utility>

#include "base/ascii.h"
#include "net/dns/ares_channel.h"
#include "net/dns/name_cache.h"

namespace titanium::net {
namespace {

using Answer = Result<std::vector<SocketAddress>>;

// The longest name that DNS can carry, in characters (RFC 1035 §2.3.4), and the final dot.
constexpr std::size_t kLongestName = 253 + 1;

std::unexpected<Error> look_up_error(std::string_view what) {
  return std::unexpected(
      Error{.code = Code::unavailable, .side = Side::origin, .retry = Retry::always, .what = what});
}

Answer with_port(Answer answer, std::uint16_t port) {
  if (answer) {
    for (SocketAddress& address : *answer) address.set_port(port);
  }
  return answer;
}

}  // namespace

class Resolver::Query : public ListLink<Query> {
 public:
  Query(std::uint16_t port, ResolveHandler& handler) : port_(port), handler_(handler) {}
  // The handler may destroy the query.
  void deliver(const Answer& answer) { handler_.on_resolved(with_port(answer, port_)); }

 private:
  std::uint16_t port_;
  ResolveHandler& handler_;
};

void Resolver::QueryDelete::operator()(Query* query) const noexcept { delete query; }

struct Resolver::Impl final : private Deferred {
  // A name that c-ares is asked about, and who waits for it.
  struct Open final : NameReceiver, TimerHandler {
    Open(Impl& owner, std::string of)
        : impl(owner), name(std::move(of)), deadline(owner.loop, *this) {}

    void on_answer(NameAnswer result) override { impl.take_answer(*this, std::move(result)); }
    void on_timer(Timer&) override { impl.give_up(*this); }

    Impl& impl;
    std::string name;
    Timer deadline;
    IntrusiveList<Query> waiters;
    std::optional<Answer> answer;
    bool starting = true;  // look_up() has not returned yet.
  };

  Impl(EventLoop& on, Options with)
      : loop(on), options(std::move(with)), channel(std::make_unique<AresChannel>(loop, options)) {}
  ~Impl() {
    closing = true;
    channel.reset();
  }

  QueryPtr resolve(std::string_view host, std::uint16_t port, ResolveHandler& handler);
  QueryPtr start(std::string name, std::uint16_t port, ResolveHandler& handler);
  QueryPtr join(Open& look_up, std::uint16_t port, ResolveHandler& handler);
  void take_answer(Open& look_up, NameAnswer result);
  void give_up(Open& look_up);
  static void tell_waiters(Open& look_up, const Answer& answer);
  void on_turn_end() override;

  EventLoop& loop;
  Options options;
  NameCache cache{kCachedNames};
  std::unordered_map<std::string, std::unique_ptr<Open>> open;
  std::vector<std::unique_ptr<Open>> answered;  // Their waiters are told at the end of the turn.
  std::unique_ptr<AresChannel> channel;
  bool closing = false;
};

Resolver::QueryPtr Resolver::Impl::resolve(std::string_view host, std::uint16_t port,
                                           ResolveHandler& handler) {
  if (const auto literal = SocketAddress::parse(host, port)) {
    handler.on_resolved(std::vector{*literal});
    return nullptr;
  }
  if (host.empty() || host.size() > kLongestName || host.contains('\0')) {
    handler.on_resolved(look_up_error("not a valid host name"));
    return nullptr;
  }
  std::string name = lower_case(host);
  if (const Answer* known = cache.find(name, loop.now())) {
    handler.on_resolved(with_port(*known, port));
    return nullptr;
  }
  if (const auto found = open.find(name); found != open.end()) {
    return join(*found->second, port, handler);
  }
  if (open.size() >= kOpenNames) {
    handler.on_resolved(look_up_error("too many name look-ups at a time"));
    return nullptr;
  }
  return start(std::move(name), port, handler);
}

Resolver::QueryPtr Resolver::Impl::start(std::string name, std::uint16_t port,
                                         ResolveHandler& handler) {
  const auto at = open.emplace(name, std::make_unique<Open>(*this, name)).first;
  Open& look_up = *at->second;
  channel->look_up(look_up.name, look_up);
  look_up.starting = false;
  if (!look_up.answer) return join(look_up, port, handler);
  // The hosts file knew.
  const auto done = std::move(at->second);
  open.erase(at);
  handler.on_resolved(with_port(std::move(*done->answer), port));
  return nullptr;
}

Resolver::QueryPtr Resolver::Impl::join(Open& look_up, std::uint16_t port,
                                        ResolveHandler& handler) {
  QueryPtr query(new Query(port, handler));
  look_up.waiters.push_back(*query);
  if (!look_up.deadline.is_armed()) look_up.deadline.arm(options.timeout);
  return query;
}

void Resolver::Impl::take_answer(Open& look_up, NameAnswer result) {
  if (closing) return;
  look_up.answer = result.addresses;
  cache.put(look_up.name, std::move(result.addresses), result.ttl, loop.now());
  if (look_up.starting) return;
  look_up.deadline.disarm();
  auto node = open.extract(look_up.name);
  answered.push_back(std::move(node.mapped()));
  loop.defer(*this);
}

// The waiters have waited long enough. c-ares goes on, and later queries for the name join it.
void Resolver::Impl::give_up(Open& look_up) {
  const Answer answer = look_up_error("name look-up timed out");
  cache.put(look_up.name, answer, {}, loop.now());
  tell_waiters(look_up, answer);
}

void Resolver::Impl::on_turn_end() {
  const auto done = std::exchange(answered, {});
  for (const auto& look_up : done) tell_waiters(*look_up, *look_up->answer);
}

// Handlers may cancel any query here, their own included, so one at a time is taken off the list.
void Resolver::Impl::tell_waiters(Open& look_up, const Answer& answer) {
  while (Query* query = look_up.waiters.pop_front()) query->deliver(answer);
}

Resolver::Resolver(EventLoop& loop, Options options)
    : impl_(std::make_unique<Impl>(loop, std::move(options))) {}
Resolver::~Resolver() = default;

Resolver::QueryPtr Resolver::resolve(std::string_view host, std::uint16_t port,
                                     ResolveHandler& handler) {
  return impl_->resolve(host, port, handler);
}

}  // namespace titanium::net
