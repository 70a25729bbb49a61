// SPDX-License-Identifier: Apache-2.0
// Pictures in HTML: shapes with classes, whose colours the page's style sheet has.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "tools/junit.h"

namespace us::tools {

class Svg {
 public:
  using Points = std::vector<std::pair<double, double>>;
  Svg(double width, double height, std::string_view title)
      : text_(fmt::format(
            "<svg viewBox=\"0 0 {:.0f} {:.0f}\" width=\"{:.0f}\" height=\"{:.0f}\" role=\"img\"><title>{}</title>",
            width, height, width, height, xml_escaped(title))) {}
  Svg& line(double x1, double y1, double x2, double y2, const char* style) {
    text_ += fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" class=\"{}\"/>", x1, y1, x2, y2,
                         style);
    return *this;
  }
  Svg& rect(double x, double y, double width, double height, const char* style, std::string_view told = "") {
    text_ += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" class=\"{}\">{}</rect>", x,
                         y, width, height, style, told.empty() ? "" : "<title>" + xml_escaped(told) + "</title>");
    return *this;
  }
  Svg& dot(double x, double y, const char* style, std::string_view told) {
    text_ += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"5\" class=\"{}\"><title>{}</title></circle>", x, y,
                         style, xml_escaped(told));
    return *this;
  }
  Svg& path(const Points& points, const char* style) {
    text_ += "<polyline points=\"";
    for (const auto& [x, y] : points) text_ += fmt::format("{:.1f},{:.1f} ", x, y);
    text_ += fmt::format("\" class=\"{}\"/>", style);
    return *this;
  }
  // Styles: "end" and "mid" say where the text is anchored.
  Svg& text(double x, double y, std::string_view what, const char* style = "") {
    text_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"{}\">{}</text>", x, y, style, xml_escaped(what));
    return *this;
  }
  std::string done() { return std::move(text_) + "</svg>\n"; }

 private:
  std::string text_;
};

}  // namespace us::tools
