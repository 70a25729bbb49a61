// SPDX-License-Identifier: Apache-2.0
#include "tools/recordings.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <fmt/format.h>

#include "tools/chrome_trace.h"
#include "tools/statistics.h"
#include "tools/terminal.h"

namespace us::tools {
namespace {

namespace fs = std::filesystem;

std::string setting(const RunRequest& r, const char* variable) {
  const auto it = r.settings.find(variable);
  if (it != r.settings.end()) return it->second;
  const char* value = std::getenv(variable);
  return value ? value : "";
}

std::string make_directory() {
  std::error_code error;
  std::string path = (fs::temp_directory_path(error) / "understudy.XXXXXX").string();
  if (!error && ::mkdtemp(path.data())) return path;
  complain(fmt::format("{}: {}", path, std::strerror(errno)));
  return {};
}

std::vector<trace::Recording> read_all(const std::string& directory) {
  std::vector<trace::Recording> all;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory, error)) {
    if (entry.path().extension() != ".events") continue;
    auto r = trace::read_recording(entry.path().string());
    if (!r) {
      complain(r.diags());
      continue;
    }
    if (r->dropped) complain(fmt::format("{}: {} records had no room on the disk", entry.path().string(), r->dropped));
    all.push_back(std::move(*r));
  }
  return all;
}

void write(const std::string& path, const std::string& text) {
  std::ofstream out(path);
  if (!(out << text) || !out.flush()) complain(fmt::format("{}: {}", path, std::strerror(errno)));
}

// Adds to the fidelity report that the program left there: it is one JSON object, whose last brace is replaced. Where
// each process writes a report of its own, %p is `all` here.
void add_json(std::string path, const std::vector<Table>& tables) {
  if (const auto at = path.find("%p"); at != std::string::npos) path.replace(at, 2, "all");
  std::ifstream in(path);
  std::string report((std::istreambuf_iterator<char>(in)), {});
  const std::size_t end = report.find_last_of('}');
  JsonWriter w;
  to_json(tables, w);
  const bool first = end == std::string::npos;
  write(path, (first ? "{" : report.substr(0, report.find_last_not_of(" \n\t", end - 1) + 1) + ",") +
                  "\n  \"statistics\": " + w.text() + "\n}\n");
}

}  // namespace

Recordings::Recordings(const RunRequest& r)
    : trace_(r.trace), json_(setting(r, "UNDERSTUDY_JSON")), stats_(r.stats), wanted_(r.stats || !r.trace.empty()) {
  if (!wanted_) return;
  directory_ = setting(r, "UNDERSTUDY_RECORD");
  if (!directory_.empty()) return;
  directory_ = make_directory();
  own_ = !directory_.empty();
  if (own_) ::setenv("UNDERSTUDY_RECORD", directory_.c_str(), 1);
}

Recordings::~Recordings() {
  std::error_code ignored;
  if (own_) fs::remove_all(directory_, ignored);
}

void Recordings::report() const {
  if (!wanted_) return;
  const auto all = read_all(directory_);
  if (!trace_.empty()) write(trace_, chrome_trace(all));
  if (!stats_) return;
  const auto tables = statistics(all);
  fmt::print(stderr, "understudy: what the program did, in time of this machine, not of the device{}", to_text(tables));
  if (!json_.empty()) add_json(json_, tables);
}

}  // namespace us::tools
