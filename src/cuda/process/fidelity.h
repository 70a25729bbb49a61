// SPDX-License-Identifier: Apache-2.0
// The process's fidelity report. Written at exit: text to stderr with --verbose, JSON to the file of --json.
#pragma once
#include "base/report.h"

namespace us::driver {
class CompileTimes;
class Counts;
}  // namespace us::driver

namespace us::cuda {
Report& fidelity();                     // thread safe; lives until the process ends
driver::CompileTimes& compile_times();  // the same
driver::Counts& executed();             // of --count; the same
}  // namespace us::cuda
