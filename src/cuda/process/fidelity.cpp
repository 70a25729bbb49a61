// SPDX-License-Identifier: Apache-2.0
#include "cuda/process/fidelity.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "base/files.h"
#include "base/version.h"
#include "cuda/entry_table.h"
#include "cuda/process/check.h"
#include "cuda/process/config.h"
#include "cuda/process/process_file.h"
#include "cuda/process/profile.h"
#include "cuda/process/refusal.h"
#include "cuda/state.h"
#include "driver/code/compile_times.h"
#include "driver/code/counts.h"

namespace us::cuda {
namespace {

void describe_run(Report& r, const Config& c) {
  std::string devices;
  for (const driver::Preset* p : c.devices) devices += (devices.empty() ? "" : ",") + std::string(p->id);
  r.fact("understudy", kVersionText);
  r.fact("program", program_path());
  r.fact("process", std::to_string(::getpid()));
  r.fact("devices", devices);
  r.fact("delivery", c.settings.async.delivery == AsyncDelivery::Eager  ? "eager"
                     : c.settings.async.delivery == AsyncDelivery::Late ? "late"
                                                                        : "random");
  r.fact("schedule", c.settings.seed            ? fmt::format("seed {}", c.settings.seed)
                     : c.settings.deterministic ? "deterministic"
                                                : "free");
  r.fact("math", c.settings.fast_math ? "fast" : "exact");
}

void write_json(const std::string& path, const std::string& text) {
  std::FILE* f = std::fopen(path.c_str(), "w");
  const bool ok = f && std::fputs(text.c_str(), f) >= 0;
  if ((f && std::fclose(f) != 0) || !ok) fmt::print(stderr, "understudy: {}: {}\n", path, std::strerror(errno));
}

// A child that was forked too late did nothing; what is counted is its parent's.
void write_report() {
  finish_check();
  finish_profile();
  if (in_refused_child()) return;
  const Settings& s = config().settings;
  if (const std::string took = compile_times().text(!s.cache_dir.empty()); !s.quiet && !took.empty())
    fmt::print(stderr, "understudy: {}\n", took);
  if (s.count) fmt::print(stderr, "{}", executed().text());
  if (!s.verbose && s.json.empty()) return;
  Report& r = fidelity();
  describe_run(r, config());
  if (const driver::Runtime* made = runtime_if_made()) r.count("grids launched", made->grids_started());
  for (const StubCalls& c : stub_calls()) r.shortfall(Shortfall::StubbedCall, c.name, c.calls);
  if (s.fast_math) r.shortfall(Shortfall::Approximate, "--math=fast");
  if (s.verbose) fmt::print(stderr, "understudy: {}", r.to_text());
  if (s.json.empty()) return;
  std::string json = r.to_json();
  if (s.count)
    json = fmt::format("{},\n  \"executed\": {}\n}}\n",
                       json.substr(0, json.find_last_not_of(" \n", json.rfind('}') - 1) + 1), executed().json());
  write_json(with_process(s.json), json);
}

struct AtExit {
  ~AtExit() { write_report(); }
} at_exit;

}  // namespace

Report& fidelity() {
  static Report* const report = new Report;  // never destroyed: threads may still count while the process ends
  return *report;
}

driver::CompileTimes& compile_times() {
  static driver::CompileTimes* const times = new driver::CompileTimes;  // the same
  return *times;
}

driver::Counts& executed() {
  static driver::Counts* const counts = new driver::Counts;  // the same
  return *counts;
}

}  // namespace us::cuda
