// SPDX-License-Identifier: MIT
//
// The public API as a user sees it: no other header of the project is included here.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <string>
#include <utility>

#include "titanium/proxy.h"
#include "titanium/version.h"

namespace {

constexpr const char* kConfig = R"(
listeners:
  - { host: 127.0.0.1, port: 0, forwardHost: 127.0.0.1, forwardPort: 1 }
server:
  timeouts: { connectTimeOutSeconds: 2 }
  pooling: { threadPoolWorkerThread: 1 }
)";

// Sends one request and returns everything until the connection ends.
std::string ask(const std::string& url) {
  const auto port = static_cast<std::uint16_t>(std::stoi(url.substr(url.rfind(':') + 1)));
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  std::string answer;
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
    const std::string request = "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    char buffer[4096];
    ssize_t bytes = ::write(fd, request.data(), request.size());
    while ((bytes = ::read(fd, buffer, sizeof buffer)) > 0) {
      answer.append(buffer, static_cast<std::size_t>(bytes));
    }
  }
  ::close(fd);
  return answer;
}

TEST(Version, HasThreeNumbers) {
  EXPECT_EQ(std::count(titanium::version().begin(), titanium::version().end(), '.'), 2);
}

TEST(Proxy, ServesFromTextUntilDrained) {
  std::signal(SIGPIPE, SIG_IGN);
  auto proxy = titanium::Proxy::from_text(kConfig);
  ASSERT_TRUE(proxy.has_value());
  EXPECT_TRUE(proxy->addresses().empty());
  const auto started = proxy->start();
  ASSERT_TRUE(started.has_value()) << titanium::to_string(started.error().front());
  ASSERT_EQ(proxy->addresses().size(), 1u);
  EXPECT_TRUE(proxy->addresses()[0].starts_with("http://127.0.0.1:"));
  // Nobody listens on port 1.
  EXPECT_TRUE(ask(proxy->addresses()[0]).starts_with("HTTP/1.1 502 "));
  EXPECT_TRUE(proxy->drain());
  EXPECT_EQ(ask(proxy->addresses()[0]), "");
}

TEST(Proxy, StopsWhenItIsDestroyed) {
  std::string address;
  {
    auto proxy = titanium::Proxy::from_text(kConfig);
    ASSERT_TRUE(proxy.has_value());
    ASSERT_TRUE(proxy->start().has_value());
    titanium::Proxy moved = std::move(*proxy);
    address = moved.addresses().at(0);
  }
  EXPECT_EQ(ask(address), "");
}

TEST(Proxy, RefusesToStartTwice) {
  auto proxy = titanium::Proxy::from_text(kConfig);
  ASSERT_TRUE(proxy.has_value());
  ASSERT_TRUE(proxy->start().has_value());
  const auto again = proxy->start();
  ASSERT_FALSE(again.has_value());
  EXPECT_TRUE(again.error().front().message.contains("already"));
  proxy->stop();
}

TEST(Proxy, ReportsAllProblemsOfATextWithTheirPlaces) {
  const auto proxy = titanium::Proxy::from_text(
      "listeners:\n  - port: 70000\n    forwardHost: a\n  - port: -1\n    forwardHost: a\n",
      "my.yaml");
  ASSERT_FALSE(proxy.has_value());
  ASSERT_GE(proxy.error().size(), 2u);
  EXPECT_EQ(proxy.error()[0].file, "my.yaml");
  EXPECT_EQ(proxy.error()[0].line, 2);
  EXPECT_EQ(proxy.error()[1].line, 4);
  EXPECT_TRUE(titanium::to_string(proxy.error()[0]).starts_with("my.yaml:2:"));
}

TEST(Proxy, ReportsAMissingFile) {
  const auto proxy = titanium::Proxy::from_file("/nonexistent/twp.yaml");
  ASSERT_FALSE(proxy.has_value());
  EXPECT_FALSE(proxy.error().empty());
}

TEST(Proxy, NamesAPortThatIsTaken) {
  const int taken = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  ASSERT_EQ(::bind(taken, reinterpret_cast<const sockaddr*>(&address), length), 0);
  ASSERT_EQ(::listen(taken, 1), 0);
  ASSERT_EQ(::getsockname(taken, reinterpret_cast<sockaddr*>(&address), &length), 0);
  const std::string port = std::to_string(ntohs(address.sin_port));

  auto proxy = titanium::Proxy::from_text("listeners:\n  - { host: 127.0.0.1, port: " + port +
                                          ", forwardHost: 127.0.0.1 }\n");
  ASSERT_TRUE(proxy.has_value());
  const auto started = proxy->start();
  ASSERT_FALSE(started.has_value());
  EXPECT_TRUE(started.error().front().message.contains(port));
  EXPECT_EQ(started.error().front().key, "listeners[0].port");
  EXPECT_EQ(started.error().front().line, 2);

  ::close(taken);
  EXPECT_TRUE(proxy->start().has_value());  // What was wrong is gone.
}

}  // namespace
