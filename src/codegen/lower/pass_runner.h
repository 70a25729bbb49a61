// SPDX-License-Identifier: Apache-2.0
// Runs a pass by its name in base/passes.inc: leaves it out, takes its time, prints and checks what it made.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "codegen/lower/lowered.h"

namespace us::codegen {

struct PassWatch {
#ifdef __OPTIMIZE__
  bool verify = false;  // ir::verify after each pass
#else
  bool verify = true;
#endif
  std::string dump_after;  // name of a pass, or "all"
  // What verify found after a pass; without it the process ends.
  std::function<void(Pass, const std::string&)> broken;
};

class PassRunner {
 public:
  PassRunner(const ir::Module& m, PassSet off, PassWatch watch) : m_(m), off_(off), watch_(std::move(watch)) {}

  // `body` changes what is lowered.
  template <class F>
  void run(Pass p, const Lowered& l, F&& body) {
    if (off_.has(p)) return;
    const double start = now_ms();
    body();
    done(p, l, now_ms() - start);
  }

  std::vector<PassTime> times() const;  // of passes that ran, in the order of the table
  std::string dump;                     // text of --dump-after

 private:
  static double now_ms();
  void done(Pass, const Lowered&, double ms);

  const ir::Module& m_;
  const PassSet off_;
  const PassWatch watch_;
  struct Count {
    u32 runs = 0;
    double ms = 0;
  };
  Count counts_[static_cast<std::size_t>(Pass::Count)];
};

}  // namespace us::codegen
