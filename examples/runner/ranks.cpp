// SPDX-License-Identifier: Apache-2.0
#include "ranks.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <utility>

#ifdef AMCT_WITH_MPI
#define OMPI_SKIP_MPICXX 1  // the C interface alone
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>
#endif

namespace runner {

Ranks& Ranks::world() {
  static Ranks ranks;
  return ranks;
}

#ifdef AMCT_WITH_MPI

namespace {

enum class Kind : std::uint64_t { state, failure };

constexpr int kTag = 1;

/// What goes ahead of the bytes of a state or of an error's message.
struct Header {
  std::uint64_t kind;
  std::uint64_t code;  // of an error
  std::uint64_t bytes;
};

/// Calls `step(begin, count)` for pieces that MPI's int can count.
template <class Step>
void in_pieces(std::size_t bytes, const Step& step) {
  constexpr std::size_t kMost = std::size_t{1} << 30U;
  for (std::size_t begin = 0; begin < bytes; begin += kMost) {
    step(begin, static_cast<int>(std::min(kMost, bytes - begin)));
  }
}

void send(const Header& header, const std::string& bytes) {
  MPI_Send(&header, sizeof header, MPI_BYTE, 0, kTag, MPI_COMM_WORLD);
  in_pieces(bytes.size(), [&](std::size_t begin, int count) {
    MPI_Send(bytes.data() + begin, count, MPI_BYTE, 0, kTag, MPI_COMM_WORLD);
  });
}

std::string receive(int rank, Header& header) {
  MPI_Recv(&header, sizeof header, MPI_BYTE, rank, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  std::string bytes(static_cast<std::size_t>(header.bytes), '\0');
  in_pieces(bytes.size(), [&](std::size_t begin, int count) {
    MPI_Recv(bytes.data() + begin, count, MPI_BYTE, rank, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  });
  return bytes;
}

/// Joining takes a moment, so it is done only for what an MPI launcher started.
bool started_by_mpi() {
  constexpr const char* kVariables[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK"};
  return std::any_of(std::begin(kVariables), std::end(kVariables),
                     [](const char* variable) { return std::getenv(variable) != nullptr; });
}

}  // namespace

Ranks::Ranks() {
  if (!started_by_mpi()) return;
  MPI_Init(nullptr, nullptr);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &size_);
}

Ranks::~Ranks() {
  if (started_by_mpi()) MPI_Finalize();
}

void Ranks::gather(std::string state, const std::function<void(int rank, std::string state)>& on_state) {
  if (!is_first()) {
    send({.kind = static_cast<std::uint64_t>(Kind::state), .code = 0, .bytes = state.size()}, state);
    return;
  }
  state = std::string();  // rank 0 has it in its own form
  for (int rank = 1; rank < size_; ++rank) {
    Header header{};
    std::string bytes = receive(rank, header);
    if (header.kind == static_cast<std::uint64_t>(Kind::failure)) {
      throw amct::Error(static_cast<amct::ErrorCode>(header.code), {.file = "rank " + std::to_string(rank)}, bytes);
    }
    on_state(rank, std::move(bytes));
  }
}

void Ranks::fail(const amct::Error& error) noexcept {
  if (size_ == 1) return;
  if (is_first()) abort();
  std::string text = error.what();
  text.erase(0, text.find("] ") + 2);  // "amct: [code] "; rank 0 puts it there again
  send({.kind = static_cast<std::uint64_t>(Kind::failure),
        .code = static_cast<std::uint64_t>(error.code()),
        .bytes = text.size()},
       text);
}

void Ranks::abort() noexcept {
  if (size_ > 1) MPI_Abort(MPI_COMM_WORLD, 1);
}

#else

Ranks::Ranks() = default;
Ranks::~Ranks() = default;
void Ranks::gather(std::string, const std::function<void(int rank, std::string state)>&) {}
void Ranks::fail(const amct::Error&) noexcept {}
void Ranks::abort() noexcept {}

#endif

}  // namespace runner
