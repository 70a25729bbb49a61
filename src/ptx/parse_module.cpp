// SPDX-License-Identifier: Apache-2.0
// Module level: header directives, debug sections, linkage, aliases; names of the module.
#include <charconv>

#include "base/hash.h"
#include "ir/sites.h"
#include "ptx/parser.h"
#include "ptx/ptx.h"

namespace us::ptx {

using Linkage = ir::Symbol::Linkage;

Parser::Parser(std::string_view text, std::string name) : lex_(text), module_(std::make_unique<ir::Module>()) {
  module_->name = std::move(name);
  module_->files.emplace_back();
  module_->inlined.emplace_back();
  advance();
}

Result<std::unique_ptr<ir::Module>> Parser::run() {
  while (cur_.kind != Token::Kind::End) module_statement();
  if (module_->version == 0) error({0, 1, 1}, "no .version directive: this is no PTX module");
  check_everything_declared();
  name_inlined_functions();
  if (diags_.empty()) diags_ = assign_layout(*module_);
  if (!diags_.empty()) return std::move(diags_);
  ir::number_sites(*module_);
  return std::move(module_);
}

Result<std::unique_ptr<ir::Module>> parse(std::string_view text, std::string name) {
  while (!text.empty() && text.back() == '\0') text.remove_suffix(1);  // fat binaries pad with zeros
  auto module = Parser(text, std::move(name)).run();
  if (module) {
    Hash h;
    h.text(text);
    (*module)->hash[0] = h.a;
    (*module)->hash[1] = h.b;
  }
  return module;
}

void Parser::module_statement() {
  if (cur_.kind == Token::Kind::Directive) {
    const std::string_view d = cur_.text;
    if (d == ".version") return version();
    if (d == ".target") return target();
    if (d == ".file") return file_directive();
    if (d == ".section" || d == ".nv_intermediate_source_section") return section();
    if (d == ".alias") return alias_directive();
    if (d == ".pragma") return pragma(nullptr);
    if (d == ".loc" || d == ".loc_intermediate") return loc_directive();
    if (d == ".address_size") {
      advance();
      u32 bits = 0;
      const SrcLoc loc = cur_.loc();
      if (constant_u32(bits, "the address size") && bits != 64)
        error(loc, "only .address_size 64 exists on this device");
      return;
    }
    return linkage_statement();
  }
  if (accept(';')) return;
  unexpected("a directive");
  skip_statement();
}

void Parser::version() {
  advance();
  const Token t = cur_;
  u32 major = 0, minor = 0;
  // "9.0" is lexed as a decimal float; its text is not kept, so take it apart again.
  if (t.kind == Token::Kind::F64 || t.kind == Token::Kind::Int) {
    double v = 0;
    if (t.kind == Token::Kind::F64)
      __builtin_memcpy(&v, &t.bits, 8);
    else
      v = static_cast<double>(t.bits);
    if (v > 0 && v < 1000) {
      major = static_cast<u32>(v);
      minor = static_cast<u32>((v - major) * 10 + 0.5);
    }
  }
  if (major == 0) {
    unexpected("a version such as 9.0");
  } else {
    module_->version = major * 10 + minor;
  }
  if (t.kind != Token::Kind::End) advance();
}

void Parser::target() {
  advance();
  do {
    if (cur_.kind != Token::Kind::Word) {
      unexpected("a target such as sm_90");
      return;
    }
    const std::string_view t = cur_.text;
    if (t.starts_with("sm_") || t.starts_with("compute_")) {
      const std::string_view digits = t.substr(t.find('_') + 1);
      const auto r = std::from_chars(digits.data(), digits.data() + digits.size(), module_->sm);
      if (r.ec != std::errc()) error(cur_.loc(), "expected a target such as sm_90, found '" + std::string(t) + "'");
      module_->target = t;
    } else if (t == "texmode_independent") {
      module_->texmode_independent = true;
    } else if (t == "debug") {
      module_->debug = true;
    } else if (t != "texmode_unified" && t != "map_f64_to_f32") {
      error(cur_.loc(), "unknown target option '" + std::string(t) + "'");
    }
    advance();
  } while (accept(','));
}

void Parser::file_directive() {
  constexpr u32 kMaxFiles = 100000;
  advance();
  u32 index = 0;
  if (!constant_u32(index, "a file index", kMaxFiles)) return skip_statement();
  if (cur_.kind != Token::Kind::String) {
    unexpected("a file name");
    return;
  }
  if (module_->files.size() <= index) module_->files.resize(index + 1);
  module_->files[index] = cur_.text;
  advance();
  while (accept(',')) {
    i64 ignored = 0;  // time stamp, size
    if (!constant_int(ignored, "a time stamp or size")) return;
  }
}

// Debug data: never looked at.
void Parser::alias_directive() {
  advance();
  const Token name = cur_;
  if (cur_.kind != Token::Kind::Word) {
    unexpected("the name of an alias");
    return skip_statement();
  }
  advance();
  if (!expect(',', "after the alias")) return skip_statement();
  if (cur_.kind != Token::Kind::Word) {
    unexpected("the name of a function");
    return skip_statement();
  }
  const ir::SymId target = global_symbol(cur_.text, cur_.loc());
  const ir::SymId alias = global_symbol(name.text, name.loc());
  advance();
  symbol_declared_[alias.v] = true;
  symbol(alias).kind = ir::Symbol::Kind::Function;
  symbol(alias).linkage = Linkage::Visible;
  symbol(alias).alias = target;
  end_statement();
}

void Parser::pragma(std::vector<std::string>* into) {
  advance();
  do {
    if (cur_.kind != Token::Kind::String) {
      unexpected("a string after .pragma");
      return skip_statement();
    }
    if (into) into->emplace_back(cur_.text);
    advance();
  } while (accept(','));
  end_statement();
}

void Parser::linkage_statement() {
  Linkage linkage = Linkage::Internal;
  const SrcLoc loc = cur_.loc();
  for (;;) {
    if (accept_directive(".visible"))
      linkage = Linkage::Visible;
    else if (accept_directive(".extern"))
      linkage = Linkage::Extern;
    else if (accept_directive(".weak"))
      linkage = Linkage::Weak;
    else if (accept_directive(".common"))
      linkage = Linkage::Common;
    else
      break;
  }
  const std::string_view d = cur_.kind == Token::Kind::Directive ? cur_.text : std::string_view();
  if (d == ".entry" || d == ".func") return function_statement(d == ".entry", linkage);
  if (d == ".global") return variable_statement(isa::Space::Global, linkage);
  if (d == ".const") return variable_statement(isa::Space::Const, linkage);
  if (d == ".shared") return variable_statement(isa::Space::Shared, linkage);
  if (d == ".tex") return variable_statement(isa::Space::Global, linkage);
  if (d == ".local" || d == ".reg" || d == ".param") {
    error(loc, std::string(d) + " variables must be declared inside a function");
    return skip_statement();
  }
  if (d.empty())
    unexpected("a variable or function after the linkage directive");
  else
    error(cur_.loc(), "unknown directive '" + std::string(d) + "'");
  skip_statement();
}

ir::SymId Parser::global_symbol(std::string_view name, SrcLoc loc) {
  if (const auto it = globals_.find(name); it != globals_.end()) return it->second;
  const ir::SymId id{static_cast<u32>(module_->symbols.size())};
  ir::Symbol s;
  s.name = name;
  s.linkage = Linkage::Extern;
  module_->symbols.push_back(std::move(s));
  symbol_loc_.push_back(loc);
  symbol_declared_.push_back(false);
  globals_.emplace(name, id);
  return id;
}

ir::SymId Parser::declare(std::string_view name, SrcLoc loc, ir::Symbol s) {
  const ir::SymId id = global_symbol(name, loc);
  ir::Symbol& old = symbol(id);
  if (symbol_declared_[id.v]) {
    if (old.kind != s.kind || old.space != s.space) {
      error(loc, "'" + s.name + "' was declared differently in line " + std::to_string(symbol_loc_[id.v].line));
      return id;
    }
    if (s.linkage == Linkage::Extern) return id;
    if (old.linkage != Linkage::Extern && s.kind == ir::Symbol::Kind::Variable) {
      error(loc, "'" + s.name + "' is already defined in line " + std::to_string(symbol_loc_[id.v].line));
      return id;
    }
    s.func = old.func;
  }
  old = std::move(s);
  symbol_declared_[id.v] = true;
  symbol_loc_[id.v] = loc;
  return id;
}

void Parser::check_everything_declared() {
  for (std::size_t k = 0; k < symbol_declared_.size(); ++k)
    if (!symbol_declared_[k]) error(symbol_loc_[k], "'" + module_->symbols[k].name + "' is not declared");
}

}  // namespace us::ptx
