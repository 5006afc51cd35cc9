// SPDX-License-Identifier: Apache-2.0
#include "plugin.hpp"

#include <exception>
#include <filesystem>
#include <string>
#include <string_view>

#include <dlfcn.h>

#include <spdlog/spdlog.h>

#include <amct/core/error.hpp>
#include <amct/quantize/plugin.hpp>

#include "builtin_quantizers.hpp"

namespace runner {

namespace {

using amct::Error;
using amct::ErrorCode;

/// A function that a library exports.
template <class Function>
Function* exported(void* library, const char* symbol, const std::string& file) {
  void* const found = ::dlsym(library, symbol);
  if (found == nullptr) {
    throw Error(ErrorCode::config_unsupported, {.file = file, .field = symbol},
                "is not exported: this is no plugin of amct; write it with AMCT_QUANTIZER_PLUGIN of "
                "amct/quantize/plugin.hpp");
  }
  return reinterpret_cast<Function*>(found);
}

void* open(const std::string& file) {
  std::error_code unreadable;
  if (!std::filesystem::is_regular_file(file, unreadable)) {
    throw Error(ErrorCode::io_read, {.file = file}, "there is no such plugin");
  }
  // With a path the loader does not look into the system's folders.
  void* const library = ::dlopen(std::filesystem::absolute(file).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const reason = ::dlerror();
    throw Error(
        ErrorCode::io_read, {.file = file},
        std::string("cannot be loaded as a shared library: ") + (reason == nullptr ? "unknown reason" : reason));
  }
  return library;
}

/// Calls the plugin's registration with a registry of its own.
amct::QuantizerRegistry registered(void* library, const std::string& file) {
  const char* const abi = exported<const char*()>(library, amct::kPluginAbiSymbol, file)();
  const auto enter = exported<void(amct::QuantizerRegistry&)>(library, amct::kPluginRegisterSymbol, file);
  if (abi == nullptr || std::string_view(abi) != amct::plugin_abi()) {
    throw Error(ErrorCode::config_unsupported, {.file = file, .field = amct::kPluginAbiSymbol},
                std::string("was compiled with \"") + (abi == nullptr ? "" : abi) + "\", this program with \"" +
                    amct::plugin_abi() + "\"; compile the plugin again with the headers of this version");
  }
  amct::QuantizerRegistry registry;
  try {
    enter(registry);
  } catch (const std::exception& error) {
    throw Error(ErrorCode::config_unsupported, {.file = file, .field = amct::kPluginRegisterSymbol},
                std::string("failed: ") + error.what());
  } catch (...) {
    throw Error(ErrorCode::config_unsupported, {.file = file, .field = amct::kPluginRegisterSymbol}, "failed");
  }
  if (registry.rows().empty()) {
    throw Error(ErrorCode::config_unsupported, {.file = file, .field = amct::kPluginRegisterSymbol},
                "registers no quantizer");
  }
  return registry;
}

void add(amct::QuantizerRow row, const std::string& file, amct::QuantizerRegistry& registry) {
  const auto refuse = [&](const std::string& message) {
    throw Error(ErrorCode::config_unsupported, {.file = file, .field = row.name}, message);
  };
  if (row.name.find('.') == std::string::npos) refuse("expected a dotted name, such as my.module.Class");
  if (row.make == nullptr) refuse("has no function that makes the quantizer");
  if (const auto* const there = registry.find(row.name, row.role)) {
    refuse("is there already, from " + (there->source.empty() ? std::string("this program") : there->source));
  }
  row.source = file;
  registry.add(std::move(row));
}

}  // namespace

void PluginArguments::add_options(CLI::App& verb) {
  verb.add_option("--plugin", plugins,
                  "shared library with quantizers of your own, which configs name by dotted names; may be\n"
                  "given several times (docs/static-graph.md)")
      ->allow_extra_args(false);
}

amct::QuantizerRegistry quantizers(const PluginArguments& arguments) {
  amct::QuantizerRegistry registry = builtin_quantizers();
  for (const std::string& file : arguments.plugins) {
    const amct::QuantizerRegistry found = registered(open(file), file);
    for (const amct::QuantizerRow& row : found.rows()) add(row, file, registry);
    spdlog::info("{}: {} quantizers", file, found.rows().size());
  }
  return registry;
}

}  // namespace runner
