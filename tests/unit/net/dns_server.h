// SPDX-License-Identifier: MIT
//
// A name server for tests, on the loop of the test.
#pragma once

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "net/event_loop.h"
#include "net/tcp.h"
#include "unit/net/support.h"

namespace titanium::net::testing {

struct DnsRecord {
  std::vector<std::string> addresses{};  // Literals of both families.
  std::uint32_t ttl = 60;
  enum class Manner : std::uint8_t {
    answers,
    silent,     // Takes the query and says nothing.
    fails,      // SERVFAIL.
    truncates,  // Over UDP: "ask again over TCP".
  };
  Manner manner = Manner::answers;
};

// Answers A and AAAA queries over UDP and TCP; NXDOMAIN for names that are not in `zone`.
class DnsServer final : private IoHandler, private AcceptHandler {
 public:
  static constexpr std::uint16_t kTypeA = 1;
  static constexpr std::uint16_t kTypeAaaa = 28;

  explicit DnsServer(EventLoop& loop) : loop_(loop) {
    // UDP and TCP on one number: whoever binds second may find it taken.
    for (int attempt = 0; attempt < 20 && !listener_; ++attempt) {
      auto tcp = listen_tcp(loopback(0), {});
      const SocketAddress at = local_address_of(tcp->get());
      udp_ = FileDescriptor(::socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
      if (::bind(udp_.get(), at.get(), at.length()) != 0) continue;
      address_ = at;
      listener_ = std::make_unique<TcpListener>(loop_, std::move(*tcp),
                                                static_cast<AcceptHandler&>(*this), Logger());
    }
    EXPECT_TRUE(listener_ && loop_.watch(udp_.get(), *this));
  }
  ~DnsServer() { loop_.unwatch(udp_.get(), *this); }

  [[nodiscard]] std::string address() const { return address_.to_string(); }
  [[nodiscard]] int queries(const std::string& name, std::uint16_t type) const {
    const auto found = counts_.find({name, type});
    return found == counts_.end() ? 0 : found->second;
  }
  [[nodiscard]] int all_queries() const {
    int sum = 0;
    for (const auto& [query, count] : counts_) sum += count;
    return sum;
  }
  [[nodiscard]] int tcp_connections() const { return static_cast<int>(streams_.size()); }

  std::map<std::string, DnsRecord> zone;

 private:
  // One query per connection will do.
  struct Stream final : TransportHandler {
    Stream(DnsServer& of, std::unique_ptr<Transport> on) : server(of), transport(std::move(on)) {
      transport->set_handler(this);
    }
    void on_readable() override {
      std::array<std::uint8_t, 2048> buffer;
      for (;;) {
        const ReadResult result = transport->read(buffer);
        if (result.status != ReadResult::Status::bytes) break;
        bytes.insert(bytes.end(), buffer.begin(),
                     buffer.begin() + static_cast<std::ptrdiff_t>(result.bytes));
      }
      while (bytes.size() >= 2) {
        const std::size_t length = (std::size_t{bytes[0]} << 8) | bytes[1];
        if (bytes.size() < 2 + length) return;
        std::string reply = server.reply_to(bytes.data() + 2, length, true);
        bytes.erase(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(2 + length));
        ChunkQueue queue(server.pool_);
        const char prefix[] = {static_cast<char>(reply.size() >> 8),
                               static_cast<char>(reply.size() & 0xff)};
        queue.append({prefix, 2});
        queue.append(reply);
        EXPECT_TRUE(transport->write(queue).has_value());
      }
    }
    void on_writable() override {}

    DnsServer& server;
    std::unique_ptr<Transport> transport;
    std::vector<std::uint8_t> bytes;
  };

  void on_accept(FileDescriptor socket, const SocketAddress& peer) override {
    streams_.push_back(
        std::make_unique<Stream>(*this, make_tcp_transport(loop_, std::move(socket), peer, {})));
  }

  void on_ready(Readiness) override {
    for (;;) {
      std::array<std::uint8_t, 2048> buffer;
      sockaddr_storage from;
      socklen_t length = sizeof from;
      const ssize_t got = ::recvfrom(udp_.get(), buffer.data(), buffer.size(), 0,
                                     reinterpret_cast<sockaddr*>(&from), &length);
      if (got < 0) return;
      const std::string reply = reply_to(buffer.data(), static_cast<std::size_t>(got), false);
      if (reply.empty()) continue;
      ::sendto(udp_.get(), reply.data(), reply.size(), 0, reinterpret_cast<sockaddr*>(&from),
               length);
    }
  }

  // The message of RFC 1035 §4.1: header, the question as it came, answers.
  std::string reply_to(const std::uint8_t* query, std::size_t size, bool over_tcp) {
    if (size < 12 + 5) return {};
    std::string name;
    std::size_t at = 12;
    while (at < size && query[at] != 0) {
      if (!name.empty()) name += '.';
      name.append(reinterpret_cast<const char*>(query + at + 1), query[at]);
      at += 1 + query[at];
    }
    for (char& c : name) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
    const auto type = static_cast<std::uint16_t>((query[at + 1] << 8) | query[at + 2]);
    const std::size_t question_end = at + 5;
    ++counts_[{name, type}];

    const auto found = zone.find(name);
    const DnsRecord record = found != zone.end() ? found->second : DnsRecord{};
    using Manner = DnsRecord::Manner;
    if (record.manner == Manner::silent) return {};
    const bool truncated = record.manner == Manner::truncates && !over_tcp;
    std::string answers;
    unsigned count = 0;
    for (const auto& literal : record.addresses) {
      const auto address = *SocketAddress::parse(literal, 0);
      if (truncated || address.is_ipv6() != (type == kTypeAaaa)) continue;
      append_answer(answers, type, record.ttl, address);
      ++count;
    }
    const unsigned code = found == zone.end() ? 3U : record.manner == Manner::fails ? 2U : 0U;
    std::string reply(reinterpret_cast<const char*>(query), 2);
    append16(reply, 0x8180U | (truncated ? 0x0200U : 0U) | code);
    append16(reply, 1);
    append16(reply, count);
    append16(reply, 0);
    append16(reply, 0);
    reply.append(reinterpret_cast<const char*>(query + 12), question_end - 12);
    return reply + answers;
  }

  static void append_answer(std::string& out, std::uint16_t type, std::uint32_t ttl,
                            const SocketAddress& address) {
    append16(out, 0xc00c);  // The name of the question.
    append16(out, type);
    append16(out, 1);
    append16(out, ttl >> 16);
    append16(out, ttl & 0xffff);
    const bool ipv6 = address.is_ipv6();
    append16(out, ipv6 ? 16 : 4);
    const void* bytes = ipv6 ? static_cast<const void*>(
                                   &reinterpret_cast<const sockaddr_in6*>(address.get())->sin6_addr)
                             : static_cast<const void*>(
                                   &reinterpret_cast<const sockaddr_in*>(address.get())->sin_addr);
    out.append(static_cast<const char*>(bytes), ipv6 ? 16 : 4);
  }
  static void append16(std::string& out, unsigned value) {
    out += static_cast<char>((value >> 8) & 0xff);
    out += static_cast<char>(value & 0xff);
  }

  EventLoop& loop_;
  ChunkPool pool_;
  FileDescriptor udp_;
  SocketAddress address_;
  std::map<std::pair<std::string, std::uint16_t>, int> counts_;
  std::vector<std::unique_ptr<Stream>> streams_;
  std::unique_ptr<TcpListener> listener_;
};

// A hosts file with these lines, for as long as the object lives.
class HostsFile {
 public:
  explicit HostsFile(const std::string& text) {
    const int fd = ::mkstemp(path_.data());
    EXPECT_GE(fd, 0);
    EXPECT_EQ(::write(fd, text.data(), text.size()), static_cast<ssize_t>(text.size()));
    ::close(fd);
  }
  ~HostsFile() { ::unlink(path_.c_str()); }
  HostsFile(const HostsFile&) = delete;
  HostsFile& operator=(const HostsFile&) = delete;
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  std::string path_ = ::testing::TempDir() + "/titanium-hosts-XXXXXX";
};

}  // namespace titanium::net::testing
