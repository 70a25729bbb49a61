// SPDX-License-Identifier: Apache-2.0
// Words of the contexts by name: what special registers are made of.
#pragma once
#include "device/abi/abi.h"

namespace us::device {

enum class ContextWord : u8 {
  Block,  // three words, as Grid, Cluster, Ctaid and ClusterCtaid
  Grid,
  Cluster,
  Ctaid,
  ClusterCtaid,
  ClusterRank,
  Smid,
  Nsmid,
  GridId,
  GraphExec,
  SharedStatic,
  SharedDynamic,
  Envreg,  // four words
  WarpId,
};

struct ContextPlace {
  enum class In : u8 { Grid, Cta, Warp } in;
  u32 offset;  // bytes
  u32 bits;
};

constexpr ContextPlace place_of(ContextWord w, u32 k) {
  using In = ContextPlace::In;
  const auto in_grid = [&](std::size_t offset, u32 bits = 32) {
    return ContextPlace{In::Grid, static_cast<u32>(offset) + k * bits / 8, bits};
  };
  const auto in_cta = [&](std::size_t offset) { return ContextPlace{In::Cta, static_cast<u32>(offset) + k * 4, 32}; };
  switch (w) {
    case ContextWord::Block:
      return in_grid(offsetof(GridCtx, block));
    case ContextWord::Grid:
      return in_grid(offsetof(GridCtx, grid));
    case ContextWord::Cluster:
      return in_grid(offsetof(GridCtx, cluster));
    case ContextWord::Ctaid:
      return in_cta(offsetof(CtaCtx, ctaid));
    case ContextWord::ClusterCtaid:
      return in_cta(offsetof(CtaCtx, cluster_ctaid));
    case ContextWord::ClusterRank:
      return in_cta(offsetof(CtaCtx, cluster_rank));
    case ContextWord::Smid:
      return in_cta(offsetof(CtaCtx, smid));
    case ContextWord::Nsmid:
      return in_grid(offsetof(GridCtx, nsmid));
    case ContextWord::GridId:
      return in_grid(offsetof(GridCtx, grid_id), 64);
    case ContextWord::GraphExec:
      return in_grid(offsetof(GridCtx, graph_exec), 64);
    case ContextWord::SharedStatic:
      return in_grid(offsetof(GridCtx, shared_static));
    case ContextWord::SharedDynamic:
      return in_grid(offsetof(GridCtx, shared_dynamic));
    case ContextWord::Envreg:
      return in_grid(offsetof(GridCtx, envreg));
    case ContextWord::WarpId:
      return {In::Warp, offsetof(WarpCtx, warp_id), 32};
  }
  return {};
}

}  // namespace us::device
