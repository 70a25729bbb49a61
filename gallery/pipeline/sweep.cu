// SPDX-License-Identifier: Apache-2.0
// Every structure with 1 to 8 stages and block sizes from 32 to 1024, among them sizes that fill no whole warp.
// The short form takes six sizes for each number of stages; --all takes every multiple of 32 as well.
#include "structures.cuh"

using namespace gallery;

int main(int argc, char** argv) {
  Sizes defaults;
  defaults.blocks = 3, defaults.batches = 0, defaults.times = false;
  const Sizes asked = parse_sizes(argc, argv, defaults);
  Sizes sizes = asked;
  std::vector<int> threads = {32, 50, 96, 257, 640, 1024};
  if (asked.all)
    for (int t = 64; t < 1024; t += 32) threads.push_back(t);
  bool passed = true;
  for (int stages = 1; stages <= kMaxStages; ++stages) {
    if (asked.stages && asked.stages != stages) continue;
    sizes.batches = asked.batches ? asked.batches : 2 * stages + 3;  // long enough to use every slot twice
    for (int t : threads) {
      sizes.threads = t;
      for (const Case& c : structures(stages, t)) passed &= run_case(c, sizes);
    }
  }
  return verdict(passed);
}
