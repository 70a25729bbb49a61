// SPDX-License-Identifier: Apache-2.0
// The parser, private to ptx/. One pass: declarations become symbols, statements become instructions in blocks at once.
// Names that are used before they are declared get a symbol that the declaration fills in later; branch targets are
// numbers into label_refs_ until the end of the function. Every error is recorded, and parsing continues after it.
//
//   parse_module.cpp    .version .target .file, linkage, variables, aliases
//   parse_function.cpp  signatures, attributes
//   parse_body.cpp, parse_blocks.cpp  scopes, registers, labels, blocks
//   parse_inst.cpp      mnemonics, control flow;  parse_call.cpp  calls and prototypes
//   parse_operand.cpp   operands as written;      check_operands.cpp  against the row of the instruction table
//   parse_expr.cpp      constant expressions;     parse_initializer.cpp  initial values of variables
#pragma once
#include <array>
#include <deque>
#include <map>
#include <memory>
#include <unordered_map>
#include <unordered_set>

#include "ir/ir.h"
#include "isa/operands.h"
#include "ptx/lexer.h"

namespace us::ptx {

struct Constant {
  ir::Operand::Kind kind = ir::Operand::Kind::Imm;  // Imm, ImmF32, ImmF64
  u64 bits = 0;
  bool is_unsigned = false;
};

// What a name means inside a function.
struct Entity {
  enum class Kind : u8 { Register, Symbol, Label, Prototype, BranchTable, CallTable };
  Kind kind = Kind::Register;
  u8 elements = 0;  // Register: 2 or 4 for .v2, .v4
  u32 id = 0;       // ValueId, SymId, block, index of proto or table
};

struct RegisterRange {  // %r<10>
  std::string_view prefix;
  u32 count = 0, first = 0;
};

struct Scope {
  std::unordered_map<std::string_view, Entity> names;
  std::vector<RegisterRange> ranges;
  std::vector<u32> label_refs;  // uses of labels not found yet in this scope or an inner one
};

struct LabelRef {
  std::string_view name;
  SrcLoc loc;
  u32 block = ~0u;
};

// An operand as written; brackets and d|p are flattened.
struct RawOperand {
  ir::Operand op;
  SrcLoc loc;
  bool pipe = false;        // the part behind '|'
  bool in_bracket = false;  // behind the address in [t, {..}]
};

struct KnownMnemonic {
  isa::Match match;
  const isa::OperandList* operands = nullptr;
  const isa::FormInfo* info = nullptr;
  std::string expected;  // why there is no row
};

struct VariableType {
  isa::Type type = isa::Type::None;
  u32 elements = 1;  // .v2, .v4
  u32 align = 0;
  bool managed = false;
};

class Parser {
  struct RegisterParam {
    u32 reg;
    ir::SymId sym;
    isa::Type type;
    bool ret;
  };

 public:
  Parser(std::string_view text, std::string name);
  Result<std::unique_ptr<ir::Module>> run();

 private:
  // Tokens
  void advance() { cur_ = have_ahead_ ? ahead_ : lex_.next(), have_ahead_ = false; }
  const Token& ahead();
  bool accept(char c);
  bool expect(char c, const char* where);
  bool at_directive(std::string_view text) const { return cur_.kind == Token::Kind::Directive && cur_.text == text; }
  bool accept_directive(std::string_view text);
  std::string describe(const Token&) const;
  bool error(SrcLoc, std::string message);  // false, to be returned
  bool unexpected(const char* expected);    // error at the current token
  // Behind the next ';', or to a '}' that closes this level; at module level also behind a '}' that ends a body.
  void skip_statement();
  bool end_statement();

  // Module
  void module_statement();
  void version();
  void target();
  void file_directive();
  void section();
  void debug_strings(std::string_view section);
  void name_inlined_functions();
  void alias_directive();
  void pragma(std::vector<std::string>* into);
  void linkage_statement();
  void variable_statement(isa::Space, ir::Symbol::Linkage);
  bool one_variable(isa::Space, ir::Symbol::Linkage, const VariableType&);
  bool variable_type(VariableType&, bool param);
  bool attribute(VariableType&);
  bool array_dims(ir::Symbol&, std::vector<u64>& dims, u64 element_bytes);
  ir::SymId declare(std::string_view name, SrcLoc, ir::Symbol);
  ir::SymId declare_local(std::string_view name, SrcLoc, ir::Symbol);
  ir::SymId global_symbol(std::string_view name, SrcLoc);  // declared or not yet
  void check_everything_declared();
  ir::Symbol& symbol(ir::SymId id) { return module_->symbols[id.v]; }

  // Constants and initial values
  bool constant(Constant&, int min_precedence = 0);
  bool constant_unary(Constant&);
  bool constant_binary(const Token& op, Constant& a, const Constant& b);
  bool constant_int(i64&, const char* what);
  bool constant_u32(u32&, const char* what, u64 max = 0xffffffffull);
  struct InitCursor;
  bool initializer(ir::Symbol&, const std::vector<u64>& dims, u32 element_bytes);
  bool init_level(InitCursor&, std::size_t level, u64 offset);
  bool init_value(InitCursor&, u64 offset);
  bool init_symbol(InitCursor&, u64 offset, u64 mask);

