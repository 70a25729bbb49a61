// SPDX-License-Identifier: Apache-2.0
#include "device/schedule/report.h"

#include <fmt/format.h>

#include <bit>

#include "base/demangle.h"
#include "device/schedule/machine.h"

namespace us::device {

std::string line_of(Warp& w, const void* pc) {
  const auto& code = *grid_of(w).launch->code;
  return code.line_of ? code.line_of(pc) : std::string();
}

// The return address is that of the next instruction, which may have another line.
std::string line_of_call(Warp& w) { return w.site ? line_of(w, static_cast<const u8*>(w.site) - 1) : std::string(); }

std::string text_of(const Dim3& d) { return fmt::format("[{},{},{}]", d.x, d.y, d.z); }

u64 linear_in_grid(const Cta& c) {
  const Dim3 &at = c.ctaid, &n = c.grid->grid;
  return (u64{at.z} * n.y + at.y) * n.x + at.x;
}

Dim3 thread_of(const Warp& w, u32 lane) {
  const Dim3& b = w.grid->block;
  u32 t = w.warp_id * kWarpSize + lane;
  return {t % b.x, t / b.x % b.y, t / (b.x * b.y)};
}

std::string place_of(Warp& w, u32 lanes, const std::string& line) {
  std::string threads;
  if (lanes) {
    u32 first = u32(std::countr_zero(lanes)), last = 31 - u32(std::countl_zero(lanes));
    threads = first == last
                  ? fmt::format(", thread {}", text_of(thread_of(w, first)))
                  : fmt::format(", threads {} to {}", text_of(thread_of(w, first)), text_of(thread_of(w, last)));
    if (last - first + 1 != u32(std::popcount(lanes))) threads += fmt::format(" (lanes {:#010x})", lanes);
  }
  std::string at = line.empty() ? std::string() : fmt::format("\n  at {}", line);
  return fmt::format("  kernel {}, block {}, warp {}{}{}", demangled(grid_of(w).launch->code->name),
                     text_of(w.home->ctaid), w.warp_id, threads, at);
}

probe::Fault fault_of(const Warp& w, u32 lanes, probe::Refused refused) {
  return {.refused = refused,
          .cta = linear_in_grid(*w.home),
          .warp = w.warp_id,
          .lanes = lanes,
          .site = w.listener ? w.probe_site : probe::kNoSite,
          .spins = {}};
}

namespace {
void fail_launch(Warp& w, Outcome outcome, std::string&& what, u32 lanes, std::string&& line, probe::Refused refused) {
  std::string head = std::move(what), at = std::move(line);
  Slot& s = *w.home->slot;
  s.worker->machine.fail(s.grid, Fault{outcome, head + "\n" + place_of(w, lanes, at), fault_of(w, lanes, refused)});
}
}  // namespace

// All strings are gone before the stack is left for good.
void die(Warp& w, Outcome outcome, std::string&& what, u32 lanes, probe::Refused refused) {
  fail_launch(w, outcome, std::move(what), lanes, line_of_call(w), refused);
  w.home->slot->worker->abandon(w);
}

void die_at(Warp& w, Outcome outcome, std::string&& what, u32 lanes, std::string&& line, probe::Refused refused) {
  fail_launch(w, outcome, std::move(what), lanes, std::move(line), refused);
  w.home->slot->worker->abandon(w);
}

}  // namespace us::device
