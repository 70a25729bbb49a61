// SPDX-License-Identifier: Apache-2.0
// A file that belongs to this process: DIRECTORY/PID.KIND. Written by write(2): what is there stays, however the
// process ends.
#pragma once
#include <string>
#include <string_view>

namespace us::cuda {

class ProcessFile {
 public:
  ProcessFile(std::string directory, std::string kind);
  void open();  // anew, in a child that was forked
  void write(std::string_view record) const;

 private:
  const std::string directory_, kind_;
  int fd_ = -1;
};

std::string program_path();  // of this process, or "?"

}  // namespace us::cuda