  // Functions
  void function_statement(bool entry, ir::Symbol::Linkage);
  bool parameter_list(std::vector<ir::Param>&, bool returns);
  bool one_parameter(std::vector<ir::Param>&, bool returns);
  ir::FuncId declare_function(const Token& name, bool entry, ir::Symbol::Linkage);
  void check_signature(const ir::Function& earlier, SrcLoc);
  void function_attributes(ir::Function&);
  bool triple(u32 (&out)[3]);
  void declare_parameters(bool entry);
  void body();
  void give_stack_back();
  void finish_body();
  void load_register_params();
  void store_register_returns(ir::Block&);
  ir::Inst param_access(const char* opcode, const RegisterParam&);
  void statement();
  void body_directive();
  void loc_directive();
  bool function_name(std::string& label);
  bool inlined_at(SrcLoc& call);
  void register_declaration();
  bool one_register(isa::Type, u32 elements);
  u32 new_register(isa::Type, std::string name);
  std::string unique_register_name(std::string_view) const;
  bool define(std::string_view name, SrcLoc, Entity);
  void open_scope();
  void close_scope();
  void label_statement();
  void branch_targets(std::string_view name, SrcLoc);
  void call_targets(std::string_view name, SrcLoc);
  void call_prototype(std::string_view name, SrcLoc);
  void define_prototype(std::string_view name, SrcLoc, ir::Proto);
  bool find_local(std::string_view name, Entity& out) const;
  bool find_range(const Scope&, std::string_view name, Entity&) const;

  // Blocks
  u32 new_block(std::string label);
  void start_block(u32 block);
  void terminate(ir::Terminator);
  ir::BlockId label_ref(std::string_view name, SrcLoc);
  void resolve_labels(Scope& closing, Scope* outer);
  u32 exit_block(ir::Terminator::Kind);
  void leave(ir::Terminator::Kind, const ir::Operand& guard);
  ir::Inst* append();

  // Instructions
  bool guard_prefix(ir::Operand&);
  void instruction();
  std::string spelled_now(std::string_view mnemonic) const;
  const KnownMnemonic& known(std::string_view mnemonic);
  bool control_flow(const KnownMnemonic&, const ir::Operand& guard);
  bool branch(const KnownMnemonic&, const ir::Operand& guard);
  bool branch_index(const KnownMnemonic&, const ir::Operand& guard);
  bool call(const KnownMnemonic&, const ir::Operand& guard, SrcLoc);
  bool call_list(std::vector<ir::Operand>&);
  bool call_prototype_name(ir::Inst::Call&);
  bool check_call(const ir::Inst::Call&, SrcLoc);
  void unknown_instruction(std::string_view mnemonic, const ir::Operand& guard, SrcLoc);
  SrcLoc source_loc(const Token& t) const { return line_.line ? line_ : t.loc(); }

  // Operands
  bool operands();  // up to ';', into raw_
  bool operand(bool pipe);
  bool plain_operand(ir::Operand&, int depth);
  bool named_operand(ir::Operand&);
  bool with_component(ir::Operand&, const Entity&, std::string_view suffix);
  bool address_operand();
  bool vector_operand(ir::Operand&, int depth);
  bool special_register(ir::Operand&, std::string_view base, std::string_view suffix);
  bool offset_suffix(i64&);
  bool place_operands(const KnownMnemonic&, ir::Inst&, std::string_view mnemonic, SrcLoc);
  bool is_present(const isa::OperandSpec&, const KnownMnemonic&, std::size_t spec, std::size_t raw) const;
  bool check_operand(const isa::OperandSpec&, const KnownMnemonic&, const ir::Operand&, SrcLoc);
  bool check_scalar(const isa::OperandSpec&, isa::Type want, const ir::Operand&, SrcLoc);
  bool check_register(const isa::OperandSpec&, isa::Type, const ir::Operand&, SrcLoc);
  bool check_vector(const isa::OperandSpec&, const KnownMnemonic&, isa::Type, const ir::Operand&, SrcLoc);
  bool check_address(const KnownMnemonic&, const ir::Operand&, SrcLoc);
  ir::ValueId condition_code();

  Lexer lex_;
  Token cur_, ahead_;
  bool have_ahead_ = false;
  std::vector<Diag> diags_;
  std::unique_ptr<ir::Module> module_;
  std::unordered_map<std::string_view, ir::SymId> globals_;
  std::vector<SrcLoc> symbol_loc_;     // by SymId
  std::vector<bool> symbol_declared_;  // by SymId
  std::unordered_map<std::string_view, KnownMnemonic> mnemonics_;
  std::deque<std::string> joined_;  // mnemonics written with blanks inside
  int depth_ = 0;                   // of nested constant expressions

  // The function being parsed
  ir::Function fn_;
  ir::FuncId fn_id_;
  std::vector<isa::Type> reg_types_;
  std::vector<Scope> scopes_;
  std::vector<LabelRef> label_refs_;
  std::unordered_set<std::string_view> reported_;  // undefined names, each once
  std::unordered_map<std::string, u32> local_names_;
  std::vector<RawOperand> raw_;
  struct NewParam {
    std::string_view name;
    SrcLoc loc;
    u32 index;
    bool ret, in_register;
  };
  std::vector<NewParam> new_params_;
  std::vector<RegisterParam> register_params_;
  u32 block_ = 0;
  bool dead_ = false;  // behind an unconditional branch
  u32 ret_block_ = ~0u, exit_block_ = ~0u;
  ir::ValueId cc_;
  SrcLoc line_;                                 // of the last .loc
  std::map<std::array<u32, 3>, SrcLoc> lines_;  // of this function: the last one with this file, line and column
  std::map<std::pair<std::string, std::array<u32, 4>>, u32> inlined_calls_;  // name's label, call -> Module::inlined
  std::map<std::string, std::string, std::less<>> debug_strings_;            // by label
  ir::Inst scratch_;
  std::vector<std::vector<LabelRef>> branch_tables_;
};

ir::Operand value_operand(u32 reg);
// Bytes of one element of a variable; 0 for types that variables cannot have.
u32 bytes_of(isa::Type);

}  // namespace us::ptx
