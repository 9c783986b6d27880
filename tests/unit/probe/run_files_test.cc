// SPDX-License-Identifier: MIT
//
// scratch.h, certificates.h, result_files.h and the small helpers beside them.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "results/environment.h"
#include "run/arm_processes.h"
#include "run/certificates.h"
#include "run/progress.h"
#include "run/result_files.h"
#include "run/scratch.h"
#include "tls/context.h"

namespace titanium::probe {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;

TEST(ScratchFolder, GoesWithEverythingInIt) {
  std::filesystem::path path;
  {
    auto folder = ScratchFolder::create();
    ASSERT_TRUE(folder);
    path = folder->path();
    std::filesystem::create_directory(path / "sub");
    ASSERT_TRUE(write_file(path / "sub/file", "text"));
    EXPECT_EQ(read_file(path / "sub/file"), "text");
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(ScratchFolder, StaysIfItIsToBeKept) {
  std::filesystem::path path;
  {
    auto folder = ScratchFolder::create();
    ASSERT_TRUE(folder);
    path = folder->path();
    folder->keep();
  }
  EXPECT_TRUE(std::filesystem::exists(path));
  std::filesystem::remove_all(path);
}

TEST(ReadFile, IsEmptyForWhatIsNotThere) { EXPECT_EQ(read_file("/no/such/file"), ""); }

TEST(WriteFile, FailsWhereItMayNot) { EXPECT_FALSE(write_file("/no/such/folder/file", "text")); }

TEST(Certificates, AreWhatAServerAndItsClientCanUse) {
  auto folder = ScratchFolder::create();
  ASSERT_TRUE(folder);
  const auto made = make_certificates(folder->path());
  ASSERT_TRUE(made) << made.error();
  for (const char* name : {"root.pem", "leaf.pem", "leaf.key", "leaf-and-key.pem"}) {
    EXPECT_TRUE(std::filesystem::exists(folder->path() / name)) << name;
  }
  const auto pair = tls::load_key_pair((folder->path() / "leaf.pem").string(),
                                       (folder->path() / "leaf.key").string(), "");
  ASSERT_TRUE(pair) << pair.error().what;
  EXPECT_TRUE(tls::ServerContext::create({.key_pairs = {*pair}}));
  EXPECT_TRUE(tls::ClientContext::create({.ca_path = (folder->path() / "root.pem").string()}));
  const std::string both = read_file(folder->path() / "leaf-and-key.pem");
  EXPECT_THAT(both, HasSubstr("BEGIN CERTIFICATE"));
  EXPECT_THAT(both, HasSubstr("PRIVATE KEY"));
}

TEST(ResultFiles, HaveTheirHeaderAndEachRowAtOnce) {
  auto folder = ScratchFolder::create();
  ASSERT_TRUE(folder);
  auto files = ResultFiles::create(folder->path() / "new/results", "{}");
  ASSERT_TRUE(files) << files.error();
  EXPECT_THAT(files->csv().filename().string(), MatchesRegex("rps-ramp-[0-9]{8}-[0-9]{6}\\.csv"));
  EXPECT_EQ(read_file(files->csv()), std::string(csv_header()) + "\n");
  Row row;
  row.arm = "twp-reverse-http1";
  row.concurrency = 8;
  ASSERT_TRUE(files->append(row));
  const auto rows = read_csv(read_file(files->csv()));
  ASSERT_TRUE(rows) << rows.error();
  ASSERT_EQ(rows->size(), 1U);
  EXPECT_EQ(rows->front().arm, "twp-reverse-http1");
  EXPECT_EQ(rows->front().concurrency, 8U);
}

TEST(ResultFiles, OfTheSameSecondDoNotOverwriteEachOther) {
  auto folder = ScratchFolder::create();
  ASSERT_TRUE(folder);
  auto one = ResultFiles::create(folder->path(), "{}");
  auto two = ResultFiles::create(folder->path(), "{}");
  ASSERT_TRUE(one && two);
  EXPECT_NE(one->csv(), two->csv());
}

TEST(ResultFiles, SayWhereTheyCouldNotBeMade) {
  const auto files = ResultFiles::create("/proc/no/such", "{}");
  ASSERT_FALSE(files);
  EXPECT_THAT(files.error(), HasSubstr("/proc/no/such"));
}

TEST(EnvironmentJson, IsWhatTheReportReads) {
  const std::vector<std::string> command = {"rps-load-probe", "--mode", "compare"};
  const std::vector<UsedProduct> products = {{.name = "nginx",
                                              .program = "/usr/sbin/nginx",
                                              .version = "1.26.3",
                                              .flags = "--with \"quotes\"\nand lines"}};
  AbsentArm absent{.arm = {}, .status = "not installed", .reason = ""};
  absent.arm.name = "caddy-reverse-http1";
  absent.arm.row_key = "h1c-h1c";
  absent.arm.product = Product::caddy;
  const auto read = parse_environment(environment_json(command, products, std::vector{absent}));
  ASSERT_TRUE(read) << read.error();
  EXPECT_EQ(read->command, "rps-load-probe --mode compare");
  ASSERT_EQ(read->products.size(), 1U);
  EXPECT_EQ(read->products[0].name, "nginx");
  EXPECT_EQ(read->products[0].version, "1.26.3");
  EXPECT_EQ(read->products[0].flags, "--with \"quotes\"\nand lines");
  ASSERT_EQ(read->absent.size(), 1U);
  EXPECT_EQ(read->absent[0].arm, "caddy-reverse-http1");
  EXPECT_EQ(read->absent[0].product, "caddy");
  EXPECT_EQ(read->absent[0].status, "not installed");
  EXPECT_FALSE(read->machine.empty());
}

TEST(PortIn, FindsANumberByItsName) {
  EXPECT_EQ(port_in("ready http=8080 https=8443", "http"), 8080);
  EXPECT_EQ(port_in("ready http=8080 https=8443", "https"), 8443);
  EXPECT_EQ(port_in("ready port=9", "port"), 9);
  EXPECT_EQ(port_in("ready", "port"), 0);
  EXPECT_EQ(port_in("ready port=", "port"), 0);
}

TEST(FreePort, IsANewOneEachTimeAndNoneOfTheKernelsRange) {
  const std::uint16_t one = free_port();
  const std::uint16_t two = free_port();
  EXPECT_NE(one, two);
  for (const std::uint16_t port : {one, two}) {
    EXPECT_GE(port, 12'000);
    EXPECT_LT(port, 30'000);
  }
}

TEST(InWords, IsAsExactAsAPersonNeeds) {
  using std::chrono::seconds;
  EXPECT_EQ(in_words(seconds(45)), "45 s");
  EXPECT_EQ(in_words(seconds(700)), "12 min");
  EXPECT_EQ(in_words(seconds(7500)), "2 h 05 min");
}

}  // namespace
}  // namespace titanium::probe
