// SPDX-License-Identifier: Apache-2.0
#include "cuda/process/check.h"

#include <fnmatch.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <memory>

#include <fmt/format.h>

#include "base/demangle.h"
#include "cuda/errors.h"
#include "cuda/process/config.h"
#include "cuda/process/host_pages.h"
#include "cuda/process/host_stack.h"
#include "cuda/process/process_file.h"
#include "cuda/process/refusal.h"
#include "cuda/state.h"
#include "memory/address_space.h"
#include "sanitizer/checker.h"
#include "sanitizer/host_calls.h"
#include "sanitizer/host_memory.h"
#include "sanitizer/host_order.h"
#include "sanitizer/journal.h"

namespace us::cuda {
namespace {

sanitizer::CheckSet wanted(std::string_view names) {
  sanitizer::CheckSet set;
  if (names.empty()) return set.set();
  for (std::size_t i = 0; i < set.size(); ++i) {
    const std::string_view name = sanitizer::info(static_cast<sanitizer::Check>(i)).name;
    for (std::string_view rest = names; !rest.empty();) {
      const std::size_t comma = rest.find(',');
      if (rest.substr(0, comma) == name) set.set(i);
      rest = comma == rest.npos ? std::string_view() : rest.substr(comma + 1);
    }
  }
  return set;
}

// Of the addresses of devices: so many have their cells in planes.
constexpr u64 kWithCells = u64{2} << 40;

// Puts together what listens.
class Process final : public probe::Observer {
 public:
  explicit Process(const Settings& s)
      : file_(s.check, "findings"),
        journal_(wanted(s.checks), [this](const std::string& r) { file_.write(r); }),
        stack_(host_stack()),
        calls_(journal_, stack_),
        memory_(journal_, stack_),
        order_(std::make_shared<sanitizer::HostOrder>(journal_, stack_)),
        pages_(*order_, stack_),
        watches_host_(s.host_pages),
        kernels_(s.check_kernels),
        launch_(s.check_launch) {
    engine_.set_order(order_);
    engine_.set_stack(stack_);
    engine_.set_memory(memory::AddressSpace::kUsualStart, kWithCells, [](u64 at, u32& word) {
      iovec to{&word, sizeof word}, from{reinterpret_cast<void*>(at), sizeof word};  // it may be gone already
      return ::process_vm_readv(::getpid(), &to, 1, &from, 1, 0) == sizeof word;
    });
    engine_.on_host_told([this](u64 launch, bool by_fence) { order_->host_is_told(launch, by_fence); });
    engine_.on_kernel_told([this](u64 launch) { order_->kernel_is_told(launch); });
    engine_.on_touched([this](const probe::LaunchInfo& info, const std::vector<sanitizer::Touched>& touched) {
      order_->touched(info, touched);
      journal_.judged(info.kernel);
      if (engine_.spent())
        journal_.not_judged(info.kernel, "its warps and those before it took more steps than can be told apart");
      if (engine_.astray(info.id))
        journal_.not_judged(info.kernel,
                            "loads of memory that a launch stores to by addresses made from other memory's");
      tell();
    });
    journal_.begin(static_cast<u32>(::getpid()), program_path());
  }
  std::shared_ptr<probe::Listener> launch(const probe::LaunchInfo&) override;
  void memory(const probe::Memory& m) override {
    memory_.memory(m);
    order_->memory(m);
    engine_.memory(m);
  }
  void work(const probe::Work& w) override {
    order_->work(w);
    engine_.work(w);
  }
  void fault(u64 launch, const probe::Fault&, const std::string& text) override;
  void moved_to_child() {
    pages_.release();
    file_.open();
    journal_.forget();
    journal_.begin(static_cast<u32>(::getpid()), program_path());
  }
  void call(const sanitizer::HostCall& c) { calls_.ended(c); }
  void call_begins() {
    if (watches_host_) pages_.call_begins();
  }
  void call_ends() {
    if (watches_host_) pages_.call_ends();
  }
  void left_work() {
    journal_.not_judged("work that the program did not wait for", "it was not over a minute after the program's end");
  }
  void end(bool whole);

