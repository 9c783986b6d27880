// SPDX-License-Identifier: MIT
//
// Rules that need more than one value. All report through the sections that the values came from,
// and stay silent about values that were reported already.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "config/config.h"
#include "config/section.h"

namespace titanium::config {

// Words that the schema knows but this version cannot do.
void check_listener_type(const Section& section);
void check_algorithm(const Section& section, Algorithm algorithm);

// At least one condition, and a path as its pathKind wants it.
void check_match(const Section& section, const Match& match);

// A certificate needs its key, unless it is PKCS#12, and a key needs its certificate.
void check_key_pair(const Section& section, std::string_view certificate_key,
                    std::string_view private_key_key);

void check_limits(const Section& section, const Limits& limits);
void check_logging(const Section& section, const Logging& logging);

// `sections` are the blocks of the items, index by index.
void check_listeners(const Section& file, std::span<const Section> sections, const Config& config);
void check_destinations(const Section& cluster, std::span<const Section> sections,
                        std::span<const Destination> destinations);
void check_clusters(std::span<const Section> sections, const Config& config);
// Also fills in Route::cluster.
void check_routes(std::span<const Section> sections, Config& config);

}  // namespace titanium::config
