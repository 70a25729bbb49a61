// SPDX-License-Identifier: Apache-2.0
// Outcomes for CI, as JUnit's XML.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace us::tools {

struct JunitCase {
  std::string classname, name;
  std::string failure{};  // what went wrong, in a line; empty: it passed
  std::string text{};     // of the failure; or told of a case that passed
};
std::string to_junit(const std::string& suite, const std::vector<JunitCase>&);
std::string xml_escaped(std::string_view);  // also of HTML

}  // namespace us::tools
