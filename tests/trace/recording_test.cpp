// SPDX-License-Identifier: Apache-2.0
// Recordings are read back whole, and damaged ones without harm: a process may end while it writes.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>

#include "trace/reading.h"
#include "trace/recorder.h"

namespace us::trace {
namespace {

namespace fs = std::filesystem;

class RecordingTest : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(directory_); }
  void TearDown() override { fs::remove_all(directory_); }

  // Three calls, one kernel.
  std::string bytes() {
    {
      const auto r = Recorder::open(directory_.string(), [] { return u64(7); });
      for (const char* name : {"cudaMalloc", "cudaFree", "cudaMalloc"}) {
        Call c;
        c.name = r->name(name);
        c.id = r->next_id();
        r->write(c, Kind::Call);
      }
      Work w;
      w.name = r->name("saxpy");
      Span span(*r, w);
      span.begin();
      span.end();
    }
    std::ifstream in(path(), std::ios::binary);
    FileHeader h;
    in.read(reinterpret_cast<char*>(&h), sizeof h);
    std::string all(h.next, 0);
    in.seekg(0);
    in.read(all.data(), static_cast<std::streamsize>(all.size()));
    return all;
  }
  Result<Recording> read(std::string bytes) {
    if (bytes.size() >= sizeof(FileHeader)) {
      const u64 available = bytes.size();
      std::memcpy(bytes.data() + offsetof(FileHeader, available), &available, 8);
    }
    std::ofstream(path(), std::ios::binary | std::ios::trunc) << bytes;
    return read_recording(path());
  }
  std::string path(::pid_t process = ::getpid()) const { return directory_ / (std::to_string(process) + ".events"); }
  const fs::path directory_ = fs::temp_directory_path() / ("us_recording_test." + std::to_string(::getpid()));
};

// Whoever shows a recording looks names up by number.
void expect_names(const Recording& r) {
  for (const Call& c : r.calls) EXPECT_LT(c.name, r.names.size());
  for (const Work& w : r.work) EXPECT_LT(w.name, r.names.size());
}

TEST_F(RecordingTest, AChildWritesAFileOfItsOwn) {
  const auto r = Recorder::open(directory_.string(), [] { return u64(0); });
  const auto call = [&](const char* name) {
    Call c;
    c.name = r->name(name);
    r->write(c, Kind::Call);
  };
  call("before");
  const ::pid_t child = ::fork();
  if (child == 0) {
    r->move_to_child(directory_.string());
    call("in the child");
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  call("after");
  const auto mine = read_recording(path()), childs = read_recording(path(child));
  ASSERT_TRUE(mine && childs);
  EXPECT_EQ(childs->process, static_cast<u32>(child));
  ASSERT_EQ(mine->calls.size(), 2u);
  ASSERT_EQ(childs->calls.size(), 1u);
  EXPECT_EQ(mine->names[mine->calls[1].name], "after");
  EXPECT_EQ(childs->names[childs->calls[0].name], "in the child");
}

TEST_F(RecordingTest, IsReadBack) {
  const auto r = read(bytes());
  ASSERT_TRUE(r);
  ASSERT_EQ(r->calls.size(), 3u);
  EXPECT_EQ(r->names.at(r->calls[2].name), "cudaMalloc");
  ASSERT_EQ(r->work.size(), 1u);
  EXPECT_EQ(r->names.at(r->work[0].name), "saxpy");
  EXPECT_EQ(r->work[0].call, 7u);
  EXPECT_EQ(r->process, static_cast<u32>(::getpid()));
}

TEST_F(RecordingTest, MayEndAnywhere) {
  const std::string whole = bytes();
  for (std::size_t length = 0; length <= whole.size(); ++length) {
    const auto r = read(whole.substr(0, length));
    if (r) expect_names(*r);
  }
}

TEST_F(RecordingTest, MayLackANameThatIsUsed) {
  std::string all = bytes();
  const Kind unfinished = Kind::Unfinished;
  std::memcpy(all.data() + sizeof(FileHeader) + offsetof(Head, kind), &unfinished, sizeof unfinished);
  const auto r = read(all);
  ASSERT_TRUE(r);
  ASSERT_EQ(r->calls.size(), 3u);
  EXPECT_EQ(r->names.at(r->calls[0].name), "");
}

TEST_F(RecordingTest, MayBeDamaged) {
  const std::string whole = bytes();
  std::mt19937 random(20261122);
  for (int round = 0; round < 500; ++round) {
    std::string all = whole;
    for (int k = 0; k < 3; ++k) all[8 + random() % (all.size() - 8)] = static_cast<char>(random());
    const auto r = read(all);
    if (r) expect_names(*r);
  }
}

}  // namespace
}  // namespace us::trace
