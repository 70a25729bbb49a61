// SPDX-License-Identifier: Apache-2.0
#include "codegen/lower/pass_runner.h"

#include <fmt/format.h>

#include <chrono>

#include "codegen/lower/facts_text.h"
#include "ir/verify.h"

namespace us::codegen {

double PassRunner::now_ms() {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::vector<PassTime> PassRunner::times() const {
  std::vector<PassTime> out;
  for (const PassRow& row : pass_rows()) {
    const Count& c = counts_[&row - pass_rows().data()];
    if (c.runs) out.push_back({std::string(row.name), c.ms});
  }
  return out;
}

void PassRunner::done(Pass p, const Lowered& l, double ms) {
  Count& c = counts_[static_cast<std::size_t>(p)];
  ++c.runs, c.ms += ms;
  if (watch_.dump_after == name_of(p) || watch_.dump_after == "all")
    dump += fmt::format("; --- after {}\n{}{}", name_of(p), ir::to_text(m_, l.function), facts_text(m_, l, p));
  if (!watch_.verify) return;
  const std::vector<Diag> wrong = ir::verify(m_, l.function, l.function.ssa ? &l.cfg : nullptr);
  if (wrong.empty()) return;
  std::string text = fmt::format("the IR is broken after pass {}", name_of(p));
  for (const Diag& d : wrong) text += "\n  " + d.message;
  if (!watch_.broken) internal_error(__FILE__, __LINE__, text.c_str());
  watch_.broken(p, text);
}

}  // namespace us::codegen
