// SPDX-License-Identifier: Apache-2.0
#include "sanitizer/launch_checker.h"
namespace us::sanitizer {
void LaunchChecker::mbarrier(const probe::Who&, const probe::Mbarrier&) {}
void LaunchChecker::transfer(const probe::Who&, const probe::Transfer&) {}
void LaunchChecker::copies(const probe::Who&, const probe::Copies&) {}
void LaunchChecker::matrix(const probe::Who&, const probe::Matrix&) {}
void LaunchChecker::fault(const std::string&) {}
void LaunchChecker::copies_at_exit(const At&, const probe::Who&) {}
void LaunchChecker::leave_cluster(const At&, const probe::Who&) {}
void LaunchChecker::visit(const At&, const probe::Who&, Cta&, u32, u32) {}
}  // namespace us::sanitizer
