// SPDX-License-Identifier: Apache-2.0
#include "device/schedule/crash.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <signal.h>
#include <ucontext.h>

#include <bit>
#include <mutex>

#include "device/access/limits.h"
#include "device/schedule/machine.h"
#include "device/schedule/report.h"
#include "device/schedule/slot.h"

namespace us::device {
namespace {
// A signal handler has no other way to its data: the only process-wide state of this room.
thread_local Worker* this_worker = nullptr;
constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
struct sigaction previous[64];

void pass_on(int signal, siginfo_t* info, void* context) {
  struct sigaction& old = previous[signal];
  if (old.sa_flags & SA_SIGINFO) return old.sa_sigaction(signal, info, context);
  if (old.sa_handler != SIG_DFL && old.sa_handler != SIG_IGN) return old.sa_handler(signal);
  sigaction(signal, &old, nullptr);  // the instruction runs again and meets the default action
}

void on_signal(int signal, siginfo_t* info, void* context) {
  Worker* w = this_worker;
  if (!w || !w->current || info->si_code <= 0) return pass_on(signal, info, context);
  auto* regs = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  w->crash = {signal, info->si_code, info->si_addr, reinterpret_cast<void*>(regs[REG_RIP])};
  w->crashed = true;
  about_to_land(w->scheduler);
  regs[REG_RIP] = greg_t(&us_fibre_resume);
  regs[REG_RDI] = greg_t(w->scheduler.sp);
}

// Code of the process's own files: the fault came in a runtime function, and the line is that of the call.
bool is_host_code(const void* pc) {
  Dl_info info;
  return dladdr(pc, &info) != 0;
}

bool stack_overflow(Warp& w, const void* address) {
  Fibre& f = w.on_fibre ? w.fibre : w.home->slot->worker->loop;
  return f.stack.guard_hit(address);
}
}  // namespace

void install_crash_handler() {
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction action = {};
    action.sa_sigaction = on_signal;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    for (int s : kSignals) sigaction(s, &action, &previous[s]);
  });
}

CrashGuard::CrashGuard(Worker* w) : stack_(64 * 1024) {
  stack_t stack = {};
  stack.ss_sp = stack_.data(), stack.ss_size = stack_.size();
  sigaltstack(&stack, nullptr);
  this_worker = w;
}

CrashGuard::~CrashGuard() {
  this_worker = nullptr;
  stack_t off = {};
  off.ss_flags = SS_DISABLE;
  sigaltstack(&off, nullptr);
}

Fault crash_fault(Warp& w, const Crash& c) {
  std::string line = line_of(w, c.pc);
  if (line.empty() && is_host_code(c.pc)) line = line_of_call(w);
  std::string place = place_of(w, w.live, line);
  const auto fault = [&](Outcome outcome, probe::Refused what, const std::string& text) {
    return Fault{outcome, fmt::format("{}\n{}", text, place), fault_of(w, w.live, what)};
  };
  if (c.signal == SIGFPE)
    return fault(Outcome::IllegalInstruction, probe::Refused::Other, "arithmetic fault of the host");
  if (c.signal == SIGILL) return fault(Outcome::IllegalInstruction, probe::Refused::Other, "illegal instruction");
  if (stack_overflow(w, c.address))
    return fault(Outcome::IllegalAddress, probe::Refused::StackOverflow, "stack overflow: calls nested too deeply");
  if (c.signal == SIGSEGV && c.code == SI_KERNEL)  // the host does not tell the address
    return fault(Outcome::IllegalAddress, probe::Refused::Global,
                 "illegal memory access: the address is in no address space");
  if (const Cta* gone = closed_cta(*w.home->slot, c.address))
    return fault(
        Outcome::Trap, probe::Refused::EndedBlock,
        fmt::format("access to the shared memory of block {}, which has ended; expected barrier.cluster or another "
                    "wait that keeps the blocks of the cluster alive",
                    text_of(gone->ctaid)));
  const u64 address = std::bit_cast<u64>(c.address);
  const auto refused = [&](const Refusal& r) { return fault(r.outcome, r.what, r.text); };
  const memory::AddressSpace* space = w.home->slot->worker->machine.options.space;
  const i64 offset = i64(address - std::bit_cast<u64>(w.window));
  constexpr i64 kReach = memory::AddressSpace::kWindowReach;
  if (space && offset >= -kReach && offset < kReach) return refused(refuse_shared(w, u32(offset), 1));
  if (!in_global(w, address)) return refused(refuse_global(w, address));
  return fault(Outcome::IllegalAddress, probe::Refused::Global,
               fmt::format("illegal memory access at address {}: no allocation is there", c.address));
}

}  // namespace us::device
