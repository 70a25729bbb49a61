// SPDX-License-Identifier: Apache-2.0
// Host signals raised by guest code (SIGSEGV, SIGBUS, SIGFPE, SIGILL) end the launch, not the process. The handler
// leaves the fibre by resuming its worker's scheduler; signals outside guest code go on to the handler installed before
// ours.
#pragma once
#include "device/schedule/worker.h"

namespace us::device {

void install_crash_handler();  // once per process; later calls do nothing

// Lives on a worker thread's stack: gives the thread its alternate signal stack and names its worker to the handler.
class CrashGuard {
 public:
  explicit CrashGuard(Worker*);
  ~CrashGuard();
  CrashGuard(const CrashGuard&) = delete;
  CrashGuard& operator=(const CrashGuard&) = delete;

 private:
  std::vector<u8> stack_;
};

Fault crash_fault(Warp&, const Crash&);

}  // namespace us::device
