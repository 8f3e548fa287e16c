// SPDX-License-Identifier: Apache-2.0
// Gives a target random changes of seeds, for compilers without libFuzzer: the same entry points,
// without its feedback from the code that was reached. Inputs that the reader takes become seeds.
//
//   tosaic_fuzz --seconds N --seed N --current FILE SEED…   mutates until the time is over
//   tosaic_fuzz FILE…                                       runs these files only
//
// The input at work lies in FILE, so that it is there when the process dies.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <vector>

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv);
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t num_bytes);

namespace {

using Input = std::vector<uint8_t>;

constexpr size_t kMaxBytes = size_t{1} << 20;
constexpr size_t kMaxTaken = 2000;
constexpr unsigned kMostSeconds = 20;  // for one input; more is a hang

constexpr std::array<uint64_t, 16> kNumbers = {
    0,      1,      2,          0x7f,       0x80,       0xff,       0x100,     0x7fff,
    0x8000, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff, UINT64_MAX, INT64_MAX, uint64_t{1} << 63};
constexpr std::array<std::string_view, 18> kWords = {
    "0",   "-1",    "1",        "65536", "2147483647", "4294967296", "9223372036854775807",
    "1e9", "null",  "true",     "\"\"",  "[]",         "{}",         "-9223372036854775808",
    "nan", "1e400", "\xff\xfe", "../"};

class Mutator {
 public:
  explicit Mutator(uint64_t seed) : random_(seed) {}

  size_t below(size_t limit) { return static_cast<size_t>(random_() % limit); }

  Input mutate(Input input, const std::vector<Input>& seeds) {
    const size_t count = size_t{1} << below(5);
    for (size_t i = 0; i < count; ++i)
      change(input, seeds[below(seeds.size())]);
    if (input.size() > kMaxBytes) input.resize(kMaxBytes);
    return input;
  }

 private:
  void change(Input& input, const Input& other) {
    if (input.empty()) input = other;
    if (input.empty()) return input.push_back(static_cast<uint8_t>(random_()));
    const size_t at = below(input.size());
    const auto place = input.begin() + static_cast<std::ptrdiff_t>(at);
    const size_t most = std::min<size_t>(input.size() - at, 64);
    const size_t length = 1 + below(most);
    const auto end = place + static_cast<std::ptrdiff_t>(length);
    switch (below(9)) {
      case 0:
        *place ^= static_cast<uint8_t>(1U << below(8));
        break;
      case 1:
        *place = static_cast<uint8_t>(random_());
        break;
      case 2:
        put_number(input, at);
        break;
      case 3:
        input.erase(place, end);
        break;
      case 4: {
        const Input piece(place, end);
        input.insert(input.begin() + static_cast<std::ptrdiff_t>(below(input.size())),
                     piece.begin(), piece.end());
        break;
      }
      case 5:
        put_word(input, at);
        break;
      case 6:
        splice(input, at, other);
        break;
      case 7:
        if (below(20) == 0) input.resize(at);
        break;
      default: {  // a small step of a small number
        *place = static_cast<uint8_t>(*place + below(9) - 4);
      }
    }
  }

  /// A number of 1, 2, 4 or 8 bytes; in files of numbers most lie at multiples of their size.
  void put_number(Input& input, size_t at) {
    const size_t size = size_t{1} << below(4);
    if (below(2) == 0) at -= at % size;
    if (size > input.size() - at) return;
    uint64_t value = kNumbers[below(kNumbers.size())];
    if (below(3) == 0) value = input.size() + below(32) - 16;  // a place near the end
    for (size_t i = 0; i < size; ++i)
      input[at + i] = static_cast<uint8_t>(value >> (8 * i));
  }

  /// Replaces the next number of a text, or inserts a word.
  void put_word(Input& input, size_t at) {
    const auto is_digit = [](uint8_t c) { return c >= '0' && c <= '9'; };
    auto begin =
        std::find_if(input.begin() + static_cast<std::ptrdiff_t>(at), input.end(), is_digit);
    const auto end = below(4) == 0 ? begin : std::find_if_not(begin, input.end(), is_digit);
    const std::string_view word = kWords[below(kWords.size())];
    begin = input.erase(begin, end);
    input.insert(begin, word.begin(), word.end());
  }

