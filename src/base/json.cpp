// SPDX-License-Identifier: Apache-2.0
#include "base/json.h"

#include <cmath>

#include <fmt/format.h>

namespace us {
namespace {

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\')
      out += {'\\', c};
    else if (static_cast<unsigned char>(c) < 0x20)
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    else
      out += c;
  }
  return out + '"';
}

}  // namespace

void JsonWriter::separate() {
  if (std::exchange(after_key_, false) || open_.empty()) return;
  out_ += first_ ? "\n" : ",\n";
  out_.append(2 * open_.size(), ' ');
  first_ = false;
}

JsonWriter& JsonWriter::raw(std::string_view text) {
  separate();
  out_ += text;
  return *this;
}

JsonWriter& JsonWriter::open(char bracket) {
  separate();
  out_ += bracket;
  open_ += bracket == '{' ? '}' : ']';
  first_ = true;
  return *this;
}

JsonWriter& JsonWriter::end() {
  const char bracket = open_.back();
  open_.pop_back();
  if (!first_) {
    out_ += '\n';
    out_.append(2 * open_.size(), ' ');
  }
  out_ += bracket;
  first_ = false;
  if (open_.empty()) out_ += '\n';
  return *this;
}

JsonWriter& JsonWriter::key(std::string_view name) {
  separate();
  out_ += quoted(name) + ": ";
  after_key_ = true;
  return *this;
}

JsonWriter& JsonWriter::value(std::string_view text) { return raw(quoted(text)); }
JsonWriter& JsonWriter::value(double d) { return raw(std::isfinite(d) ? fmt::format("{}", d) : "null"); }

}  // namespace us
