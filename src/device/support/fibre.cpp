// SPDX-License-Identifier: Apache-2.0
#include "device/support/fibre.h"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#if defined(US_ASAN_FIBRES)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#elif defined(US_TSAN_FIBRES)
#include <sanitizer/tsan_interface.h>
#endif

// `ret` at the end, not an indirect jump: warps of a CTA wait at the same place, so the return addresses that the
// predictor remembers from the warp that left are those of the warp that comes back. A jump would leave them off by
// one, and every return up to compiled code would be mispredicted.
// us_fibre_start is the first frame of a fibre; an undefined return address ends unwinding there.
asm(R"(
.text
.p2align 4
.hidden us_fibre_switch
.globl us_fibre_switch
.type us_fibre_switch,@function
us_fibre_switch:
  .cfi_startproc
  push %rbp
  .cfi_adjust_cfa_offset 8
  .cfi_rel_offset rbp, 0
  push %rbx
  .cfi_adjust_cfa_offset 8
  .cfi_rel_offset rbx, 0
  push %r12
  .cfi_adjust_cfa_offset 8
  .cfi_rel_offset r12, 0
  push %r13
  .cfi_adjust_cfa_offset 8
  .cfi_rel_offset r13, 0
  push %r14
  .cfi_adjust_cfa_offset 8
  .cfi_rel_offset r14, 0
  push %r15
  .cfi_adjust_cfa_offset 8
  .cfi_rel_offset r15, 0
  mov %rsp, (%rdi)
  mov %rsi, %rsp
us_fibre_pop:
  pop %r15
  .cfi_adjust_cfa_offset -8
  .cfi_restore r15
  pop %r14
  .cfi_adjust_cfa_offset -8
  .cfi_restore r14
  pop %r13
  .cfi_adjust_cfa_offset -8
  .cfi_restore r13
  pop %r12
  .cfi_adjust_cfa_offset -8
  .cfi_restore r12
  pop %rbx
  .cfi_adjust_cfa_offset -8
  .cfi_restore rbx
  pop %rbp
  .cfi_adjust_cfa_offset -8
  .cfi_restore rbp
  ret
  .cfi_endproc
.size us_fibre_switch,.-us_fibre_switch

.p2align 4
.hidden us_fibre_resume
.globl us_fibre_resume
.type us_fibre_resume,@function
us_fibre_resume:
  cld
  mov %rdi, %rsp
  jmp us_fibre_pop
.size us_fibre_resume,.-us_fibre_resume

.p2align 4
.type us_fibre_start,@function
.globl us_fibre_start
.hidden us_fibre_start
us_fibre_start:
  .cfi_startproc
  .cfi_undefined rip
  mov %r12, %rdi
  xor %ebp, %ebp
  call *%r13
  ud2
  .cfi_endproc
.size us_fibre_start,.-us_fibre_start
)");
extern "C" void us_fibre_start();

namespace us::device {
namespace {
u64 page_bytes() {
  static const u64 bytes = u64(sysconf(_SC_PAGESIZE));
  return bytes;
}
#if defined(US_ASAN_FIBRES) || defined(US_TSAN_FIBRES)
struct Start {
  void (*entry)(void*);
  void* arg;
};
void start_instrumented(void* p) {
  Start start = *static_cast<Start*>(p);
#if defined(US_ASAN_FIBRES)
  __sanitizer_finish_switch_fiber(nullptr, nullptr, nullptr);
#endif
  start.entry(start.arg);
}
#endif
}  // namespace

bool Stack::guard_hit(const void* address) const {
  const u8* a = static_cast<const u8*>(address);
  return low && a >= low && a < low + page_bytes();
}

Stack StackPool::take() {
  if (free_.empty()) {
    void* p = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    US_CHECK(p != MAP_FAILED);
    US_CHECK(mprotect(p, page_bytes(), PROT_NONE) == 0);
    madvise(p, bytes_, MADV_NOHUGEPAGE);  // a stack uses its top; where huge pages are always on, each would cost 2 MB
    Stack s{static_cast<u8*>(p), bytes_};
    all_.push_back(s);
    return s;
  }
  Stack s = free_.back();
  free_.pop_back();
  return s;
}

StackPool::~StackPool() {
  for (const Stack& s : all_) munmap(s.low, s.bytes);
}

void prepare(Fibre& f, void (*entry)(void*), void* arg) {
  release(f);
  u8* top = f.stack.low + f.stack.bytes;
  // Fibres resume at the same depth of their stacks; a few cache lines apart, they do not fight for the same sets.
  top -= ((u64(f.stack.low) >> 18) % 16) * 192;
#if defined(US_ASAN_FIBRES) || defined(US_TSAN_FIBRES)
  top -= sizeof(Start);
  Start* start = reinterpret_cast<Start*>(top);
  *start = {entry, arg};
  entry = start_instrumented, arg = start;
#endif
#if defined(US_TSAN_FIBRES)
  f.sanitizer = __tsan_create_fiber(0);
#endif
  top = reinterpret_cast<u8*>(u64(top) & ~u64(63));
  void** frame = reinterpret_cast<void**>(top) - 9;  // leaves the stack 16-aligned at the call
  std::memset(frame, 0, 9 * sizeof(void*));
  frame[2] = reinterpret_cast<void*>(entry);  // r13
  frame[3] = arg;                             // r12
  frame[6] = reinterpret_cast<void*>(us_fibre_start);
  f.sp = frame;
}

void release(Fibre& f) {
  f.sp = nullptr;
#if defined(US_ASAN_FIBRES)
  if (f.stack.low) ASAN_UNPOISON_MEMORY_REGION(f.stack.low + page_bytes(), f.stack.bytes - page_bytes());
#elif defined(US_TSAN_FIBRES)
  if (f.sanitizer) __tsan_destroy_fiber(f.sanitizer);
  f.sanitizer = nullptr;
#endif
}

void adopt_thread(Fibre& f) {
  pthread_attr_t attr;
  void* low = nullptr;
  size_t bytes = 0;
  US_CHECK(pthread_getattr_np(pthread_self(), &attr) == 0);
  pthread_attr_getstack(&attr, &low, &bytes);
  pthread_attr_destroy(&attr);
  f.stack = {static_cast<u8*>(low), bytes};
#if defined(US_TSAN_FIBRES)
  f.sanitizer = __tsan_get_current_fiber();
#endif
}

#if defined(US_ASAN_FIBRES)
// No fake stacks to keep: detect_stack_use_after_return must stay off (its default with GCC).
void switch_fibre(Fibre& from, Fibre& to) {
  __sanitizer_start_switch_fiber(nullptr, to.stack.low, to.stack.bytes);
  us_fibre_switch(&from.sp, to.sp);
  __sanitizer_finish_switch_fiber(nullptr, nullptr, nullptr);
}
void about_to_land(Fibre& to) { __sanitizer_start_switch_fiber(nullptr, to.stack.low, to.stack.bytes); }
void landed_on(Fibre&) {}
#elif defined(US_TSAN_FIBRES)
void switch_fibre(Fibre& from, Fibre& to) {
  __tsan_switch_to_fiber(to.sanitizer, 0);
  us_fibre_switch(&from.sp, to.sp);
}
void about_to_land(Fibre&) {}
void landed_on(Fibre& to) { __tsan_switch_to_fiber(to.sanitizer, 0); }
#endif

}  // namespace us::device
