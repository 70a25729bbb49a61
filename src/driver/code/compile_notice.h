// SPDX-License-Identifier: Apache-2.0
// Tells the person that a kernel is being compiled, if it takes long; and, where somebody watches, when it is done.
#pragma once
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "driver/settings.h"

namespace us::driver {

class CompileNotice {  // lives as long as the compiler runs
 public:
  // `told`: of the kernel, about which one word is enough.
  CompileNotice(const CompileNotices&, const std::string& kernel, bool& told);
  ~CompileNotice();
  CompileNotice(const CompileNotice&) = delete;
  CompileNotice& operator=(const CompileNotice&) = delete;

 private:
  void wait();
  const CompileNotices& notices_;
  const std::string kernel_;
  bool& told_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::mutex m_;  // guards done_ and said_
  std::condition_variable ended_;
  bool done_ = false, said_ = false;
  std::thread thread_;
};

}  // namespace us::driver
