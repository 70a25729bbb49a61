// SPDX-License-Identifier: Apache-2.0
#include "cuda/process/host_pages.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <algorithm>
#include <chrono>
#include <string_view>
#include <thread>
#include <utility>

namespace us::cuda {
namespace {

constexpr u64 kPage = 4096;
constexpr u64 kWriteFault = 2;             // of the processor's error code
constexpr std::size_t kMostRanges = 1024;  // the system limits mappings
constexpr u32 kShortPatienceMs = 10;

// A signal handler has no other way to it.
HostPages* one = nullptr;
struct sigaction before;

thread_local u64 last_fault = 0;
thread_local u32 depth = 0;  // calls of the API that this thread is in

bool of_the_system(u64 address) {
  Dl_info i = {};
  if (!::dladdr(reinterpret_cast<const void*>(address), &i) || !i.dli_fname) return false;
  const std::string_view file = i.dli_fname, name = file.substr(file.rfind('/') + 1);
  return name.starts_with("libc.so") || name.starts_with("libstdc++");
}

}  // namespace

void HostPages::call_begins() {
  if (depth++) return;
  const std::lock_guard l(m_);
  ++calls_;
  open_all();
}

// Work is waited for, so that what it touches is known; one that waits for the host is not, the next time.
void HostPages::call_ends() {
  if (depth == 0 || --depth) return;  // it was in a call when the first one began to be watched
  {
    const std::lock_guard l(m_);
    --calls_;
  }
  if (!order_.watches_host()) return;
  const u64 submitted = order_.submitted();
  if (!order_.idle()) {
    {
      const std::lock_guard l(m_);
      if (submitted == seen_) return;
      seen_ = submitted;
    }
    const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(patience_ms_);
    while (!order_.idle() && std::chrono::steady_clock::now() < until)
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    if (!order_.idle()) return void(patience_ms_ = kShortPatienceMs);
  }
  const auto unknown = order_.unknown_to_host();
  const std::lock_guard l(m_);
  if (calls_ == 0 && order_.idle()) close(unknown);
}

void HostPages::release() {
  const std::lock_guard l(m_);
  open_all();
}

void HostPages::open_all() {
  for (const auto& [begin, range] : closed_) open(begin, range.first);
  closed_.clear();
}

void HostPages::open(u64 begin, u64 end) {
  ::mprotect(reinterpret_cast<void*>(begin), end - begin, PROT_READ | PROT_WRITE);
}

// What work has written is neither to be read nor written, what it has read is not to be written.
void HostPages::close(const std::vector<sanitizer::HostOrder::Unknown>& all) {
  if (all.empty()) return;
  std::map<u64, int> pages;
  for (const auto& u : all) {
    for (u64 at = u.begin / kPage * kPage; at < u.begin + u.bytes; at += kPage) {
      const auto [page, first] = pages.try_emplace(at, PROT_READ);
      if (u.written) page->second = PROT_NONE;
    }
  }
  if (!installed_) {
    installed_ = true, one = this;
    struct sigaction action = {};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    sigemptyset(&action.sa_mask);
    ::sigaction(SIGSEGV, &action, &before);
  }
  for (auto first = pages.begin(); first != pages.end() && closed_.size() < kMostRanges;) {
    u64 end = first->first + kPage;
    auto next = std::next(first);
    for (; next != pages.end() && next->first == end && next->second == first->second; ++next) end += kPage;
    if (::mprotect(reinterpret_cast<void*>(first->first), end - first->first, first->second) == 0)
      closed_[first->first] = {end, first->second};
    first = next;
  }
}

void HostPages::on_fault(int signal, siginfo_t* info, void* context) {
  const auto& regs = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  const u64 address = reinterpret_cast<u64>(info->si_addr);
  if (info->si_code > 0 && info->si_code != SI_KERNEL &&
      one->touched(address, (static_cast<u64>(regs[REG_ERR]) & kWriteFault) != 0, static_cast<u64>(regs[REG_RIP])))
    return;
  if (before.sa_flags & SA_SIGINFO) return before.sa_sigaction(signal, info, context);
  if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) return before.sa_handler(signal);
  ::sigaction(signal, &before, nullptr);  // the instruction runs again and meets the default action
}

// False: the fault is not ours.
bool HostPages::touched(u64 address, bool write, u64 instruction) {
  {
    const std::lock_guard l(m_);
    auto at = closed_.upper_bound(address);
    if (at == closed_.begin() || address >= std::prev(at)->second.first) {
      // Another thread may just have opened it; then the instruction does not come here again.
      return std::exchange(last_fault, address) != address && order_.watches(address);
    }
    --at;
    const auto [begin, range] = *at;
    closed_.erase(at);
    const u64 page = address / kPage * kPage;
    open(page, page + kPage);
    if (page > begin) closed_[begin] = {page, range.second};
    if (page + kPage < range.first) closed_[page + kPage] = {range.first, range.second};
  }
  order_.host_touches(address, write, [&] { return stack_from(instruction); });
  return true;
}

// From the instruction on that did it, or from who called the system's function that it is in.
sanitizer::HostStack::Addresses HostPages::stack_from(u64 instruction) const {
  sanitizer::HostStack::Addresses all = stack_.take();
  if (const auto at = std::ranges::find(all, instruction); at != all.end()) {
    all.erase(all.begin(), at);
    all.front() = instruction + 1;  // others are where calls return to
  }
  while (all.size() > 1 && of_the_system(all.front() - 1)) all.erase(all.begin());
  return all;
}

}  // namespace us::cuda
