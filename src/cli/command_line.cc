// SPDX-License-Identifier: MIT
#include "cli/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "cli/commands.h"
#include "cli/output.h"
#include "config/diagnostic.h"
#include "config/reference.h"
#include "titanium/version.h"

namespace titanium::cli {
namespace {

constexpr std::string_view kUsageHint = "'titanium help' lists commands and options";

// A word of the command line for a message: it must not be able to control the terminal.
[[nodiscard]] std::string quoted(std::string word) {
  std::ranges::replace_if(word, [](unsigned char c) { return c < 0x20 || c == 0x7f; }, '?');
  return "'" + word + "'";
}

// What is wrong with a port that was given as `text`; empty if nothing is.
[[nodiscard]] std::string port_problem(const std::string& text) {
  std::uint16_t port = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, port);
  if (error == std::errc::result_out_of_range && rest == end) {
    return fmt::format("{} is out of range (0 to 65535)", quoted(text));
  }
  if (error != std::errc() || rest != end) return fmt::format("{} is not a number", quoted(text));
  return {};
}

// The commands and their options; parse_and_run() fills in the members.
class CommandLine {
 public:
  CommandLine() : app_("titanium: an HTTP reverse proxy", "titanium") {
    app_.footer(
        "Examples:\n"
        "  titanium run                     something to try, with a demo origin behind it\n"
        "  titanium run -c twp.yaml         serve as the file says\n"
        "  titanium help run                more about one command");
    add_run();
    add_test();
    // What most programs call it. The text is unused: parse_and_run() prints our own.
    app_.set_version_flag("-V,--version", std::string(version()), "Print the version");
    version_ = add_command("version", "Print the version", "titanium version");
    help_ = add_command("help", "Explain the program, or one command", "titanium help run");
    help_->add_option("command", help_topic_, "The command to explain");
    config_docs_ = add_command("config-docs", "Print the reference of all configuration keys",
                               "titanium config-docs > docs/configuration.md");
    config_docs_->group("");  // For the build of the documentation: not listed.
    // After one command, `run` in `help run` is a word and no second command.
    app_.require_subcommand(0, 1);
    allow_extras(app_);
  }

  [[nodiscard]] int parse_and_run(int argc, const char* const* argv) {
    try {
      app_.parse(argc, argv);
    } catch (const CLI::CallForHelp&) {
      return show(app_.help());
    } catch (const CLI::CallForVersion&) {
      return show_version();
    } catch (const CLI::ParseError& error) {
      return usage_error(error.what());
    }
    if (const std::string text = first_unknown(); !text.empty()) return usage_error(text);
    return dispatch();
  }

 private:
  CLI::App* add_command(const std::string& name, const std::string& purpose,
                        const std::string& example) {
    CLI::App* command = app_.add_subcommand(name, purpose);
    command->footer("Example:\n  " + example);
    allow_extras(*command);
    return command;
  }

  // What is unknown is reported by us, with the nearest known word.
  static void allow_extras(CLI::App& app) {
    app.set_help_flag("-h,--help", "Print this help");
    app.allow_extras();
  }

  void add_run() {
    run_ = add_command("run", "Start the proxy; Ctrl-C ends it", "titanium run -c twp.yaml");
    run_->add_option("-c,--config", run_request_.config_path,
                     "Configuration file; without it: a demo origin behind 127.0.0.1")
        ->type_name("FILE");
    run_->add_flag("-v,--verbose", run_request_.verbose, "Log everything from debug up");
    port_ = run_->add_option("--port", run_request_.port, "Port of the demo, 0: any free one")
                ->type_name("PORT")
                ->check(port_problem, "0 to 65535")
                ->capture_default_str();
    tls_port_ = run_->add_option("--tls-port", run_request_.tls_port, "TLS port of the demo")
                    ->type_name("PORT")
                    ->check(port_problem, "0 to 65535")
                    ->capture_default_str();
  }

  void add_test() {
    test_ = add_command("test", "Check a configuration file without listening",
                        "titanium test -c twp.yaml --strict");
    test_->add_option("-c,--config", test_request_.config_path, "Configuration file")
        ->type_name("FILE")
        ->required();
    test_->add_flag("--strict", test_request_.strict, "Warnings, such as unknown keys, fail too");
  }

