// SPDX-License-Identifier: Apache-2.0
// What a process found, as bytes in a file: records, each a length, a kind and numbers and texts. A record that was cut
// off ends the reading.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sanitizer/finding.h"

namespace us::sanitizer {

// The same for findings that are one to the reader of a report: check, kernel, and places of the parties in any order.
std::string key_of(const Finding&);

struct NotJudged {
  std::string what, why;
  u64 times = 1;
};

struct Findings {  // of one process, or of all of them
  u32 process = 0;
  std::string program;
  bool ended = false;  // the process came to its end: what is known only then is there (leaks)
  std::vector<Finding> all;
  std::map<std::string, u64> judged;  // kernel, launches
  std::vector<NotJudged> not_judged;
};

enum class RecordKind : u8 { Process = 1, Finding, Times, Judged, NotJudged, End };

// One record.
std::string process_record(u32 process, const std::string& program);
std::string finding_record(u64 id, const Finding&);
std::string times_record(u64 id, u64 times, u64 blocks);  // both in all
std::string judged_record(const std::string& kernel, u64 launches);
std::string not_judged_record(const NotJudged&);
std::string end_record();

Findings read_records(std::string_view bytes);
std::string to_records(const Findings&);

void merge(Findings& into, Findings from);  // of another process

}  // namespace us::sanitizer
