// SPDX-License-Identifier: Apache-2.0
// What all processes of a program found, judged by what the person asked for, and in the order in which it is shown.
#pragma once
#include "sanitizer/journal.h"
#include "sanitizer/records.h"
#include "tools/check/suppressions.h"

namespace us::tools {

struct CheckReport {
  struct Entry {
    sanitizer::Finding finding;
    sanitizer::Severity severity;
    const Suppression* by = nullptr;  // it is suppressed
  };
  std::vector<Entry> entries;  // by launch, check and site
  std::map<std::string, u64> judged;
  std::vector<sanitizer::NotJudged> not_judged;
  std::vector<std::string> unended;  // processes that did not come to their end: "app (process 12)"
  u64 processes = 0, suppressed = 0;
  u64 count(sanitizer::Severity) const;  // of those that are not suppressed
};

// Of the files DIR/*.findings.
std::vector<sanitizer::Findings> read_findings(const std::string& directory);
CheckReport make_report(std::vector<sanitizer::Findings>, Suppressions&, const sanitizer::CheckSet&, bool strict);

const char* name_of(sanitizer::Severity);
std::string shown_file(const std::string& file);  // below the working directory: from there
std::string place_of(const probe::SiteInfo&);     // "reduce.cu:41:13 in sum(float)" of that frame
std::string place_of(const probe::Frame&);
std::string source_line(const probe::Frame&);  // without blanks around; empty: the file cannot be read

std::string to_text(const CheckReport&, const Suppressions&, u64 limit);  // with colours if stderr is a terminal
std::string to_json(const CheckReport&, const Suppressions&);
std::string to_sarif(const CheckReport&);
std::string to_junit(const CheckReport&, const std::string& program);

}  // namespace us::tools