  void splice(Input& input, size_t at, const Input& other) {
    if (other.empty()) return;
    const size_t from = below(other.size());
    const size_t length = 1 + below(std::min<size_t>(other.size() - from, 256));
    const auto begin = other.begin() + static_cast<std::ptrdiff_t>(from);
    const auto end = begin + static_cast<std::ptrdiff_t>(length);
    if (below(2) == 0) {
      input.insert(input.begin() + static_cast<std::ptrdiff_t>(at), begin, end);
    } else {
      const size_t copied = std::min(length, input.size() - at);
      std::copy_n(begin, copied, input.begin() + static_cast<std::ptrdiff_t>(at));
    }
  }

  std::mt19937_64 random_;
};

/// A file that holds the input at work even after a crash: the mapping is the file.
class CurrentInput {
 public:
  explicit CurrentInput(const char* path)
      : descriptor_(::open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)) {
    void* memory = MAP_FAILED;
    if (descriptor_ >= 0 && ::ftruncate(descriptor_, kFileBytes) == 0) {
      memory = ::mmap(nullptr, kFileBytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0);
    }
    if (memory == MAP_FAILED) {
      std::perror(path);
      std::exit(2);
    }
    memory_ = static_cast<uint8_t*>(memory);
  }
  ~CurrentInput() {
    ::munmap(memory_, kFileBytes);
    ::close(descriptor_);
  }
  CurrentInput(const CurrentInput&) = delete;
  CurrentInput& operator=(const CurrentInput&) = delete;

  /// The size first, then the bytes.
  void set(const Input& input) {
    const uint64_t size = input.size();
    std::memcpy(memory_, &size, sizeof size);
    if (size != 0) std::memcpy(memory_ + sizeof size, input.data(), size);
  }

 private:
  static constexpr size_t kFileBytes = kMaxBytes + sizeof(uint64_t);
  int descriptor_;
  uint8_t* memory_ = nullptr;
};

Input content_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    std::fprintf(stderr, "cannot read %s\n", path.c_str());
    std::exit(2);
  }
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

int test(const Input& input) {
  ::alarm(kMostSeconds);
  // Exactly as many bytes, so that one byte too far is found.
  const Input exact(input);
  const int result = LLVMFuzzerTestOneInput(exact.data(), exact.size());
  ::alarm(0);
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  LLVMFuzzerInitialize(&argc, &argv);
  long seconds = 0;
  uint64_t seed = 1;
  const char* current_path = nullptr;
  std::vector<Input> seeds;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word.starts_with("--") && i + 1 < argc) {
      const char* value = argv[++i];
      if (word == "--seconds") seconds = std::atol(value);
      if (word == "--seed") seed = static_cast<uint64_t>(std::atoll(value));
      if (word == "--current") current_path = value;
    } else {
      seeds.push_back(content_of(argv[i]));
    }
  }
  size_t num_taken = 0;
  for (const Input& input : seeds)
    num_taken += test(input) == 0 ? 1 : 0;
  if (current_path == nullptr || seeds.empty()) {
    std::printf("%zu inputs, %zu taken\n", seeds.size(), num_taken);
    return 0;
  }
  Mutator mutator(seed);
  CurrentInput current(current_path);
  const size_t num_seeds = seeds.size();
  const size_t num_good = num_taken;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  size_t num_runs = 0;
  num_taken = 0;
  for (; std::chrono::steady_clock::now() < end; ++num_runs) {
    // Every other input comes from a file: what is taken tends to become shorter and shorter.
    const size_t choice = mutator.below(mutator.below(2) == 0 ? num_seeds : seeds.size());
    const Input input = mutator.mutate(seeds[choice], seeds);
    current.set(input);
    if (test(input) != 0) continue;
    ++num_taken;
    if (seeds.size() < num_seeds + kMaxTaken) {
      seeds.push_back(input);
    } else {
      seeds[num_seeds + mutator.below(kMaxTaken)] = input;
    }
  }
  std::printf("%zu runs, %zu taken; %zu of %zu seeds taken\n", num_runs, num_taken, num_good,
              num_seeds);
  return 0;
}
