// SPDX-License-Identifier: Apache-2.0
// Exit codes of `understudy` itself; docs/cli.md explains them. A program's own code is passed on.
#pragma once
namespace us::tools {
inline constexpr int kExitProblems = 1;         // `ptx`: the file has errors
inline constexpr int kExitAssertion = 4;        // `profile`: an assertion does not hold
inline constexpr int kExitFindings = 120;       // `check`: the program has errors
inline constexpr int kExitStaticRuntime = 121;  // `run`: the program holds a CUDA runtime of its own
inline constexpr int kExitUsage = 125;          // wrong option or setting, or understudy could not do its part
inline constexpr int kExitNotExecutable = 126;  // as in a shell
inline constexpr int kExitNotFound = 127;
inline constexpr int kExitSignal = 128;  // plus the number of the signal that ended the program
}  // namespace us::tools
