// SPDX-License-Identifier: Apache-2.0
// --trace and --stats: a directory for the recordings of the program's processes, and what becomes of them afterwards.
#pragma once
#include <string>

#include "tools/run.h"

namespace us::tools {

class Recordings {
 public:
  explicit Recordings(const RunRequest&);
  ~Recordings();
  Recordings(const Recordings&) = delete;
  Recordings& operator=(const Recordings&) = delete;
  bool ready() const { return !wanted_ || !directory_.empty(); }  // else the directory could not be made
  void report() const;                                            // after the program has ended

 private:
  const std::string trace_, json_;
  const bool stats_, wanted_;
  bool own_ = false;  // the directory
  std::string directory_;
};

}  // namespace us::tools
