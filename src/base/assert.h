// SPDX-License-Identifier: MIT
#pragma once

#include <cassert>

// An invariant of our own. A peer can never trigger it: what peers control is a Result.
#define TI_ASSERT(condition) assert(condition)
