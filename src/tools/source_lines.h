// SPDX-License-Identifier: Apache-2.0
// Lines of source files, as far as they can be read here.
#pragma once
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "base/types.h"

namespace us::tools {

class SourceLines {
 public:
  // Without the blanks around it; empty: there is no such line, or the file cannot be read.
  std::string line(const std::string& file, u32 number) {
    auto [it, fresh] = files_.try_emplace(file);
    if (fresh) {
      std::ifstream in(file);
      for (std::string text; std::getline(in, text);) it->second.push_back(text);
    }
    return number && number <= it->second.size() ? trimmed(it->second[number - 1]) : "";
  }

  static std::string trimmed(const std::string& s) {
    const auto begin = s.find_first_not_of(" \t");
    return begin == s.npos ? "" : s.substr(begin, s.find_last_not_of(" \t\r") - begin + 1);
  }

 private:
  std::map<std::string, std::vector<std::string>> files_;
};

}  // namespace us::tools
