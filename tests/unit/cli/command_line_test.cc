// SPDX-License-Identifier: MIT
#include "cli/command_line.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdio_ext.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "cli/commands.h"
#include "net/file_descriptor.h"
#include "titanium/version.h"
#include "unit/cli/support.h"

namespace titanium::cli {
namespace {

struct Outcome {
  int code = -1;
  std::string out;
  std::string err;
};

[[nodiscard]] Outcome titanium(const std::vector<std::string>& arguments) {
  std::vector<const char*> argv{"titanium"};
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  Outcome outcome;
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  outcome.code = run_command_line(static_cast<int>(argv.size()), argv.data());
  outcome.out = testing::internal::GetCapturedStdout();
  outcome.err = testing::internal::GetCapturedStderr();
  return outcome;
}

TEST(CommandLine, PrintsTheVersion) {
  for (const std::string_view word : {"version", "--version", "-V"}) {
    SCOPED_TRACE(std::string(word));
    const Outcome outcome = titanium({std::string(word)});
    EXPECT_EQ(outcome.code, kExitClean);
    EXPECT_EQ(outcome.out, "titanium " + std::string(version()) + "\n");
    EXPECT_EQ(outcome.err, "");
  }
}

// Standard output goes to /dev/full while this lives.
class FullDisk {
 public:
  FullDisk() : before_(::dup(STDOUT_FILENO)) {
    std::fflush(stdout);
    const net::FileDescriptor full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
    EXPECT_EQ(::dup2(full.get(), STDOUT_FILENO), STDOUT_FILENO);
  }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;
  ~FullDisk() {
    __fpurge(stdout);
    std::clearerr(stdout);
    EXPECT_EQ(::dup2(before_.get(), STDOUT_FILENO), STDOUT_FILENO);
  }

