// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

namespace titanium::test {

// How often the program has called operator new so far, from any thread. Test programs that are
// built with counting_allocator.cc have it (tests/CMakeLists.txt); its operators replace the
// standard ones in the whole program.
[[nodiscard]] std::size_t allocations() noexcept;

}  // namespace titanium::test
