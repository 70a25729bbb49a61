// SPDX-License-Identifier: Apache-2.0
// How often the machine code of a kernel is executed, out of the PTX paths of its warps.
//
//   warp's path (block, lanes) .. ──► lanes with one path each ──Walker──► blocks of machine code ──► one warp again:
//   (converge.h): those that have not come back from a call go first, then those at the lowest address
#pragma once
#include <map>
#include <string>

#include "sass/converge.h"
#include "sass/walker.h"

namespace us::sass {

// A warp's lanes come to a PTX block: one of Program::blocks().
struct PathStep {
  u32 block = 0, lanes = 0;
  auto operator<=>(const PathStep&) const = default;
};
struct Executed {
  u64 warps = 0, lanes = 0;
  auto operator<=>(const Executed&) const = default;
};

class Execution {
 public:
  Execution(const Program&, const Function&);

  // The blocks of machine code that a warp comes through. Empty: no way was found.
  std::vector<Visit> visits(std::span<const PathStep>);
  void forget_counts();  // what add() told; ways stay
  // So many warps came along the path.
  u64 add(std::span<const PathStep>, u64 warps = 1);  // instructions of each of them; 0: no way was found

  const Graph& graph() const { return graph_; }
  const Map& map() const { return map_; }
  const std::vector<Executed>& blocks() const { return blocks_; }  // of the graph: by the walked ways
  // By the simple rule: an instruction is executed as often as the block of its PTX statement; by instruction.
  const std::vector<Executed>& by_statement() const { return by_statement_; }
  u64 walked() const { return walked_; }      // warps
  u64 lost() const { return lost_; }          // warps without a way, which only the simple rule counts
  u64 loose() const { return loose_; }        // warps whose way was found by arithmetic alone
  u64 searched() const { return searched_; }  // steps of the paths for which a way was searched
  // Why not to trust the map; empty: nothing speaks against it.
  std::string weakness() const;

 private:
  struct Group {
    u32 lanes = 0;
    std::vector<u32> blocks{};
  };
  static std::vector<Group> apart(std::span<const PathStep>);
  const std::vector<u32>& way(const std::vector<u32>& path);
  std::optional<std::vector<u32>> search(const Map&, const std::vector<u32>& path);
  std::vector<u32> with_subroutines(const std::vector<u32>& way, const std::vector<u32>& path) const;

  const Program& program_;
  const Function& function_;
  Graph graph_;
  Map map_, loose_map_;
  std::map<std::vector<u32>, std::vector<u32>> ways_;  // of PTX paths: empty: none
  std::map<std::vector<u32>, bool> by_arithmetic_;
  std::vector<Executed> blocks_, by_statement_;
  u64 walked_ = 0, lost_ = 0, loose_ = 0;
  u64 steps_ = 0, steps_before_ = 0;  // of all searches, that led nowhere; of those for launches before
  u64 searched_ = 0;
};

}  // namespace us::sass
