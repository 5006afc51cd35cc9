// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <amct/core/status.hpp>

namespace amct {

/// A value that a configuration gives an algorithm.
using ArgValue = std::variant<bool, std::int64_t, double, std::string, std::vector<double>>;

/// Named arguments of an algorithm, as a configuration file states them: {"num_bits": 8, "observer": "IFMRObserver"}.
/// Names are unique; of equal names the last wins.
class Args {
 public:
  struct Arg {
    std::string name;
    ArgValue value;
  };

  Args() = default;
  Args(std::initializer_list<Arg> args) {
    for (const Arg& arg : args) set(arg.name, arg.value);
  }

  void set(std::string name, ArgValue value) {
    for (Arg& arg : args_) {
      if (arg.name != name) continue;
      arg.value = std::move(value);
      return;
    }
    args_.push_back({std::move(name), std::move(value)});
  }

  /// Null if there is none of this name.
  [[nodiscard]] const ArgValue* find(std::string_view name) const noexcept {
    for (const Arg& arg : args_) {
      if (arg.name == name) return &arg.value;
    }
    return nullptr;
  }

  [[nodiscard]] std::span<const Arg> all() const noexcept { return args_; }

 private:
  std::vector<Arg> args_;
};

/// Reads arguments into options. Each read() leaves the option as it is if the argument is absent. The first argument
/// of a wrong type is remembered; status() gives it, or the first argument that nobody read.
class ArgReader {
 public:
  /// `args` must outlive the reader and the statuses it gives.
  explicit ArgReader(const Args& args) : args_(&args), used_(args.all().size(), false) {}

  void read(const char* name, bool& option) {
    if (const ArgValue* value = take(name)) assign(std::get_if<bool>(value), name, "true or false", option);
  }
  void read(const char* name, std::string& option) {
    if (const ArgValue* value = take(name)) assign(std::get_if<std::string>(value), name, "a text", option);
  }
  /// A list, or one number as a list of one.
  void read(const char* name, std::vector<float>& option) {
    const ArgValue* const value = take(name);
    if (value == nullptr) return;
    std::vector<double> numbers;
    if (const auto* list = std::get_if<std::vector<double>>(value)) {
      numbers = *list;
    } else if (const auto number = number_of(*value); number.second) {
      numbers = {number.first};
    } else {
      return refuse(name, 0.0, "a number or a list of numbers");
    }
    option.clear();
    for (const double number : numbers) option.push_back(static_cast<float>(number));
  }
  template <std::floating_point T>
  void read(const char* name, T& option) {
    const ArgValue* const value = take(name);
    if (value == nullptr) return;
    const auto [number, is_number] = number_of(*value);
    if (!is_number) return refuse(name, 0.0, "a number");
    option = static_cast<T>(number);
  }
  template <std::integral T>
  requires(!std::same_as<T, bool>) void read(const char* name, T& option) {
    const ArgValue* const value = take(name);
    if (value == nullptr) return;
    const auto [number, is_number] = number_of(*value);
    constexpr double kMost = 1e9;
    const bool whole = is_number && number >= (std::signed_integral<T> ? -kMost : 0.0) && number <= kMost &&
                       number == static_cast<double>(static_cast<std::int64_t>(number));
    if (!whole) return refuse(name, number, std::signed_integral<T> ? "a whole number" : "a whole number, at least 0");
    option = static_cast<T>(number);
  }

  /// For an argument that has no meaning here but is part of the dialect.
  void ignore(const char* name) { (void)take(name); }

  /// Refuses an argument for a reason of the caller's, unless something was refused before.
  void refuse(const char* name, double value, const char* allowed) {
    if (status_.ok()) status_ = {StatusCode::bad_option, 0, value, name, allowed};
  }

  [[nodiscard]] Status status() const {
    if (!status_.ok()) return status_;
    for (std::size_t i = 0; i < used_.size(); ++i) {
      if (!used_[i]) return {StatusCode::bad_option, i, 0.0, args_->all()[i].name.c_str(), "no such argument"};
    }
    return {};
  }

 private:
  const ArgValue* take(const char* name) {
    for (std::size_t i = 0; i < used_.size(); ++i) {
      if (args_->all()[i].name != name) continue;
      used_[i] = true;
      return &args_->all()[i].value;
    }
    return nullptr;
  }

  [[nodiscard]] static std::pair<double, bool> number_of(const ArgValue& value) noexcept {
    if (const auto* whole = std::get_if<std::int64_t>(&value)) return {static_cast<double>(*whole), true};
    if (const auto* real = std::get_if<double>(&value)) return {*real, true};
    return {0.0, false};
  }

  template <class T>
  void assign(const T* value, const char* name, const char* expected, T& option) {
    if (value == nullptr) return refuse(name, 0.0, expected);
    option = *value;
  }

  const Args* args_;
  std::vector<bool> used_;
  Status status_;
};

}  // namespace amct
