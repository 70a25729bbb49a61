// SPDX-License-Identifier: Apache-2.0
// From the IR of a function to what code generation takes: every pass in order, in one function.
#pragma once
#include "codegen/lower/lowered.h"
#include "codegen/lower/pass_runner.h"

namespace us::codegen {

// What the functions of one compilation share.
struct Lowering {
  Lowering(const ir::Module& m, const CodeFacts& facts, PassWatch watch = {})
      : module(m), facts(facts), passes(m, facts.disabled, std::move(watch)) {}
  const std::vector<u8>& waiting();  // by FuncId, see inline_calls.h

  const ir::Module& module;
  const CodeFacts facts;
  PassRunner passes;

 private:
  std::vector<u8> waiting_;
};

Lowered lower(Lowering&, ir::FuncId);

}  // namespace us::codegen
