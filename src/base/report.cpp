// SPDX-License-Identifier: Apache-2.0
#include "base/report.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/json.h"

namespace us {
namespace {

struct Words {
  const char* key;
  const char* sentence;
};
constexpr Words words[] = {
    {"stubbed_calls", "API calls answered with NOT_SUPPORTED"},
    {"unimplemented", "reached, but not implemented"},
    {"refused", "turned away"},
    {"ignored", "wishes about speed without effect"},
    {"approximate", "computed within the documented bound, not bit by bit"},
    {"estimated",
     "registers and stack estimated: neither machine code in the program nor the toolkit's ptxas tells them"},
    {"newer_ptx", "run from PTX of a newer architecture; a device runs the machine code"},
};

}  // namespace

void Report::fact(std::string_view name, std::string_view text) {
  const std::lock_guard lock(m_);
  const auto it = std::find_if(facts_.begin(), facts_.end(), [&](const auto& f) { return f.first == name; });
  if (it == facts_.end())
    facts_.emplace_back(name, text);
  else
    it->second = text;
}

void Report::count(std::string_view name, u64 n) {
  const std::lock_guard lock(m_);
  counts_[std::string(name)] += n;
}

bool Report::shortfall(Shortfall kind, std::string_view name, u64 times) {
  const std::lock_guard lock(m_);
  u64& n = shortfalls_[static_cast<u32>(kind)][std::string(name)];
  n += times;
  return n == times;
}

void Report::resources(std::string_view kernel, std::string_view origin) {
  const std::lock_guard lock(m_);
  resources_[std::string(origin)].emplace(kernel);
}

bool Report::exact() const {
  const std::lock_guard lock(m_);
  for (const Shortfall kind : {Shortfall::StubbedCall, Shortfall::Unimplemented, Shortfall::Refused,
                               Shortfall::Approximate, Shortfall::Estimated, Shortfall::NewerPtx})
    if (!shortfalls_[static_cast<u32>(kind)].empty()) return false;
  return true;
}

std::string Report::to_text() const {
  std::string out = fmt::format("fidelity: {}\n", exact() ? "exact" : "not exact");
  const std::lock_guard lock(m_);
  for (const auto& [name, text] : facts_) out += fmt::format("  {:<12} {}\n", name, text);
  for (const auto& [name, n] : counts_) out += fmt::format("  {:<12} {}\n", n, name);
  for (const auto& [origin, kernels] : resources_)
    out += fmt::format("  registers and stack from {}: {}\n", origin, fmt::join(kernels, ", "));
  for (u32 k = 0; k < std::size(shortfalls_); ++k) {
    if (shortfalls_[k].empty()) continue;
    out += fmt::format("  {}:\n", words[k].sentence);
    for (const auto& [name, n] : shortfalls_[k]) out += fmt::format("    {} ({} time{})\n", name, n, n == 1 ? "" : "s");
  }
  return out;
}

std::string Report::to_json() const {
  JsonWriter json;
  json.object().field("exact", exact());
  const std::lock_guard lock(m_);
  json.key("facts").object();
  for (const auto& [name, text] : facts_) json.field(name, text);
  json.end().key("counts").object();
  for (const auto& [name, n] : counts_) json.field(name, n);
  json.end().key("resources").object();
  for (const auto& [origin, kernels] : resources_) {
    json.key(origin).array();
    for (const std::string& k : kernels) json.value(k);
    json.end();
  }
  json.end();
  for (u32 k = 0; k < std::size(shortfalls_); ++k) {
    json.key(words[k].key).object();
    for (const auto& [name, n] : shortfalls_[k]) json.field(name, n);
    json.end();
  }
  return json.end().text();
}

}  // namespace us
