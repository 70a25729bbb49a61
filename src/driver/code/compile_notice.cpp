// SPDX-License-Identifier: Apache-2.0
#include "driver/code/compile_notice.h"

#include <fmt/format.h>

#include <system_error>

#include "base/demangle.h"

namespace us::driver {

CompileNotice::CompileNotice(const CompileNotices& n, const std::string& kernel, bool& told)
    : notices_(n), kernel_(kernel), told_(told) {
  if (!n.say || told) return;
  try {
    thread_ = std::thread([this] { wait(); });
  } catch (const std::system_error&) {  // no thread is left for it: then nothing is said
  }
}

CompileNotice::~CompileNotice() {
  if (!thread_.joinable()) return;
  {
    std::lock_guard l(m_);
    done_ = true;
  }
  ended_.notify_one();
  thread_.join();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start_;
  told_ = told_ || said_;
  if (said_ && notices_.watched) notices_.say(fmt::format("compiled {} in {:.1f} s", demangled(kernel_), took.count()));
}

void CompileNotice::wait() {
  std::unique_lock l(m_);
  if (ended_.wait_until(l, start_ + notices_.patience, [this] { return done_; })) return;
  said_ = true;
  notices_.say(fmt::format("compiling {} ...", demangled(kernel_)));
}

}  // namespace us::driver
