// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <utility>

#include <amct/core/buffer.hpp>
#include <amct/exec/op_context.hpp>

namespace amct::exec {

/// Floats that an operator needs while it runs, uninitialised, in memory that is recycled like that of tensors.
class Scratch {
 public:
  /// \throws std::bad_alloc
  Scratch(const OpContext& context, std::size_t floats)
      : arena_(context.arena),
        memory_(arena_ == nullptr ? Buffer(floats * sizeof(float)) : arena_->take(floats * sizeof(float))) {}
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() {
    if (arena_ != nullptr) arena_->give(std::move(memory_));
  }

  [[nodiscard]] float* data() noexcept { return reinterpret_cast<float*>(memory_.data()); }

 private:
  Arena* arena_;
  Buffer memory_;
};

}  // namespace amct::exec