 private:
  net::FileDescriptor before_;
};

TEST(CommandLine, FailsIfWhatItWasAskedForCannotBeWritten) {
  if (::access("/dev/full", W_OK) != 0) GTEST_SKIP() << "there is no /dev/full";
  const TemporaryFolder folder;
  write_file(folder.file("twp.yaml"), "listeners: [{ port: 0, forwardHost: 127.0.0.1 }]\n");
  const std::vector<std::vector<std::string>> cases = {{"version"},
                                                       {"help"},
                                                       {"help", "run"},
                                                       {"--help"},
                                                       {"config-docs"},
                                                       {"run", "-h"},
                                                       {"test", "-c", folder.file("twp.yaml")}};
  for (const auto& arguments : cases) {
    SCOPED_TRACE(testing::PrintToString(arguments));
    std::vector<const char*> argv{"titanium"};
    for (const std::string& argument : arguments) argv.push_back(argument.c_str());
    testing::internal::CaptureStderr();
    int code = kExitClean;
    {
      const FullDisk full;
      code = run_command_line(static_cast<int>(argv.size()), argv.data());
    }
    const std::string err = testing::internal::GetCapturedStderr();
    EXPECT_EQ(code, kExitFailed);
    EXPECT_TRUE(err.contains("standard output cannot be written: No space left")) << err;
  }
}

TEST(CommandLine, ExplainsEverythingWithAnExample) {
  const std::vector<std::vector<std::string>> cases = {
      {"--help"},         {"-h"},           {"help"},          {"run", "-h"},  {"help", "run"},
      {"test", "--help"}, {"help", "test"}, {"version", "-h"}, {"help", "-h"}, {"help", "version"}};
  for (const auto& arguments : cases) {
    SCOPED_TRACE(testing::PrintToString(arguments));
    const Outcome outcome = titanium(arguments);
    EXPECT_EQ(outcome.code, kExitClean);
    EXPECT_TRUE(outcome.out.contains("Example"));
    EXPECT_TRUE(outcome.out.contains("titanium "));
    EXPECT_EQ(outcome.err, "");
  }
}

TEST(CommandLine, ExplainsTheOptionsOfOneCommand) {
  const Outcome outcome = titanium({"help", "run"});
  EXPECT_TRUE(outcome.out.contains("--config"));
  EXPECT_TRUE(outcome.out.contains("--tls-port"));
  EXPECT_FALSE(outcome.out.contains("--strict"));
}

struct Misuse {
  std::string_view name;
  std::vector<std::string> arguments;
  std::string_view expected;  // In the message.
};

TEST(CommandLine, RefusesMisuseAndNamesTheNearestWord) {
  const Misuse cases[] = {
      {"no command", {}, "a command is missing"},
      {"mistyped command", {"rum"}, "did you mean 'run'?"},
      {"mistyped command with options", {"tset", "-c", "x"}, "did you mean 'test'?"},
      {"unknown command", {"frobnicate"}, "there is no command 'frobnicate'"},
      {"mistyped option", {"run", "--prot", "1"}, "did you mean '--port'?"},
      {"mistyped option with value", {"test", "-c", "x", "--strit=1"}, "did you mean '--strict'?"},
      {"option of another command", {"run", "--strict"}, "there is no option '--strict'"},
      {"argument too many", {"run", "file"}, "takes no argument 'file'"},
      {"no value", {"run", "-c"}, "--config"},
      {"no number", {"run", "--port", "abc"}, "--port: 'abc' is not a number"},
      {"number with a unit", {"run", "--port", "80x"}, "--port: '80x' is not a number"},
      {"empty number", {"run", "--port="}, "--port"},
      {"number too large", {"run", "--port", "65536"}, "'65536' is out of range (0 to 65535)"},
      {"huge number", {"run", "--tls-port", "99999999999"}, "is out of range (0 to 65535)"},
      {"negative number", {"run", "--port=-1"}, "--port: '-1' is not a number"},
      {"mistyped option without command", {"--versoin"}, "did you mean '--version'?"},
      {"no file", {"test"}, "--config"},
      {"file and port", {"run", "-c", "x", "--port", "1"}, "with -c the file says the port"},
      {"help on nothing", {"help", "rn"}, "did you mean 'run'?"},
      {"control characters", {"\x1b[2J"}, "'?[2J'"},
  };
  for (const Misuse& c : cases) {
    SCOPED_TRACE(std::string(c.name));
    const Outcome outcome = titanium(c.arguments);
    EXPECT_EQ(outcome.code, kExitUsage);
    EXPECT_TRUE(outcome.err.contains(c.expected)) << outcome.err;
    EXPECT_EQ(outcome.out, "");
  }
}

TEST(CommandLine, DoesNotListWhatIsForTheBuild) {
  EXPECT_FALSE(titanium({"help"}).out.contains("config-docs"));
  EXPECT_TRUE(titanium({"config-docs"}).out.contains("listeners"));
}

constexpr std::string_view kGoodConfig = R"(
listeners:
  - { host: 127.0.0.1, port: 0, forwardHost: 127.0.0.1, forwardPort: 1 }
)";

TEST(TestCommand, AcceptsAGoodFile) {
  const TemporaryFolder folder;
  write_file(folder.file("twp.yaml"), kGoodConfig);
  const Outcome outcome = titanium({"test", "-c", folder.file("twp.yaml")});
  EXPECT_EQ(outcome.code, kExitClean);
  EXPECT_TRUE(outcome.out.contains("ok (1 listeners, 0 routes, 0 clusters)")) << outcome.err;
}

TEST(TestCommand, FailsForAWarningOnlyWhenStrict) {
  const TemporaryFolder folder;
  const std::string file = folder.file("twp.yaml");
  write_file(file, std::string(kGoodConfig) + "colour: red\n");
  EXPECT_EQ(titanium({"test", "-c", file}).code, kExitClean);
  const Outcome strict = titanium({"test", "-c", file, "--strict"});
  EXPECT_EQ(strict.code, kExitFailed);
  EXPECT_TRUE(strict.err.contains("colour"));
}

TEST(TestCommand, FailsForAMissingFile) {
  const Outcome outcome = titanium({"test", "-c", "/nonexistent/twp.yaml"});
  EXPECT_EQ(outcome.code, kExitFailed);
  EXPECT_TRUE(outcome.err.contains("/nonexistent/twp.yaml"));
}

TEST(TestCommand, ReportsCertificatesThatCannotBeUsed) {
  const TemporaryFolder folder;
  write_file(folder.file("bad.pem"), "this is no certificate\n");
  write_file(folder.file("twp.yaml"),
             "listeners:\n"
             "  - { host: 127.0.0.1, port: 0, decryptSsl: true, forwardHost: 127.0.0.1 }\n"
             "certificates:\n"
             "  certificatePath: bad.pem\n"
             "  privateKeyPath: bad.pem\n");
  const Outcome outcome = titanium({"test", "-c", folder.file("twp.yaml")});
  EXPECT_EQ(outcome.code, kExitFailed);
  EXPECT_TRUE(outcome.err.contains("bad.pem")) << outcome.err;
}

}  // namespace
}  // namespace titanium::cli
