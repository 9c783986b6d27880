// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

#include "results/row.h"

namespace titanium::probe {

// Tells a person on stderr what is being measured, what came out, and how long it will still take.
class Progress {
 public:
  // `turns`: steps of all arms in all repeats; `turn`: warm-up and measuring of one.
  Progress(std::size_t turns, std::chrono::milliseconds turn);

  void note(std::string_view text) const;
  void begin_turn(std::string_view arm, std::uint32_t concurrency, std::uint32_t repeat,
                  std::uint32_t repeats);
  void end_turn(const Row& row);
  // Turns that will not be: their arm ended early.
  void skip_turns(std::size_t count);

 private:
  [[nodiscard]] std::string remaining() const;

  std::size_t turns_;
  std::size_t done_ = 0;  // Measured or skipped.
  std::size_t measured_ = 0;
  std::chrono::milliseconds turn_;
  std::chrono::steady_clock::time_point begin_;
};

// "45 s", "12 min", "2 h 05 min"
[[nodiscard]] std::string in_words(std::chrono::seconds time);

}  // namespace titanium::probe
