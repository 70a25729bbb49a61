// SPDX-License-Identifier: Apache-2.0
// What a person does not want to hear of. One a line:
//
//   name [kernel=GLOB] [file=GLOB[:LINE]] [frame=GLOB] [object=GLOB]  # reason
//
// `name` is a check or a GLOB of checks. A file or a frame may be that of any party. compute-sanitizer's XML is read,
// too: kernels and files of its stack frames.
#pragma once
#include <list>
#include <string>
#include <vector>

#include "sanitizer/finding.h"

namespace us::tools {

struct Suppression {
  std::string name = "*", kernel, file, frame, object, reason;
  std::vector<std::string> frames;  // of an XML record: all must be there
  u32 line = 0;                     // of the file; 0: any
  std::string origin;               // "supp.txt:3"
  u64 used = 0;
};

class Suppressions {
 public:
  // What is wrong with the file; empty: nothing.
  std::vector<Diag> read(const std::string& path);
  std::vector<Diag> parse(const std::string& text, const std::string& origin);
  const Suppression* match(const sanitizer::Finding&);  // the first that fits, which is counted
  const std::list<Suppression>& all() const { return all_; }

 private:
  std::vector<Diag> parse_xml(const std::string& text, const std::string& origin);
  std::list<Suppression> all_;
};

// A line that suppresses exactly this one.
std::string suppression_of(const sanitizer::Finding&);

}  // namespace us::tools
