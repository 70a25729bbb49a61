// SPDX-License-Identifier: Apache-2.0
#include "tools/junit.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/types.h"

namespace us::tools {

std::string xml_escaped(std::string_view text) {
  std::string out;
  for (const char c : text) switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += static_cast<u8>(c) < 32 && c != '\n' && c != '\t' ? '?' : c;
    }
  return out;
}

std::string to_junit(const std::string& suite, const std::vector<JunitCase>& cases) {
  std::string body;
  for (const JunitCase& c : cases) {
    body += fmt::format("    <testcase classname=\"{}\" name=\"{}\"", xml_escaped(c.classname), xml_escaped(c.name));
    if (!c.failure.empty())
      body += fmt::format(">\n      <failure message=\"{}\">{}</failure>\n    </testcase>\n", xml_escaped(c.failure),
                          xml_escaped(c.text));
    else if (!c.text.empty())
      body += fmt::format(">\n      <system-out>{}</system-out>\n    </testcase>\n", xml_escaped(c.text));
    else
      body += "/>\n";
  }
  const auto failures = std::ranges::count_if(cases, [](const JunitCase& c) { return !c.failure.empty(); });
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites tests=\"{0}\" failures=\"{1}\">\n"
      "  <testsuite name=\"{2}\" tests=\"{0}\" failures=\"{1}\" errors=\"0\">\n{3}"
      "  </testsuite>\n</testsuites>\n",
      cases.size(), failures, xml_escaped(suite), body);
}

}  // namespace us::tools