 private:
  bool chosen(const std::string& kernel);
  void tell();  // what was found in kernels

  ProcessFile file_;
  sanitizer::Journal journal_;
  const sanitizer::HostStack stack_;
  sanitizer::HostCalls calls_;
  sanitizer::HostMemory memory_;
  const std::shared_ptr<sanitizer::HostOrder> order_;
  sanitizer::Checker engine_;
  HostPages pages_;
  const bool watches_host_;
  const std::string kernels_;
  const u64 launch_;  // 0: all
  std::atomic<u64> matched_{0};
};

// `reduce` and `reduce*` mean reduce(float*), too.
bool Process::chosen(const std::string& kernel) {
  const std::string name = function_name(kernel);
  const bool named = kernels_.empty() || ::fnmatch(kernels_.c_str(), kernel.c_str(), 0) == 0 ||
                     ::fnmatch(kernels_.c_str(), name.c_str(), 0) == 0;
  return named && (launch_ == 0 || ++matched_ == launch_);
}

std::shared_ptr<probe::Listener> Process::launch(const probe::LaunchInfo& l) {
  order_->launched(l);
  if (!chosen(l.kernel)) return nullptr;
  return engine_.launch(l);
}

void Process::tell() {
  for (sanitizer::Finding& f : engine_.take()) {
    order_->add_launches(f);
    journal_.found(f);
  }
}

void Process::fault(u64 launch, const probe::Fault& f, const std::string& text) {
  engine_.fault(launch, f, text);
  tell();
}

// Not `whole`: a child that was forked too late has nothing of its own.
void Process::end(bool whole) {
  pages_.release();
  tell();
  calls_.process_ends();
  if (whole) memory_.process_ends();
  journal_.end();
}

std::atomic<Process*> made = nullptr;

constexpr std::string_view kLaunch = "__cudaLaunchKernel";

// These answer with something else than an error.
bool answers_with_error(std::string_view name) {
  return name != "cudaGetErrorName" && name != "cudaGetErrorString" && name != "cudaCreateChannelDesc";
}

std::string error_name(bool driver_api, int code) {
  const ErrorRow* const row = find_error(code);
  return row ? driver_api ? row->driver_name : row->runtime_name : "an unknown error";
}

}  // namespace

bool checking() {
  static const bool is = !setting_text("check").empty();
  return is;
}

probe::Observer* checker() {
  if (!checking()) return nullptr;
  static Process* const p = made = new Process(config().settings);
  return p;
}

void check_in_child() {
  if (Process* p = made) p->moved_to_child();
}

// Work that the program did not wait for is judged, too.
void finish_check() {
  Process* const p = made;
  if (!p) return;
  const bool whole = !in_refused_child();
  if (whole && !wait_for_work()) p->left_work();
  p->end(whole);
}

void check_call_begins() {
  if (Process* p = made) p->call_begins();
}

void check_call_ends() {
  if (Process* p = made) p->call_ends();
}

void check_call(std::string_view name, int result, u64 argument) {
  Process* const p = made;
  if (!p) return;
  const bool asks = name == "cudaGetLastError" || name == "cudaPeekAtLastError";
  if (!asks && (result == 0 || !answers_with_error(name))) return;
  const bool launches = name.starts_with(kLaunch);
  p->call({.name = launches ? "<<<>>>" : std::string(name),
           .result = asks ? 0 : result,
           .result_name = asks ? "" : error_name(!launches && !name.starts_with("cuda"), result),
           .launches = launches,
           .asks = asks,
           .frees = name.starts_with("cudaFree") || name.starts_with("cuMemFree"),
           .argument = argument});
}

}  // namespace us::cuda
