// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include <amct/core/args.hpp>
#include <amct/core/status.hpp>
#include <amct/quantize/any_quantizer.hpp>
#include <amct/quantize/concept.hpp>
#include <amct/quantize/registry.hpp>
#include <amct/version.hpp>

/// \file
/// Quantizers in a shared library, which a program loads without being compiled again (`amct quantize --plugin
/// lib.so`). The library exports two functions: amct_plugin_abi, by which a program sees that both were compiled with
/// the same amct, and amct_register, which gets its registry. AMCT_QUANTIZER_PLUGIN writes both.

namespace amct {

/// What program and plugin exchange has this form. Counts up with every change of the classes below that their sizes
/// do not show: virtual functions of AnyQuantizer, meaning of fields.
inline constexpr int kPluginInterface = 1;

namespace detail {

/// Text of the parts that program and plugin must have in common.
struct PluginAbi {
  std::array<char, 160> text{};
  std::size_t length = 0;

  constexpr PluginAbi() {
    add("amct ");
    add(kVersion);
    add(", plugin interface ");
    add(static_cast<std::size_t>(kPluginInterface));
#if defined(_GLIBCXX_USE_CXX11_ABI)
    add(_GLIBCXX_USE_CXX11_ABI != 0 ? ", libstdc++ (C++11 strings)" : ", libstdc++ (old strings)");
#elif defined(_LIBCPP_VERSION)
    add(", libc++");
#else
    add(", another standard library");
#endif
    add(", sizes ");
    for (const std::size_t size :
         {sizeof(void*), sizeof(QuantizerRegistry), sizeof(QuantizerRow), sizeof(AnyQuantizer), sizeof(Args),
          sizeof(Status), sizeof(QuantParams), sizeof(RecordExtras), sizeof(ChannelLayout), sizeof(Parameter)}) {
      add(size);
      add(" ");
    }
    --length;  // the last space
    text[length] = '\0';
  }
  constexpr void add(std::string_view part) {
    for (const char c : part) text[length++] = c;
  }
  constexpr void add(std::size_t number) {
    std::size_t unit = 1;
    while (number / unit >= 10) unit *= 10;
    for (; unit > 0; unit /= 10) text[length++] = static_cast<char>('0' + number / unit % 10);
  }
};

inline constexpr PluginAbi kPluginAbi{};

}  // namespace detail

/// A text that is equal in programs and plugins that fit each other: version of amct, standard library, sizes.
[[nodiscard]] constexpr const char* plugin_abi() noexcept { return detail::kPluginAbi.text.data(); }

/// Names of what a plugin exports.
inline constexpr const char* kPluginAbiSymbol = "amct_plugin_abi";
inline constexpr const char* kPluginRegisterSymbol = "amct_register";

}  // namespace amct

#if defined(_WIN32)
#define AMCT_PLUGIN_EXPORT extern "C" __declspec(dllexport)
#else
#define AMCT_PLUGIN_EXPORT extern "C" __attribute__((visibility("default")))
#endif

/// Begins the function with which a plugin registers its quantizers, under dotted names; once a library:
/// `AMCT_QUANTIZER_PLUGIN(registry) { registry.add<HalfRange>("my.module.HalfRange", amct::Role::weight); }`
#define AMCT_QUANTIZER_PLUGIN(registry)                                           \
  AMCT_PLUGIN_EXPORT const char* amct_plugin_abi();                               \
  AMCT_PLUGIN_EXPORT const char* amct_plugin_abi() { return amct::plugin_abi(); } \
  AMCT_PLUGIN_EXPORT void amct_register(amct::QuantizerRegistry& registry);       \
  AMCT_PLUGIN_EXPORT void amct_register(amct::QuantizerRegistry& registry)
