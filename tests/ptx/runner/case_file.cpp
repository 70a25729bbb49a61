// SPDX-License-Identifier: Apache-2.0
#include "case_file.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

#include "special_values.h"

namespace ptx_test {
namespace {

std::string trimmed(const std::string& s) {
  const auto a = s.find_first_not_of(" \t\r"), b = s.find_last_not_of(" \t\r");
  return a == std::string::npos ? "" : s.substr(a, b - a + 1);
}
std::vector<std::string> words(const std::string& s) {
  std::istringstream in(s);
  std::vector<std::string> out;
  for (std::string w; in >> w;) out.push_back(w);
  return out;
}
void dimensions(const std::string& v, unsigned out[3]) {
  std::sscanf(v.c_str(), "%u,%u,%u", &out[0], &out[1], &out[2]);
}

Case run_directive(const std::string& rest, int line, std::vector<std::string>& problems) {
  Case c;
  c.line = line;
  for (const std::string& w : words(rest)) {
    const auto eq = w.find('=');
    const std::string key = w.substr(0, eq), value = eq == std::string::npos ? "" : w.substr(eq + 1);
    if (key == "kernel")
      c.kernel = value;
    else if (key == "grid")
      dimensions(value, c.grid);
    else if (key == "block")
      dimensions(value, c.block);
    else if (key == "cluster")
      dimensions(value, c.cluster);
    else if (key == "smem")
      c.smem = static_cast<unsigned>(std::strtoul(value.c_str(), nullptr, 0));
    else
      problems.push_back("line " + std::to_string(line) + ": unknown word '" + w + "' after RUN");
  }
  return c;
}
// "name: type[count] = spec"
bool array_directive(const std::string& rest, Array& a) {
  const auto colon = rest.find(':'), open = rest.find('['), close = rest.find(']'), eq = rest.find('=');
  if (colon == std::string::npos || open == std::string::npos || close == std::string::npos) return false;
  a.name = trimmed(rest.substr(0, colon));
  a.type = trimmed(rest.substr(colon + 1, open - colon - 1));
  a.count = std::strtoull(rest.c_str() + open + 1, nullptr, 0);
  a.spec = eq == std::string::npos ? "recorded" : trimmed(rest.substr(eq + 1));
  return a.count && a.element_bytes();
}
// "texture 4x2 of a"
bool image_directive(const std::string& rest, Image& i) {
  const auto ws = words(rest);
  if (ws.size() != 4 || (ws[0] != "texture" && ws[0] != "surface") || ws[2] != "of") return false;
  i.surface = ws[0] == "surface", i.array = ws[3];
  return std::sscanf(ws[1].c_str(), "%ux%u", &i.width, &i.height) == 2;
}
void directive(File& f, std::vector<Array>& common, const std::string& line, int number) {
  static const std::pair<const char*, Array::Role> roles[] = {
      {"INOUT ", Array::Role::InOut}, {"IN ", Array::Role::In}, {"OUT ", Array::Role::Out}};
  if (line.rfind("RUN:", 0) == 0) {
    f.cases.push_back(run_directive(line.substr(4), number, f.problems));
    f.cases.back().arrays = common;
  } else if (line.rfind("ERROR:", 0) == 0) {
    f.errors.push_back(trimmed(line.substr(6)));
  } else if (line.rfind("FAULT:", 0) == 0) {
    if (f.cases.empty())
      f.problems.push_back("line " + std::to_string(number) + ": FAULT before RUN");
    else
      f.cases.back().fault = trimmed(line.substr(6));
  } else if (line.rfind("COUNTS:", 0) == 0) {
    const std::string how = trimmed(line.substr(7));
    const std::string word = how.substr(0, how.find(' '));
    if (f.cases.empty() || (word != "lanes" && word != "any"))
      f.problems.push_back("line " + std::to_string(number) + ": COUNTS says lanes or any, behind RUN");
    else
      f.cases.back().counts = word;
  } else if (line.rfind("EVENTS: any", 0) == 0 && !f.cases.empty()) {
    f.cases.back().events = false;
  } else if (line.rfind("IMAGE: ", 0) == 0) {
    Image i;
    if (f.cases.empty() || !image_directive(line.substr(7), i))
      f.problems.push_back("line " + std::to_string(number) + ": IMAGE: texture|surface WxH of ARRAY, behind RUN");
    else
      f.cases.back().images.push_back(i);
  } else if (line.rfind("TELLS: by warp", 0) == 0 && !f.cases.empty()) {
    f.cases.back().tells_by_warp = true;
  } else if (line.rfind("TELL: ", 0) == 0) {
    if (f.cases.empty())
      f.problems.push_back("line " + std::to_string(number) + ": TELL before RUN");
    else
      f.cases.back().tells.push_back(trimmed(line.substr(6)));
  } else if (line.rfind("TODO:", 0) == 0) {
    f.todo = trimmed(line.substr(5));
  }
  for (const auto& [word, role] : roles) {
    if (line.rfind(word, 0) != 0) continue;
    Array a;
    a.role = role;
    if (!array_directive(line.substr(std::strlen(word)), a))
      f.problems.push_back("line " + std::to_string(number) + ": bad array");
    (f.cases.empty() ? common : f.cases.back().arrays).push_back(a);
    return;
  }
}

std::uint64_t value_of(const std::string& word, std::size_t bytes) {
  if (word.find('.') == std::string::npos || word.rfind("0x", 0) == 0) {
    return word[0] == '-' ? static_cast<std::uint64_t>(std::strtoll(word.c_str(), nullptr, 0))
                          : std::strtoull(word.c_str(), nullptr, 0);
  }
  std::uint64_t bits = 0;
  const double d = std::strtod(word.c_str(), nullptr);
  const float s = static_cast<float>(d);
  if (bytes == 8)
    std::memcpy(&bits, &d, 8);
  else
    std::memcpy(&bits, &s, 4);
  return bits;
}
bool is_number(const std::string& w) {
  return !w.empty() && (std::isdigit(static_cast<unsigned char>(w[0])) || w[0] == '-');
}
void put(std::vector<std::uint8_t>& to, std::size_t index, std::size_t bytes, std::uint64_t v) {
  std::memcpy(&to[index * bytes], &v, bytes);
}

// key=value among the words of a spec
std::uint64_t option(const std::vector<std::string>& ws, const char* key, std::uint64_t otherwise) {
  const std::string start = std::string(key) + "=";
  for (const std::string& w : ws)
    if (w.rfind(start, 0) == 0) return value_of(w.substr(start.size()), 8);
  return otherwise;
}

}  // namespace

std::size_t Array::element_bytes() const {
  static const std::pair<const char*, std::size_t> sizes[] = {{"8", 1}, {"16", 2}, {"32", 4}, {"64", 8}, {"16x2", 4}};
  const auto digit = type.find_first_of("0123456789");
  if (digit == std::string::npos) return 0;
  for (const auto& [suffix, n] : sizes)
    if (type.substr(digit) == suffix) return n;
  return 0;
}

File load(const std::string& path) {
  File f;
  f.path = path;
  const auto slash = path.find_last_of('/');
  f.name = path.substr(slash == std::string::npos ? 0 : slash + 1);
  f.name = f.name.substr(0, f.name.rfind('.'));
  std::ifstream in(path);
  if (!in) f.problems.push_back("cannot read " + path);
  std::vector<Array> common;
  int number = 0;
  for (std::string line; std::getline(in, line);) {
    f.text += line + "\n";
    ++number;
    const std::string t = trimmed(line);
    if (t.rfind("// ", 0) == 0) directive(f, common, t.substr(3), number);
  }
  return f;
}

std::vector<std::uint8_t> explicit_values(const Array& a) {
  const auto ws = words(a.spec);
  if (ws.empty() || !is_number(ws[0])) return {};
  const std::size_t n = a.element_bytes();
  std::vector<std::uint8_t> out(a.bytes());
  for (std::size_t k = 0; k < a.count; ++k) put(out, k, n, value_of(ws[k < ws.size() ? k : ws.size() - 1], n));
  return out;
}

std::vector<std::uint8_t> initial(const Array& a) {
  const std::size_t n = a.element_bytes();
  std::vector<std::uint8_t> out(a.bytes());
  if (a.role == Array::Role::Out) return out;
  const auto ws = words(a.spec);
  if (ws.empty() || ws[0] == "zero") return out;
  if (is_number(ws[0])) return explicit_values(a);
  Random random{option(ws, "seed", 1)};
  if (ws[0] == "iota") {
    const std::uint64_t first = option(ws, "first", 0), step = option(ws, "step", 1);
    for (std::size_t k = 0; k < a.count; ++k) put(out, k, n, first + k * step);
  } else if (ws[0] == "range") {  // range low=.. high=.. (both included)
    const std::uint64_t low = option(ws, "low", 0), high = option(ws, "high", 255);
    for (std::size_t k = 0; k < a.count; ++k) put(out, k, n, low + random.next() % (high - low + 1));
  } else if (ws[0] == "random") {
    for (std::size_t k = 0; k < a.count; ++k) put(out, k, n, random_value(a.type, random));
  } else if (ws[0] == "cross") {  // cross <operand>/<operands>: all combinations of special values, then random ones
    unsigned which = 0, of = 1;
    if (ws.size() > 1) std::sscanf(ws[1].c_str(), "%u/%u", &which, &of);
    for (std::size_t k = 0; k < a.count; ++k) put(out, k, n, cross_value(a.type, k, which, of, random));
  } else {
    std::fprintf(stderr, "unknown generator '%s'\n", a.spec.c_str());
    std::abort();
  }
  return out;
}

std::uint64_t hash(const void* data, std::size_t bytes, std::uint64_t seed) {  // FNV-1a, 64 bits, with a final mix
  std::uint64_t h = 0xcbf29ce484222325ull ^ seed;
  const auto* p = static_cast<const std::uint8_t*>(data);
  for (std::size_t k = 0; k < bytes; ++k) h = (h ^ p[k]) * 0x100000001b3ull;
  h ^= h >> 29, h *= 0xbf58476d1ce4e5b9ull;
  return h ^ h >> 32;
}

std::string summarize(const std::vector<std::uint8_t>& bytes) {
  char buffer[32];
  std::string out;
  const bool all = bytes.size() <= 256;
  const std::size_t shown = all ? bytes.size() : 128;
  for (std::size_t k = 0; k < shown; k += 4) {
    std::uint32_t w = 0;
    std::memcpy(&w, &bytes[k], std::min<std::size_t>(4, bytes.size() - k));
    std::snprintf(buffer, sizeof buffer, k ? " %08x" : "%08x", w);
    out += buffer;
  }
  if (all) return out;
  out += " :";
  for (std::size_t k = 0; k < bytes.size(); k += 1024) {
    const std::uint64_t h = hash(&bytes[k], std::min<std::size_t>(1024, bytes.size() - k));
    std::snprintf(buffer, sizeof buffer, " %08x", static_cast<unsigned>(h ^ h >> 32));
    out += buffer;
  }
  return out;
}
std::uint64_t inputs_hash(const Case& c) {
  std::uint64_t h = 0;
  for (const Array& a : c.arrays) {
    if (a.role == Array::Role::Out) continue;
    const auto bytes = initial(a);
    h = hash(bytes.data(), bytes.size(), h);
  }
  return h;
}

}  // namespace ptx_test
