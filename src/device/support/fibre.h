// SPDX-License-Identifier: Apache-2.0
// Stackful fibres: one per warp of a kernel that can block. A switch saves the six callee-saved registers and the stack
// pointer, nothing else (no signal mask, no MXCSR, no x87 control word): compiled code restores those before it calls
// out. A fibre never leaves the worker thread that made it.
#pragma once
#include <vector>

#include "base/types.h"

#if defined(__SANITIZE_ADDRESS__)
#define US_ASAN_FIBRES 1
#elif defined(__SANITIZE_THREAD__)
#define US_TSAN_FIBRES 1
#endif

namespace us::device {

// mmap'd, lowest page without access. Only touched pages cost memory.
struct Stack {
  u8* low = nullptr;  // first byte of the guard page
  u64 bytes = 0;      // guard page included
  bool guard_hit(const void* address) const;
};

inline constexpr u64 kWarpStackBytes = 4 * 1024 * 1024;  // address space; frames of big dispatched kernels pass 1 MB
inline constexpr u64 kLoopStackBytes = 8 * 1024 * 1024;  // for kernels that never block: one stack per worker

// Stacks of one size; gives back to the system only at its end. Belongs to one worker.
class StackPool {
 public:
  explicit StackPool(u64 bytes) : bytes_(bytes) {}
  ~StackPool();
  StackPool(const StackPool&) = delete;
  StackPool& operator=(const StackPool&) = delete;
  Stack take();
  void put(Stack s) { free_.push_back(s); }

 private:
  u64 bytes_;
  std::vector<Stack> free_, all_;
};

struct Fibre {
  void* sp = nullptr;  // saved stack pointer while the fibre does not run
  Stack stack;
  void* sanitizer = nullptr;  // TSan's fibre; unused otherwise
};

// `entry(arg)` runs at the first switch to the fibre; it must never return.
void prepare(Fibre&, void (*entry)(void*), void* arg);
void release(Fibre&);       // forget what the fibre was doing; its stack stays
void adopt_thread(Fibre&);  // describe the calling thread's own stack

extern "C" void us_fibre_switch(void** save_sp, void* to_sp);
extern "C" void us_fibre_resume(void* to_sp);  // enter a saved context without saving the current one

#if defined(US_ASAN_FIBRES) || defined(US_TSAN_FIBRES)
void switch_fibre(Fibre& from, Fibre& to);
// Around us_fibre_resume from a signal handler: before it, in the handler, and after it.
void about_to_land(Fibre& to);
void landed_on(Fibre& to);
#else
inline void switch_fibre(Fibre& from, Fibre& to) { us_fibre_switch(&from.sp, to.sp); }
inline void about_to_land(Fibre&) {}
inline void landed_on(Fibre&) {}
#endif

}  // namespace us::device
