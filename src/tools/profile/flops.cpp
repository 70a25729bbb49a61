// SPDX-License-Identifier: Apache-2.0
#include "tools/profile/flops.h"

#include <algorithm>
#include <charconv>

#include "sass/decode.h"

namespace us::tools {
namespace {

// Published for Hopper: 64 FP64, 128 FP32 and 256 FP16 fused additions a cycle and multiprocessor, 2048 of tensor
// cores.
constexpr FlopRow kRows[] = {{FlopKind::Fp64, "FP64", 128},
                             {FlopKind::Fp32, "FP32", 256},
                             {FlopKind::Fp16, "FP16", 512},
                             {FlopKind::Tensor, "tensor cores, 16 bit", 4096}};

struct Scalar {
  std::string_view name;
  FlopKind kind;
  double flops;  // of a thread
};
constexpr Scalar kScalars[] = {
    {"FFMA", FlopKind::Fp32, 2},  {"FADD", FlopKind::Fp32, 1},  {"FMUL", FlopKind::Fp32, 1},
    {"DFMA", FlopKind::Fp64, 2},  {"DADD", FlopKind::Fp64, 1},  {"DMUL", FlopKind::Fp64, 1},
    {"HFMA2", FlopKind::Fp16, 4}, {"HADD2", FlopKind::Fp16, 2}, {"HMUL2", FlopKind::Fp16, 2},
};

std::string_view part(std::string_view name, std::size_t k) {
  for (; k; --k) {
    const auto dot = name.find('.');
    if (dot == name.npos) return "";
    name.remove_prefix(dot + 1);
  }
  return name.substr(0, name.find('.'));
}

u32 number(std::string_view text) {
  u32 n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  return error == std::errc() && end == text.data() + text.size() ? n : 0;
}

// "64x128x16", or "16816": 16 or 8 rows, 8 columns, the rest.
double tile(std::string_view shape) {
  if (const auto x = shape.find('x'); x != shape.npos) {
    const auto y = shape.find('x', x + 1);
    if (y == shape.npos) return 0;
    return 2.0 * number(shape.substr(0, x)) * number(shape.substr(x + 1, y - x - 1)) * number(shape.substr(y + 1));
  }
  const u32 rows = shape.starts_with("16") ? 16 : 8;
  const std::size_t at = rows == 16 ? 2 : 1;
  if (shape.size() <= at + 1 || shape[at] != '8') return 0;
  return 2.0 * rows * 8 * number(shape.substr(at + 1));
}

}  // namespace

std::span<const FlopRow> flop_rows() { return kRows; }

double tile_flops(std::string_view name) {
  const std::string_view base = part(name, 0);
  const bool group = base.ends_with("GMMA");  // four warps do one tile
  if (!group && base != "HMMA" && base != "IMMA" && base != "DMMA" && base != "BMMA") return 0;
  const bool sparse = part(name, 1) == "SP";
  return tile(part(name, sparse ? 2 : 1)) / (group ? 4 : 1);
}

Flops flops_of(const timing::LaunchProfile& p) {
  Flops out;
  const auto at = [&](FlopKind k) -> double& { return out.of[static_cast<int>(k)]; };
  for (u32 k = 0; k < p.machine.size(); ++k) {
    if (!p.machine[k].warps) continue;
    const std::string name = sass::decode(p.listing->instructions[k].word, k * 16).name;
    if (const double f = tile_flops(name)) at(FlopKind::Tensor) += f * static_cast<double>(p.machine[k].warps);
    const auto scalar = std::ranges::find(kScalars, part(name, 0), &Scalar::name);
    if (scalar != std::end(kScalars)) at(scalar->kind) += scalar->flops * static_cast<double>(p.machine[k].lanes);
  }
  return out;
}

}  // namespace us::tools
