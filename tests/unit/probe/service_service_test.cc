// SPDX-License-Identifier: MIT
//
// The servers as the probe uses them: as child processes.
#include "service/service.h"

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>

#include "control/control.h"
#include "load_support.h"
#include "origin/origin.h"
#include "shim/shim.h"

namespace titanium::probe {
namespace {

using ::testing::MatchesRegex;

// A child whose standard output is a pipe.
struct Child {
  template <typename Serve>
  explicit Child(Serve serve) {
    int ends[2];
    EXPECT_EQ(::pipe(ends), 0);
    std::fflush(stdout);  // Or the child prints it, too.
    pid = ::fork();
    if (pid == 0) {
      ::dup2(ends[1], STDOUT_FILENO);
      ::close(ends[0]);
      ::close(ends[1]);
      ::_exit(serve());
    }
    ::close(ends[1]);
    output = ::fdopen(ends[0], "r");
  }
  ~Child() { std::fclose(output); }
  // Empty at the end of the output.
  [[nodiscard]] std::string line() const {
    char text[200] = {};
    return std::fgets(text, sizeof text, output) != nullptr ? text : "";
  }
  // The exit code after a signal.
  [[nodiscard]] int stop(int signal) const {
    ::kill(pid, signal);
    int status = 0;
    ::waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  pid_t pid = 0;
  std::FILE* output = nullptr;
};

TEST(Service, ServersSayWhereTheyListenAndEndOnSignals) {
  {
    const testing::Certificates certificates;
    const Child origin([&] { return serve_origin(testing::with_tls(certificates)); });
    EXPECT_THAT(origin.line(), MatchesRegex("ready http=[0-9]+ https=[0-9]+\n"));
    EXPECT_EQ(origin.stop(SIGTERM), 0);
  }
  {
    const Child control(
        [] { return serve_control({.origin_port = 1, .certificate_file = {}, .key_file = {}}); });
    EXPECT_THAT(control.line(), MatchesRegex("ready port=[0-9]+\n"));
    EXPECT_EQ(control.stop(SIGINT), 0);
  }
  {
    const Child shim([] { return serve_shim({.target_port = 1}); });
    EXPECT_THAT(shim.line(), MatchesRegex("ready port=[0-9]+\n"));
    EXPECT_EQ(shim.stop(SIGTERM), 0);
  }
}

TEST(Service, AServerEndsWithItsParent) {
  // The parent starts an origin and dies once it is ready.
  const Child parent([]() -> int {
    const Child origin(
        [] { return serve_origin({.https = false, .certificate_file = {}, .key_file = {}}); });
    std::printf("%d %s", origin.pid, origin.line().c_str());
    std::fflush(stdout);
    ::kill(::getpid(), SIGKILL);
    return 0;
  });
  const std::string line = parent.line();
  ASSERT_THAT(line, MatchesRegex("[0-9]+ ready http=.*\n"));
  int status = 0;
  ::waitpid(parent.pid, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status));
  // The origin is nobody's child of ours: it is gone when its port refuses.
  const auto port = static_cast<std::uint16_t>(std::atoi(line.substr(line.find('=') + 1).c_str()));
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  bool refused = false;
  while (!refused && std::chrono::steady_clock::now() < end) {
    const net::FileDescriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const auto address = testing::loopback(port);
    refused = ::connect(socket.get(), address.get(), address.length()) != 0;
  }
  EXPECT_TRUE(refused);
}

TEST(Service, AServerThatCannotListenSaysSoAndFails) {
  const auto taken = net::listen_tcp(testing::loopback(0), {.reuse_port = false, .accepted = {}});
  const std::uint16_t port = net::local_address_of(taken->get()).port();
  const Child origin([port] {
    return serve_origin(
        {.http_port = port, .https = false, .certificate_file = {}, .key_file = {}});
  });
  EXPECT_EQ(origin.line(), "");
  EXPECT_EQ(origin.stop(0), 1);
}

}  // namespace
}  // namespace titanium::probe
