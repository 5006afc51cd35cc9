// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <amct/core/args.hpp>
#include <amct/core/status.hpp>
#include <amct/quantize/any_quantizer.hpp>
#include <amct/quantize/concept.hpp>

namespace amct {

/// What a quantizer is for, as a configuration tells them apart.
enum class Role : std::uint8_t { activation, weight };

/// An argument of a quantizer, for people.
struct QuantizerOption {
  const char* name = "";
  const char* standard = "";  ///< the value it has if it is not stated, as JSON; empty: it must be stated, or has none
  const char* allowed = "";
};

/// QuantizerRow::source of the quantizers of amct.
inline constexpr std::string_view kBuiltinSource = "amct";

/// One way of making a quantizer from a name and arguments.
struct QuantizerRow {
  std::string name{};
  Role role = Role::activation;
  std::string widths{};  ///< widths it offers, for people: "8..16"
  Status (*make)(const Args& args, AnyQuantizer& result) = nullptr;
  std::span<const QuantizerOption> options{};  ///< what it reads, where that is known
  std::string source{};                        ///< kBuiltinSource, or the file of a plugin; empty: this program's own
};

/// Options that can be read from arguments: `void read(ArgReader&)`.
template <class O>
concept ReadableOptions = requires(O options, ArgReader& reader) {
  options.read(reader);
};

/// From names in a configuration to quantizers. Starts empty; quantize/builtin.hpp gives one with all that amct has,
/// and one of a user's own is added in one line: `registry.add<MyQuantizer>("my.module.MyQuantizer", Role::weight)`.
class QuantizerRegistry {
 public:
  /// Replaces a row of the same name and role.
  void add(QuantizerRow row) {
    for (QuantizerRow& old : rows_) {
      if (old.name != row.name || old.role != row.role) continue;
      old = std::move(row);
      return;
    }
    rows_.push_back(std::move(row));
  }

  /// Options come from the arguments if they can be read; otherwise no argument but num_bits, with the type's own
  /// width, is accepted. \param described  the same for people; must outlive the registry
  template <Quantizer Q>
  void add(std::string name, Role role, std::span<const QuantizerOption> described = {}) {
    const auto make = [](const Args& args, AnyQuantizer& result) {
      ArgReader reader(args);
      typename Q::Options options{};
      int bits = Q::Bits::width;
      reader.read("num_bits", bits);
      if constexpr (ReadableOptions<typename Q::Options>) options.read(reader);
      if (bits != Q::Bits::width) reader.refuse("num_bits", bits, "the width of this quantizer alone");
      if (const Status status = reader.status(); !status.ok()) return status;
      result = AnyQuantizer(Q(std::move(options)));
      return Status{};
    };
    add({std::move(name), role, std::to_string(Q::Bits::width), make, described});
  }

  /// Null if there is none.
  [[nodiscard]] const QuantizerRow* find(std::string_view name, Role role) const noexcept {
    for (const QuantizerRow& row : rows_) {
      if (row.name == name && row.role == role) return &row;
    }
    return nullptr;
  }

  [[nodiscard]] std::span<const QuantizerRow> rows() const noexcept { return rows_; }

  /// Makes a quantizer. An unknown name is StatusCode::unknown_name; a bad argument is named by the status, which
  /// refers to `args`.
  Status make(std::string_view name, Role role, const Args& args, AnyQuantizer& result) const {
    const QuantizerRow* const row = find(name, role);
    if (row == nullptr) return {StatusCode::unknown_name};
    return row->make(args, result);
  }

 private:
  std::vector<QuantizerRow> rows_;
};

}  // namespace amct
