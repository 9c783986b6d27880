// SPDX-License-Identifier: MIT
#pragma once

namespace titanium::probe {

// From now on SIGINT, SIGTERM and SIGHUP end the probe at once, in the middle of a step: children
// die, temporary folders go, the exit code is 130. Results are in their file already. To be called
// before other threads begin, as they inherit the mask.
void end_on_signals();

}  // namespace titanium::probe
