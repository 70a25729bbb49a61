// SPDX-License-Identifier: Apache-2.0
// A machine's real GPU as one more engine: batches of kernels compiled and run by its own driver.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/types.h"

namespace fuzz {

class RealGpu {
 public:
  // The first device of the machine's libcuda.so.1. On failure: null, and `why`.
  static std::unique_ptr<RealGpu> open(std::string& why);
  ~RealGpu();
  RealGpu(const RealGpu&) = delete;
  RealGpu& operator=(const RealGpu&) = delete;

  std::string name() const;

  // Compiles a batch of `n` kernels. `text_of(which)` is a module of the named ones, called k0, k1, ... in that order.
  // Kernels that the stock assembler refuses are left out; `refusals` gets its messages about them. Returns which can
  // be run.
  const std::vector<bool>& load(std::size_t n,
                                const std::function<std::string(const std::vector<std::size_t>&)>& text_of,
                                std::vector<std::string>& refusals);
  const std::vector<bool>& accepted() const { return accepted_; }

  // Runs kernel k of the batch on copies of the buffers (the first is only read) and writes them back. Returns what
  // went wrong, or an empty string.
  std::string run(std::size_t k, us::u32 blocks, us::u32 threads, const std::vector<std::vector<us::u32>*>& buffers);

 private:
  struct Driver;
  explicit RealGpu(std::unique_ptr<Driver>);
  std::unique_ptr<Driver> driver_;
  std::vector<bool> accepted_;
  std::vector<std::size_t> index_;  // of kernel k in the module that was loaded
};

}  // namespace fuzz
