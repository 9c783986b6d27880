// SPDX-License-Identifier: MIT
#include "config/reference.h"

#include <fmt/core.h>

#include "config/schema.h"

namespace titanium::config {
namespace {

constexpr std::string_view kExample = R"(schemaVersion: "7.1"

listeners:
  - host: 127.0.0.1
    port: 8080
  - host: "*"
    port: 8443
    decryptSsl: true

routes:
  - id: api
    clusterId: backends
    match:
      host: www.example.com
      path: /api/
  - id: everything-else
    clusterId: pages
    match:
      path: /

clusters:
  - id: backends
    algorithm: LeastRequests
    destinations:
      - address: 10.0.0.11
        port: 9000
      - address: 10.0.0.12
        port: 9000
        weight: 2
  - id: pages
    destinations:
      - address: pages.internal.example
        useHttps: true

server:
  timeouts:
    requestTimeoutSeconds: 30

logging:
  minimumLevel: Information
)";

constexpr std::string_view kIntroduction = R"(# Configuration

<!-- Rendered from src/config/schema.cc by `titanium config-docs`. Do not edit. -->

`titanium run -c twp.yaml` reads one YAML file. `titanium test -c twp.yaml` checks it and starts
nothing.

```yaml
)";

constexpr std::string_view kRules = R"(```

## Rules

- All problems of a file are reported at once, each as `file:line:column: error: key: what is wrong`.
  With an error nothing starts.
- A key that nobody knows is a warning that names the nearest known one. `titanium test --strict`
  takes warnings for errors.
- A key that is absent or `null` has its default. Words such as `RoundRobin` may be written in any
  case; keys may not.
- File names are relative to the folder of the configuration file.
- Times are in seconds, fractions allowed. 0 switches a time-out off.
- A key may be given once. Anchors and aliases of YAML work, merge keys (`<<`) do not.
- A file has at most 8 MiB and one document.
)";

// What a cell of a table cannot hold.
std::string cell(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '|') out += '\\';
    out += c;
  }
  return out;
}

std::string code(std::string_view text) { return fmt::format("`{}`", text); }

std::string listed_words(const Row& row) {
  std::string list;
  for (const std::string_view word : row.words) {
    if (!list.empty()) list += ", ";
    list += code(word);
  }
  return list;
}

std::string describe_type(const Row& row) {
  switch (row.type) {
    case Type::section:
      return "block";
    case Type::sections:
      return "list of blocks";
    case Type::boolean:
      return "true or false";
    case Type::integer:
      return fmt::format("whole number, {} to {}", row.min, row.max);
    case Type::number:
      return fmt::format("number, {} to {}", row.min, row.max);
    case Type::seconds:
      return "seconds";
    case Type::text:
      return "text";
    case Type::token:
      return "token";
    case Type::word:
      return "one of " + listed_words(row);
    case Type::words:
      return "list of " + listed_words(row);
    case Type::host:
      return "host";
    case Type::bind_address:
      return "IP address";
    case Type::endpoint:
      return "IP address with port";
    case Type::host_pattern:
      return "host or wildcard";
    case Type::host_patterns:
      return "list of hosts or wildcards";
    case Type::path:
      return "path";
    case Type::method:
      return "method";
    case Type::methods:
      return "list of methods";
    case Type::header_pairs:
    case Type::text_pairs:
      return "names to texts";
    case Type::input_file:
      return "file that exists";
    case Type::output_file:
      return "file in a folder that exists";
  }
  return {};
}

std::string describe_default(const Row& row) {
  if (row.required) return "required";
  if (row.default_text.empty()) return "";
  return row.literal_default ? code(row.default_text) : std::string(row.default_text);
}

void append_table(std::string_view block, std::string& out) {
  out += "\n| Key | Value | Default | Meaning |\n|---|---|---|---|\n";
  for (const Row& row : schema()) {
    if (row.parent() != block) continue;
    out += fmt::format("| {} | {} | {} | {} |\n", code(row.key()), cell(describe_type(row)),
                       cell(describe_default(row)), cell(row.help));
  }
}

}  // namespace

std::string_view reference_example() noexcept { return kExample; }

std::string render_reference() {
  std::string out;
  out += kIntroduction;
  out += kExample;
  out += kRules;
  out += "\n## The file\n";
  append_table("", out);
  for (const Row& row : schema()) {
    if (row.type != Type::section && row.type != Type::sections) continue;
    out += fmt::format("\n## {}\n\n{}\n", code(row.path), row.help);
    append_table(row.path, out);
  }
  out +=
      "\n## Keys that are ignored\n\n"
      "Files written for other versions of the schema may have these keys. This version warns, "
      "and ignores\nthem with everything in them.\n\n";
  for (const std::string_view path : ignored_keys()) out += fmt::format("- {}\n", code(path));
  return out;
}

}  // namespace titanium::config
