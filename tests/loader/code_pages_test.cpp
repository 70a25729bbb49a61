// SPDX-License-Identifier: Apache-2.0
#include "loader/code_pages.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <string>

namespace us::loader {
namespace {

constexpr size_t kPage = 4096;

class CodePages : public testing::Test {
 protected:
  CodePages() {
    const std::string content(2 * kPage, '\xc3');
    EXPECT_EQ(::write(fd_, content.data(), content.size()), static_cast<ssize_t>(content.size()));
  }
  ~CodePages() override { ::close(fd_), ::unlink(path_.c_str()); }
  unsigned char* map(int flags, int open_as) {
    const int fd = ::open(path_.c_str(), open_as);
    void* const p = ::mmap(nullptr, 2 * kPage, PROT_READ | PROT_EXEC, flags, fd, 0);
    ::close(fd);
    EXPECT_NE(p, MAP_FAILED);
    return static_cast<unsigned char*>(p);
  }
  void write_across_pages(unsigned char* code) {
    {
      const WritableCode pages(code + kPage - 2, 4, PROT_READ | PROT_EXEC);
      ASSERT_TRUE(pages);
      std::memset(code + kPage - 2, 0x90, 4);
    }
    EXPECT_EQ(code[kPage - 3], 0xc3);
    EXPECT_EQ(code[kPage + 1], 0x90);
    reinterpret_cast<void (*)()>(code + kPage - 2)();  // it is code again: nop, nop, nop, nop, ret
    unsigned char in_file = 0;
    EXPECT_EQ(::pread(fd_, &in_file, 1, kPage), 1);
    EXPECT_EQ(in_file, 0xc3);
  }

  std::string path_ = testing::TempDir() + "/code_pages_" + std::to_string(::getpid());
  int fd_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_TRUNC, 0700);
};

TEST_F(CodePages, PrivateOnesAreOpened) { write_across_pages(map(MAP_PRIVATE, O_RDONLY)); }

TEST_F(CodePages, ThoseThatMustNotBeWrittenAreCopied) {
  unsigned char* const code = map(MAP_SHARED, O_RDONLY);
  ASSERT_NE(::mprotect(code, kPage, PROT_READ | PROT_WRITE), 0);
  write_across_pages(code);
}

TEST_F(CodePages, NothingIsClaimedOfWhatIsNotThere) {
  unsigned char* const code = map(MAP_PRIVATE, O_RDONLY);
  ::munmap(code, 2 * kPage);
  EXPECT_FALSE(WritableCode(code, 4, PROT_READ | PROT_EXEC));
}

}  // namespace
}  // namespace us::loader
