// SPDX-License-Identifier: Apache-2.0
// One piece of code for all functions, whatever their parameters: it keeps the registers that carry arguments, passes
// on a copy of the arguments on the stack, and tells call_begins and call_ends. Before it, 16 bytes for each row say
// which row.
#include "cuda/process/call_trace.h"

#include <atomic>
#include <cerrno>
#include <cstring>
#include <vector>

#include <fmt/format.h>

#include "cuda/process/check.h"
#include "cuda/process/config.h"
#include "cuda/process/profile.h"

namespace us::cuda {
namespace {

constexpr u32 kRuntimeRows = 0
#define US_ENTRY(name, level, note) +1
#include "cuda/libcudart/entry_points.inc"
#undef US_ENTRY
    ;
constexpr u32 kDriverRows = 0
#define US_ENTRY(name, level, note) +1
#include "cuda/libcuda/entry_points.inc"
#undef US_ENTRY
    ;
static_assert(kRuntimeRows + kDriverRows < 2048, "more rows than call_trace.cpp has room for");

struct OpenCall {
  u64 id = 0, begin = 0;
};

// Never destroyed, as ThreadState.
std::vector<OpenCall>& open_calls() {
  static thread_local auto* const calls = new std::vector<OpenCall>;
  return *calls;
}

u64 current_call() { return open_calls().empty() ? 0 : open_calls().back().id; }

bool recording() {
  static const bool is = !setting_text("record").empty();  // config() may end the process: not before a call needs it
  return is;
}
bool wanted() { return recording() || checking() || profiling(); }

const Entry& entry(u32 row) {
  return row < kRuntimeRows ? runtime_entries()[row] : driver_entries()[row - kRuntimeRows];
}

// What a program does not write, and what it asks before it starts. <<<>>> ends in the one exception.
constexpr std::string_view kLaunch = "__cudaLaunchKernel";
bool internal(std::string_view name) {
  return (name.starts_with("__cuda") && !name.starts_with(kLaunch)) || name == "cuGetExportTable" ||
         name == "cudaGetExportTable";
}
std::string_view shown(std::string_view name) { return name.substr(name.starts_with(kLaunch) ? 2 : 0); }

std::unique_ptr<trace::Recorder> open_recorder() {
  const std::string& directory = config().settings.record;
  auto r = trace::Recorder::open(directory, current_call);
  if (!r) fmt::print(stderr, "understudy: cannot record to {}: {}\n", directory, std::strerror(errno));
  return r;
}

std::atomic<trace::Recorder*> opened = nullptr;

}  // namespace

trace::Recorder* recorder() {
  if (!recording()) return nullptr;
  static trace::Recorder* const r = opened = open_recorder().release();  // as the runtime: lives until the process ends
  return r;
}

void record_in_child() {
  if (trace::Recorder* r = opened) r->move_to_child(config().settings.record);
}

extern "C" {
__attribute__((visibility("hidden"))) extern const char us_noted_calls[];

__attribute__((visibility("hidden"))) EntryFn us_call_begins(u32 row) {
  if (profiling()) profile_call(entry(row).name);
  if (checking()) check_call_begins();
  if (trace::Recorder* r = recorder()) open_calls().push_back({r->next_id(), trace::now_ns()});
  return entry(row).implementation;
}

__attribute__((visibility("hidden"))) void us_call_ends(u32 row, u64 result, u64 argument) {
  if (profiling()) profile_call_ends();
  if (checking()) check_call(entry(row).name, static_cast<int>(result), argument);
  if (checking()) check_call_ends();
  trace::Recorder* r = recorder();
  if (!r || open_calls().empty()) return;
  const OpenCall c = open_calls().back();
  open_calls().pop_back();
  trace::Call call;
  call.name = r->name(shown(entry(row).name));
  call.result = static_cast<int>(result);
  call.id = c.id;
  call.begin = c.begin;
  call.end = trace::now_ns();
  r->write(call, trace::Kind::Call);
}
}

namespace {
EntryFn noted(u32 row) {
  const Entry& e = entry(row);
  if (!wanted() || internal(e.name)) return e.implementation;
  return reinterpret_cast<EntryFn>(reinterpret_cast<u64>(us_noted_calls) + 16 * u64(row));
}
}  // namespace

EntryFn noted_runtime(u32 row) { return noted(row); }
EntryFn noted_driver(u32 row) { return noted(kRuntimeRows + row); }

}  // namespace us::cuda

// Frame, from the new top of the stack: 16 words of arguments, 6 registers of arguments, rax, two vector registers.
asm(R"(
  .pushsection .text
  .balign 16
  .globl us_noted_calls
  .hidden us_noted_calls
  .type us_noted_calls, @function
us_noted_calls:
  .set us_row, 0
  .rept 2048
  .balign 16
  movl $us_row, %r11d
  jmp us_noted_call
  .set us_row, us_row + 1
  .endr
  .size us_noted_calls, .-us_noted_calls

  .balign 16
  .type us_noted_call, @function
us_noted_call:
  .cfi_startproc
  pushq %rbp
  .cfi_def_cfa_offset 16
  .cfi_offset %rbp, -16
  movq %rsp, %rbp
  .cfi_def_cfa_register %rbp
  pushq %rbx
  .cfi_offset %rbx, -24
  subq $216, %rsp
  movq %rdi, 128(%rsp)
  movq %rsi, 136(%rsp)
  movq %rdx, 144(%rsp)
  movq %rcx, 152(%rsp)
  movq %r8, 160(%rsp)
  movq %r9, 168(%rsp)
  movq %rax, 176(%rsp)
  movups %xmm0, 184(%rsp)
  movups %xmm1, 200(%rsp)
  movl %r11d, %ebx
  movl %ebx, %edi
  call us_call_begins
  movq %rax, %r11
  leaq 16(%rbp), %rsi
  movq %rsp, %rdi
  movl $16, %ecx
  rep movsq
  movq 128(%rsp), %rdi
  movq 136(%rsp), %rsi
  movq 144(%rsp), %rdx
  movq 152(%rsp), %rcx
  movq 160(%rsp), %r8
  movq 168(%rsp), %r9
  movq 176(%rsp), %rax
  movups 184(%rsp), %xmm0
  movups 200(%rsp), %xmm1
  call *%r11
  movq %rdx, 136(%rsp)
  movq 128(%rsp), %rdx
  movq %rax, 128(%rsp)
  movl %ebx, %edi
  movq %rax, %rsi
  call us_call_ends
  movq 128(%rsp), %rax
  movq 136(%rsp), %rdx
  movq -8(%rbp), %rbx
  leave
  .cfi_def_cfa %rsp, 8
  ret
  .cfi_endproc
  .size us_noted_call, .-us_noted_call
  .popsection
)");
