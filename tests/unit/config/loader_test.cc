// SPDX-License-Identifier: MIT
#include "config/loader.h"

#include <gmock/gmock.h>

#include "config/reference.h"
#include "unit/config/support.h"

namespace titanium::config {
namespace {

using testing::ElementsAre;

TEST(LoadText, ReportsAllProblemsOfAFileAtOnceInItsOrder) {
  EXPECT_THAT(
      messages(R"(
serverr: {}
listeners:
  - host: example.com
    port: 70000
    forwardhost: origin
    decryptSsl: maybe
    forwardHost: origin:80
  - port: eighty
    forwardHost: a
server:
  enableHttp3: true
  viaHeaderPseudonym: two words
  forwardedHeaders: Bot
  timeouts:
    requestTimeoutSeconds: -1
    connectTimeOutSeconds: 20s
    drainTimeoutSeconds: 0.0001
    idleReadTimeoutSecond: 1
  tls: {supportedSslProtocols: [Tls11, Tls13]}
  accessLog: {path: no/such/folder.log, sampleRate: 2}
  port: 1
  port: 2
plus: {enabled: true}
)"),
      ElementsAre("twp.yaml:2:1: warning: unknown key 'serverr' is ignored; did you mean 'server'?",
                  "twp.yaml:4:5: error: listeners[0].host: 'example.com' is not an IP address; "
                  "write the address of an interface, or '*' for all",
                  "twp.yaml:5:5: error: listeners[0].port: 70000 is out of range (0 to 65535)",
                  "twp.yaml:6:5: warning: listeners[0]: unknown key 'forwardhost' is ignored; did "
                  "you mean 'forwardHost'?",
                  "twp.yaml:7:5: error: listeners[0].decryptSsl: 'maybe' is not true or false",
                  "twp.yaml:8:5: error: listeners[0].forwardHost: 'origin:80' has a port; write "
                  "the host without it",
                  "twp.yaml:9:5: error: listeners[1].port: 'eighty' is not a whole number",
                  "twp.yaml:12:3: warning: server.enableHttp3: is not supported in this version "
                  "and is ignored",
                  "twp.yaml:13:3: error: server.viaHeaderPseudonym: 'two words' is not a token; "
                  "letters, digits and !#$%&'*+-.^_`|~ are allowed",
                  "twp.yaml:14:3: error: server.forwardedHeaders: 'Bot' is not one of: None, "
                  "XForwarded, Forwarded, Both; did you mean 'Both'?",
                  "twp.yaml:16:5: error: server.timeouts.requestTimeoutSeconds: -1 is out of range "
                  "(0 to 31622400)",
                  "twp.yaml:17:5: error: server.timeouts.connectTimeOutSeconds: '20s' is not a "
                  "number",
                  "twp.yaml:18:5: error: server.timeouts.drainTimeoutSeconds: is shorter than a "
                  "millisecond; 0 switches the time-out off",
                  "twp.yaml:19:5: warning: server.timeouts: unknown key 'idleReadTimeoutSecond' is "
                  "ignored; did you mean 'idleReadTimeoutSeconds'?",
                  "twp.yaml:20:33: error: server.tls.supportedSslProtocols[0]: 'Tls11' is not one "
                  "of: Tls12, Tls13; did you mean 'Tls12'?",
                  testing::MatchesRegex("twp.yaml:21:15: error: server.accessLog.path: the folder "
                                        "'/.*/no/such' does not exist"),
                  "twp.yaml:21:41: error: server.accessLog.sampleRate: 2 is out of range (0 to 1)",
                  "twp.yaml:22:3: warning: server: unknown key 'port' is ignored",
                  "twp.yaml:23:3: error: the key 'port' is given twice, first in line 22",
                  "twp.yaml:24:1: warning: plus: is not supported in this version and is ignored"));
}

TEST(LoadText, GivesNoConfigWithErrorsAndOneWithWarnings) {
  const LoadOutcome wrong = load_text("listeners: [{port: x, forwardHost: a}]", "a.yaml");
  EXPECT_TRUE(wrong.has_errors());
  EXPECT_FALSE(wrong.has_warnings());
  const LoadOutcome odd = load_text("listeners: [{prot: 1, forwardHost: a}]", "a.yaml");
  EXPECT_FALSE(odd.has_errors());
  EXPECT_TRUE(odd.has_warnings());
  const LoadOutcome fine = load_text("listeners: [{port: 1, forwardHost: a}]", "a.yaml");
  EXPECT_FALSE(fine.has_errors());
  EXPECT_FALSE(fine.has_warnings());
}

TEST(LoadText, RefusesWhatIsNoBlock) {
  EXPECT_THAT(messages("just text"),
              ElementsAre("twp.yaml:1:1: error: the file must be a block of keys"));
  EXPECT_THAT(messages("- a\n"),
              ElementsAre("twp.yaml:1:1: error: the file must be a block of keys"));
}

TEST(LoadText, ReportsASyntaxErrorAlone) {
  EXPECT_THAT(messages("listeners: [\nport: }\n"),
              ElementsAre(testing::MatchesRegex("twp.yaml:2:7: error: not valid YAML: .+")));
}

TEST(LoadText, SaysNothingMoreAboutABlockThatAliasesMakeTooLarge) {
  std::string text = "clusters: &a [x, x, x, x, x, x, x, x, x, x]\n";
  for (char name = 'a'; name < 'j'; ++name) {
    text +=
        std::string(1, static_cast<char>(name + 1)) + ": &" + static_cast<char>(name + 1) + " [";
    for (int i = 0; i < 10; ++i) text += std::string(i == 0 ? "*" : ", *") + name;
    text += "]\n";
  }
  const auto lines = messages(text);
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_TRUE(lines[0].ends_with("the file has more than 200000 values, aliases expanded"));
}

// An editor that saves in pieces, a disk that is full: whatever is left gives messages, not
// crashes.
TEST(LoadText, SurvivesEveryCutOfAFile) {
  const std::string_view text = reference_example();
  int loaded = 0;
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    const LoadOutcome outcome = load_text(text.substr(0, cut), "twp.yaml");
    EXPECT_TRUE(outcome.config.has_value() || !outcome.diagnostics.empty()) << cut;
    loaded += outcome.config.has_value() ? 1 : 0;
  }
  EXPECT_GT(loaded, 0);
}

// Bytes that are no text, anywhere in the file.
TEST(LoadText, SurvivesOddBytesAnywhere) {
  const std::string_view text = reference_example();
  for (std::size_t at = 0; at < text.size(); at += 3) {
    for (const char odd : {'\0', '\xff', '\t', '{', '*', '&', '!', '\r'}) {
      std::string changed(text);
      changed[at] = odd;
      const LoadOutcome outcome = load_text(changed, "twp.yaml");
      EXPECT_TRUE(outcome.config.has_value() || !outcome.diagnostics.empty()) << at;
    }
  }
}

TEST(LoadText, BoundsTheSizeOfTheText) {
  const std::string text(kMaxFileBytes + 1, '#');
  EXPECT_THAT(messages(text), ElementsAre("twp.yaml: error: is larger than 8 MiB"));
}

TEST(LoadFile, ResolvesRelativePathsFromItsFolder) {
  const TempFolder folder;
  const std::string certificate = folder.write("b.pfx", "x");
  const std::string file = folder.write(
      "twp.yaml", "listeners: [{forwardHost: a}]\ncertificates: {certificatePath: b.pfx}\n");
  const LoadOutcome outcome = load_file(file);
  ASSERT_TRUE(outcome.config.has_value());
  EXPECT_EQ(outcome.config->certificates[0].certificate_path, certificate);
}

TEST(LoadFile, SaysWhyAFileCannotBeRead) {
  const TempFolder folder;
  const auto only_message = [](const LoadOutcome& outcome) {
    EXPECT_TRUE(outcome.has_errors());
    return outcome.diagnostics.at(0).message;
  };
  EXPECT_EQ(only_message(load_file(folder.at("none.yaml"))),
            "cannot be opened: No such file or directory");
  EXPECT_EQ(only_message(load_file(folder.at("."))), "cannot be read: Is a directory");
  EXPECT_EQ(only_message(load_file(folder.write("big.yaml", std::string(kMaxFileBytes + 1, '#')))),
            "is larger than 8 MiB");
}

TEST(LoadFile, TakesTheExamplesWithoutAWord) {
  const auto examples = std::filesystem::path(__FILE__).parent_path() / "../../../examples";
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(examples)) {
    if (entry.path().extension() != ".yaml") continue;
    ++count;
    for (const Diagnostic& diagnostic : load_file(entry.path().native()).diagnostics) {
      ADD_FAILURE() << format_diagnostic(diagnostic);
    }
  }
  EXPECT_GE(count, 5);
}

}  // namespace
}  // namespace titanium::config
