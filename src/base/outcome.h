// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace titanium {

// What an attempt has shown about the health of the one it was made on.
enum class Outcome : std::uint8_t {
  answered,  // It is well.
  failed,    // It was not reached, or did not do what it was asked for.
  unknown,   // Nothing: it was not asked, or said that it leaves this one to others.
};

}  // namespace titanium
