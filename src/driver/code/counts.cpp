// SPDX-License-Identifier: Apache-2.0
#include "driver/code/counts.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "base/demangle.h"
#include "base/json.h"
#include "ir/sites.h"
#include "probe/counting.h"

namespace us::driver {
namespace {

using Line = Counts::Line;

// What one site adds to its line.
struct Row {
  u32 line = 0;
  u8 space = 3;
  bool barrier = false, copy = false;
};

std::string file_of(const ir::Module& m, u32 file) {
  return std::filesystem::path(file < m.files.size() ? m.files[file] : "?").filename().string();
}

std::string place_of(const ir::Module& m, const SrcLoc& at) {
  if (!at.file) return fmt::format("PTX line {}", at.line);
  std::string s = fmt::format("{}:{}", file_of(m, at.file), at.line);
  for (u32 k = at.inlined, depth = 0; k && k < m.inlined.size() && depth < 32; k = m.inlined[k].at.inlined, ++depth) {
    const ir::InlinedCall& call = m.inlined[k];
    const std::string name = call.function.empty() ? "?" : demangled(call.function);
    s += fmt::format(" in {}, called at {}:{}", name, file_of(m, call.at.file), call.at.line);
  }
  return s;
}

u8 space_of(const ir::Inst& i) {
  if (i.has(isa::Tok::global)) return 0;
  if (i.has(isa::Tok::shared)) return 1;
  return i.has(isa::Tok::local) ? 2 : 3;
}
// Parameters and constants are no memory that a kernel's author counts.
bool of_constants(const ir::Inst& i) { return i.has(isa::Tok::param) || i.has(isa::Tok::const_); }

// An arrival at the cluster's barrier and the wait for it are one coming to a barrier.
Row row_of(const ir::Site& s, u32 line) {
  Row r;
  r.line = line;
  if (!s.inst || s.inst->form == isa::Form::Unknown) return r;
  const u32 effects = isa::info(s.inst->form).effects;
  r.space = of_constants(*s.inst) ? u8{4} : space_of(*s.inst);
  r.barrier = (effects & isa::kBarrier) || ((effects & isa::kClusterBarrier) && !(effects & isa::kYield));
  r.copy = effects & isa::kCopy;
  return r;
}

}  // namespace

struct Counts::Of {
  Kernel kernel;          // all lines of the module, until somebody asks
  std::vector<Row> rows;  // by site

  void add(const std::vector<probe::Count>& total) {
    ++kernel.launches;
    for (std::size_t k = 0; k < total.size() && k < rows.size(); ++k) {
      const probe::Count& n = total[k];
      if (!n.warps) continue;
      Line& l = kernel.lines[rows[k].line];
      l.warps += n.warps, l.lanes += n.lanes;
      if (rows[k].space < kSpaces.size()) l.read[rows[k].space] += n.read, l.written[rows[k].space] += n.written;
      if (rows[k].barrier) l.barriers += n.warps;
      if (rows[k].copy) l.copies += n.lanes;
    }
  }
};

class Counts::Launched final : public probe::Listener {
 public:
  Launched(Counts& to, std::shared_ptr<Of> of, u32 workers)
      : to_(to), of_(std::move(of)), counting_(static_cast<u32>(of_->rows.size()), workers) {}
  void ended() override {
    std::lock_guard lock(to_.mutex_);
    of_->add(counting_.total());
  }
  probe::Strategy strategy() const override { return counting_.strategy(); }
  probe::Count* counts(u32 worker) override { return counting_.counts(worker); }

 private:
  Counts& to_;
  const std::shared_ptr<Of> of_;
  probe::Counting counting_;
};

std::shared_ptr<probe::Listener> Counts::listen(const ir::Module& m, const ir::Function& kernel, u32 workers) {
  std::lock_guard lock(mutex_);
  std::shared_ptr<Of>& of = kernels_[fmt::format("{}:{:016x}{:016x}", kernel.name, m.hash[0], m.hash[1])];
  if (!of) {
    of = std::make_shared<Of>();
    of->kernel.name = demangled(kernel.name);
    std::map<std::array<u32, 3>, u32> lines;  // file, line, inlined
    const std::vector<ir::Site> sites = ir::sites(m);
    for (const ir::Site& s : sites) lines.try_emplace({s.loc().file, s.loc().line, s.loc().inlined}, 0u);
    for (auto& [key, index] : lines) {
      index = static_cast<u32>(of->kernel.lines.size());
      of->kernel.lines.emplace_back().place = place_of(m, {key[0], key[1], 0, key[2]});
    }
    for (const ir::Site& s : sites) of->rows.push_back(row_of(s, lines[{s.loc().file, s.loc().line, s.loc().inlined}]));
  }
  return std::make_shared<Launched>(*this, of, workers);
}

std::vector<Counts::Kernel> Counts::kernels() const {
  std::lock_guard lock(mutex_);
  std::vector<Kernel> all;
  for (const auto& [name, of] : kernels_) {
    if (!of->kernel.launches) continue;
    all.push_back(of->kernel);
    std::erase_if(all.back().lines, [](const Line& l) { return !l.warps; });
  }
  return all;
}

std::string Counts::text() const {
  const std::vector<Kernel> all = kernels();
  if (all.empty()) return "no kernel was executed\n";
  std::string s;
  for (const Kernel& k : all) {
    s += fmt::format("{}: {} launch{}\n", k.name, k.launches, k.launches == 1 ? "" : "es");
    s += fmt::format("  {:>14} {:>6} {:>14} {:>14} {:>14} {:>14} {:>10} {:>10}  line\n", "warp instr.", "lanes",
                     "global read", "written", "shared read", "written", "barriers", "copies");
    for (const Line& l : k.lines) {
      s += fmt::format("  {:>14} {:>6.2f} {:>14} {:>14} {:>14} {:>14} {:>10} {:>10}  {}", l.warps,
                       static_cast<double>(l.lanes) / static_cast<double>(l.warps), l.read[0], l.written[0], l.read[1],
                       l.written[1], l.barriers, l.copies, l.place);
      for (std::size_t space : {2, 3})
        if (l.read[space] || l.written[space])
          s += fmt::format(" [{}: {} bytes read, {} written]", kSpaces[space], l.read[space], l.written[space]);
      s += "\n";
    }
  }
  return s;
}

std::string Counts::json() const {
  JsonWriter w;
  w.array();
  for (const Kernel& k : kernels()) {
    w.object().field("kernel", k.name).field("launches", k.launches).key("lines").array();
    for (const Line& l : k.lines) {
      w.object().field("line", l.place).field("warp_instructions", l.warps).field("lanes", l.lanes);
      w.field("barriers", l.barriers).field("copies", l.copies);
      for (std::size_t space = 0; space < kSpaces.size(); ++space) {
        w.field(fmt::format("{}_bytes_read", kSpaces[space]), l.read[space]);
        w.field(fmt::format("{}_bytes_written", kSpaces[space]), l.written[space]);
      }
      w.end();
    }
    w.end().end();
  }
  return w.end().text();
}

}  // namespace us::driver
