// SPDX-License-Identifier: Apache-2.0
// What must hold of launches, and how they compare with those of another run.
#pragma once
#include "timing/metrics.h"
#include "tools/junit.h"

namespace us::tools {

// Launches of another run: the n-th launch of a kernel belongs to the n-th launch of the kernel of that name here.
class Baseline {
 public:
  explicit Baseline(std::vector<timing::LaunchProfile> launches) : launches_(std::move(launches)) {}
  // For each of them, or null: there was none.
  std::vector<const timing::LaunchProfile*> of(const std::vector<timing::LaunchProfile>&) const;
  std::size_t launches() const { return launches_.size(); }

 private:
  const std::vector<timing::LaunchProfile> launches_;
};

// "[KERNEL:]METRIC OP NUMBER", or "... OP [NUMBER *] baseline". A wrong one: says what was expected.
struct Assertion {
  std::string text, kernel, metric, op;
  double bound = 0;
  bool of_baseline = false;  // the bound is a multiple of its value
};
std::optional<Assertion> read_assertion(const std::string& text, std::string& why);

struct Verdict {
  std::string assertion, kernel;
  std::string violated;  // by which launches, a line each; empty: it holds
};
// Of an assertion, kernel by kernel. `before` has a launch, or null, for each of `all`; empty: there is no baseline.
std::vector<Verdict> verdicts(const Assertion&, const std::vector<timing::LaunchProfile>& all,
                              const std::vector<const timing::LaunchProfile*>& before);
std::vector<JunitCase> junit_cases(const std::vector<Verdict>&);

}  // namespace us::tools
