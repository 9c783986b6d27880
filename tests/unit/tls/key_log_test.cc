// SPDX-License-Identifier: MIT
#include "tls/key_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <thread>
#include <vector>

#include "tls_fixture.h"

namespace titanium::tls {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class KeyLogTest : public TlsTest {
 protected:
  KeyLogTest() { ::unlink(path.c_str()); }
  ~KeyLogTest() override { ::unlink(path.c_str()); }
  const std::string path = ::testing::TempDir() + "titanium_keys_" + std::to_string(::getpid());
};

TEST_F(KeyLogTest, HasTheSecretsOfBothSides) {
  for (const bool on_server : {true, false}) {
    SCOPED_TRACE(on_server);
    ::unlink(path.c_str());
    server_context.reset();
    client_context.reset();
    server_options.key_log_path = on_server ? path : "";
    client_options.key_log_path = on_server ? "" : path;
    connect();
    const std::string text = read_file(path).value();
    EXPECT_THAT(text, HasSubstr("CLIENT_TRAFFIC_SECRET_0 "));
    EXPECT_THAT(text, HasSubstr("SERVER_HANDSHAKE_TRAFFIC_SECRET "));
    EXPECT_TRUE(text.ends_with('\n'));
  }
}

TEST_F(KeyLogTest, IsForItsOwnerOnlyAndIsAppendedTo) {
  server_options.key_log_path = path;
  connect();
  const std::size_t once = read_file(path).value().size();
  struct stat info;
  ASSERT_EQ(::stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600U);
  server_context.reset();
  connect();
  EXPECT_EQ(read_file(path).value().size(), 2 * once);
}

TEST_F(KeyLogTest, DoesNotMixLinesOfThreads) {
  KeyLog log;
  ASSERT_TRUE(log.open(path).has_value());
  std::vector<std::jthread> threads;
  for (const char c : {'a', 'b', 'c'}) {
    threads.emplace_back([&log, c] {
      for (int i = 0; i < 200; ++i) log.write(std::string(100, c));
    });
  }
  threads.clear();
  const std::string text = read_file(path).value();
  ASSERT_EQ(text.size(), 3 * 200 * 101U);
  for (std::size_t at = 0; at < text.size(); at += 101) {
    EXPECT_EQ(std::ranges::count(text.substr(at, 100), text[at]), 100);
    EXPECT_EQ(text[at + 100], '\n');
  }
}

}  // namespace
}  // namespace titanium::tls
