// SPDX-License-Identifier: MIT
//
// The measurement: for each repeat, for each row, the steps of the ramp; in each step all arms of
// the row one after the other (A B C, A B C, …), so that a drift of the machine hits all of them.
#pragma once

#include "options.h"

namespace titanium::probe {

// Returns the exit code: 0; 1 if a product did not start or results could not be written; 2 if no
// arm is left to measure.
[[nodiscard]] int run_ramp(const RampOptions& options);

// --print-arms and --print-groups, on standard output.
[[nodiscard]] int print_arms(const RampOptions& options);
[[nodiscard]] int print_groups(const RampOptions& options);

}  // namespace titanium::probe
