// SPDX-License-Identifier: Apache-2.0
// Constant expressions: 64-bit integers with the operators of C; floats are only literals with a sign.
#include <bit>

#include "ptx/parser.h"

namespace us::ptx {
namespace {

constexpr int kMaxDepth = 100;
using Kind = ir::Operand::Kind;

int precedence(const Token& t) {
  if (t.kind != Token::Kind::Punct) return 0;
  if (t.punct2 == 0) switch (t.punct) {
      case '?':
        return 1;
      case '|':
        return 4;
      case '^':
        return 5;
      case '&':
        return 6;
      case '<':
      case '>':
        return 8;
      case '+':
      case '-':
        return 10;
      case '*':
      case '/':
      case '%':
        return 11;
      default:
        return 0;
    }
  if (t.is('|', '|')) return 2;
  if (t.is('&', '&')) return 3;
  if (t.is('=', '=') || t.is('!', '=')) return 7;
  if (t.is('<', '=') || t.is('>', '=')) return 8;
  if (t.is('<', '<') || t.is('>', '>')) return 9;
  return 0;
}

}  // namespace

bool Parser::constant_unary(Constant& c) {
  if (cur_.kind == Token::Kind::Int || cur_.kind == Token::Kind::F32 || cur_.kind == Token::Kind::F64) {
    c.kind = cur_.kind == Token::Kind::Int ? Kind::Imm : cur_.kind == Token::Kind::F32 ? Kind::ImmF32 : Kind::ImmF64;
    c.bits = cur_.bits;
    c.is_unsigned = cur_.kind == Token::Kind::Int && (cur_.is_unsigned || cur_.bits >> 63);
    advance();
    return true;
  }
  if (cur_.kind == Token::Kind::Word && cur_.text == "WARP_SZ") {
    c = {Kind::Imm, kWarpSize, false};
    advance();
    return true;
  }
  const char op = cur_.kind == Token::Kind::Punct && cur_.punct2 == 0 ? cur_.punct : '\0';
  if (op == '\0' || std::string_view("+-!~(").find(op) == std::string_view::npos) return unexpected("a constant");
  const SrcLoc loc = cur_.loc();
  if (depth_ >= kMaxDepth) return error(loc, "constant expression is nested too deeply");
  advance();
  struct Depth {
    int& d;
    explicit Depth(int& x) : d(x) { ++d; }
    ~Depth() { --d; }
  } guard(depth_);
  if (op == '(' && (at_directive(".s64") || at_directive(".u64"))) {
    const bool to_unsigned = cur_.text == ".u64";
    advance();
    if (!expect(')', "after a cast") || !constant_unary(c)) return false;
    if (c.kind != Kind::Imm) return error(loc, "a cast needs an integer");
    c.is_unsigned = to_unsigned;
    return true;
  }
  if (op == '(') return constant(c) && expect(')', "in a constant expression");
  if (!constant_unary(c)) return false;
  if (op == '+') return true;
  if (c.kind != Kind::Imm) {
    if (op != '-') return error(loc, std::string("operator ") + op + " needs an integer");
    c.bits ^= c.kind == Kind::ImmF32 ? 0x80000000ull : 1ull << 63;
    return true;
  }
  if (op == '-') c.bits = 0 - c.bits;
  if (op == '~') c.bits = ~c.bits;
  if (op == '!') c = {Kind::Imm, c.bits == 0, false};
  return true;
}

bool Parser::constant_binary(const Token& op, Constant& a, const Constant& b) {
  if (a.kind != Kind::Imm || b.kind != Kind::Imm) return error(op.loc(), "constant expressions are of integers");
  const bool uns = a.is_unsigned || b.is_unsigned;
  const u64 x = a.bits, y = b.bits;
  const i64 sx = static_cast<i64>(x), sy = static_cast<i64>(y);
  const auto logical = [&](bool v) {
    a = {Kind::Imm, v, false};
    return true;
  };
  if (op.punct2) {
    if (op.is('|', '|')) return logical(x || y);
    if (op.is('&', '&')) return logical(x && y);
    if (op.is('=', '=')) return logical(x == y);
    if (op.is('!', '=')) return logical(x != y);
    if (op.is('<', '=')) return logical(uns ? x <= y : sx <= sy);
    if (op.is('>', '=')) return logical(uns ? x >= y : sx >= sy);
    if (op.is('<', '<'))
      a.bits = y < 64 ? x << y : 0;
    else
      a.bits = a.is_unsigned ? (y < 64 ? x >> y : 0) : static_cast<u64>(sx >> (y < 64 ? y : 63));
    return true;
  }
  a.is_unsigned = uns;
  switch (op.punct) {
    case '<':
      return logical(uns ? x < y : sx < sy);
    case '>':
      return logical(uns ? x > y : sx > sy);
    case '+':
      a.bits = x + y;
      return true;
    case '-':
      a.bits = x - y;
      return true;
    case '*':
      a.bits = x * y;
      return true;
    case '&':
      a.bits = x & y;
      return true;
    case '|':
      a.bits = x | y;
      return true;
    case '^':
      a.bits = x ^ y;
      return true;
    default:
      break;
  }
  if (y == 0) return error(op.loc(), "division by zero in a constant expression");
  const bool minus_one = !uns && sy == -1;  // INT64_MIN / -1 must not reach the host's division
  if (op.punct == '/')
    a.bits = uns ? x / y : minus_one ? 0 - x : static_cast<u64>(sx / sy);
  else
    a.bits = uns ? x % y : minus_one ? 0 : static_cast<u64>(sx % sy);
  return true;
}

bool Parser::constant(Constant& c, int min_precedence) {
  if (!constant_unary(c)) return false;
  for (;;) {
    const Token op = cur_;
    const int p = precedence(op);
    if (p == 0 || p < min_precedence) return true;
    advance();
    if (p == 1) {
      if (depth_ >= kMaxDepth) return error(op.loc(), "constant expression is nested too deeply");
      ++depth_;
      Constant yes, no;
      const bool ok = constant(yes) && expect(':', "in a conditional constant") && constant(no, 1);
      --depth_;
      if (!ok) return false;
      if (c.kind != Kind::Imm) return error(op.loc(), "the condition of ?: must be an integer");
      c = c.bits ? yes : no;
      continue;
    }
    Constant right;
    if (!constant(right, p + 1) || !constant_binary(op, c, right)) return false;
  }
}

bool Parser::constant_int(i64& v, const char* what) {
  const SrcLoc loc = cur_.loc();
  Constant c;
  if (!constant(c, 9)) return false;
  if (c.kind != Kind::Imm) return error(loc, std::string(what) + " must be an integer");
  v = static_cast<i64>(c.bits);
  return true;
}

bool Parser::constant_u32(u32& v, const char* what, u64 max) {
  const SrcLoc loc = cur_.loc();
  i64 wide = 0;
  if (!constant_int(wide, what)) return false;
  if (wide < 0 || static_cast<u64>(wide) > max)
    return error(loc,
                 std::string(what) + " must be from 0 to " + std::to_string(max) + ", not " + std::to_string(wide));
  v = static_cast<u32>(wide);
  return true;
}

}  // namespace us::ptx
