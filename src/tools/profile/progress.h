// SPDX-License-Identifier: Apache-2.0
// While the program runs: how many launches have been profiled, in a line on a terminal that the next one overwrites.
#pragma once
#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <thread>

#include "base/types.h"

namespace us::tools {

class Progress {
 public:
  // Of processes that write their files to the directory. Without a terminal nothing is told.
  explicit Progress(std::string directory);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

 private:
  void run();
  void look();

  const std::string directory_;
  std::map<std::string, u64> read_;  // bytes of each file
  u64 launches_ = 0;
  bool told_ = false;
  std::mutex m_;  // guards ends_
  std::condition_variable wake_;
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace us::tools