  [[nodiscard]] int dispatch() {
    if (run_->parsed()) {
      const bool ports_given = port_->count() + tls_port_->count() > 0;
      if (!run_request_.config_path.empty() && ports_given) {
        return usage_error(
            "--port and --tls-port are for the demo; with -c the file says the port");
      }
      return run(run_request_);
    }
    if (test_->parsed()) return test(test_request_);
    if (version_->parsed()) return show_version();
    if (help_->parsed()) return print_help();
    if (config_docs_->parsed()) {
      std::string text = config::render_reference();
      if (text.ends_with('\n')) text.pop_back();
      return show(text);
    }
    return usage_error("a command is missing");
  }

  [[nodiscard]] int print_help() {
    if (help_topic_.empty()) {
      // help() would explain the command that was chosen, which is `help` itself.
      CommandLine fresh;
      return show(fresh.app_.help());
    }
    for (const CLI::App* command : app_.get_subcommands([](const CLI::App*) { return true; })) {
      if (command->get_name() != help_topic_) continue;
      return show(command->help("titanium"));
    }
    return usage_error(unknown_command(help_topic_));
  }

  // Who asks for a text and does not get it must not be told that all went well.
  [[nodiscard]] static int show(std::string_view text) {
    return print_line(text) ? kExitClean : kExitFailed;
  }

  [[nodiscard]] static int show_version() { return show(fmt::format("titanium {}", version())); }

  [[nodiscard]] static int usage_error(const std::string& text) {
    print_note(text);
    print_note(kUsageHint);
    return kExitUsage;
  }

  // A sentence about the first argument that nobody knows; empty if there is none.
  [[nodiscard]] std::string first_unknown() {
    for (const CLI::App* command : app_.get_subcommands()) {
      if (const auto unknown = command->remaining(); !unknown.empty()) {
        return unknown_argument(unknown.front(), *command);
      }
    }
    const auto unknown = app_.remaining();
    if (unknown.empty()) return {};
    if (unknown.front().starts_with('-')) return unknown_argument(unknown.front(), app_);
    return unknown_command(unknown.front());
  }

  [[nodiscard]] std::string unknown_command(const std::string& word) {
    std::vector<std::string> known;
    for (const CLI::App* command : app_.get_subcommands([](const CLI::App*) { return true; })) {
      known.push_back(command->get_name());
    }
    return fmt::format("there is no command {}{}", quoted(word), suggestion(word, known));
  }

  [[nodiscard]] static std::string unknown_argument(const std::string& word,
                                                    const CLI::App& command) {
    if (!word.starts_with('-')) {
      return fmt::format("{} takes no argument {}", command.get_name(), quoted(word));
    }
    std::vector<std::string> known;
    for (const CLI::Option* option : command.get_options()) {
      for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
      for (const std::string& name : option->get_snames()) known.push_back("-" + name);
    }
    const std::string name = word.substr(0, word.find('='));
    return fmt::format("there is no option {}{}", quoted(name), suggestion(name, known));
  }

  [[nodiscard]] static std::string suggestion(const std::string& word,
                                              const std::vector<std::string>& known) {
    const std::vector<std::string_view> views(known.begin(), known.end());
    const std::string_view nearest = config::nearest(word, views);
    return nearest.empty() ? std::string() : fmt::format(", did you mean '{}'?", nearest);
  }

  CLI::App app_;
  CLI::App* run_ = nullptr;
  CLI::App* test_ = nullptr;
  CLI::App* version_ = nullptr;
  CLI::App* help_ = nullptr;
  CLI::App* config_docs_ = nullptr;
  CLI::Option* port_ = nullptr;
  CLI::Option* tls_port_ = nullptr;
  RunRequest run_request_;
  TestRequest test_request_;
  std::string help_topic_;
};

}  // namespace

int run_command_line(int argc, const char* const* argv) {
  return CommandLine().parse_and_run(argc, argv);
}

}  // namespace titanium::cli
