// SPDX-License-Identifier: Apache-2.0
// Writes JSON, two spaces per level. Calls nest as the text does; only members of objects have keys.
#pragma once
#include <string>
#include <string_view>
#include <utility>

#include "base/types.h"

namespace us {

class JsonWriter {
 public:
  JsonWriter& object() { return open('{'); }
  JsonWriter& array() { return open('['); }
  JsonWriter& end();  // of the innermost object or array
  JsonWriter& key(std::string_view);
  JsonWriter& value(std::string_view);
  JsonWriter& value(const char* text) { return value(std::string_view(text)); }
  JsonWriter& value(const std::string& text) { return value(std::string_view(text)); }
  JsonWriter& value(bool b) { return raw(b ? "true" : "false"); }
  JsonWriter& value(double);
  template <class Int>
  requires std::is_integral_v<Int> JsonWriter& value(Int n) { return raw(std::to_string(n)); }
  template <class T>
  JsonWriter& field(std::string_view name, const T& v) {
    return key(name).value(v);
  }
  const std::string& text() const { return out_; }
  std::string take() { return std::exchange(out_, {}); }  // what there is so far

 private:
  JsonWriter& open(char bracket);
  JsonWriter& raw(std::string_view);
  void separate();
  std::string out_;
  std::string open_;  // closing brackets still to come
  bool first_ = true, after_key_ = false;
};

}  // namespace us
