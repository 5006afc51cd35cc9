// SPDX-License-Identifier: Apache-2.0
#include "list_quantizers.hpp"

#include <cstddef>
#include <functional>
#include <iostream>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <amct/core/error.hpp>
#include <amct/core/flavour.hpp>
#include <amct/core/nearest.hpp>
#include <amct/quantize/registry.hpp>

#include "plugin.hpp"
#include "table.hpp"

namespace runner {

namespace {

using amct::FlavourRules;
using amct::QuantizerRow;

struct Arguments {
  PluginArguments plugins;
  std::string name;
};

const char* role_of(const QuantizerRow& row) { return row.role == amct::Role::weight ? "weights" : "activations"; }

/// What the algorithms of the classic configs are called, and which flavours have them.
struct ClassicAlgorithm {
  const char* name;
  const char* role;
  const char* what;
  bool (*has)(const FlavourRules&);
};

constexpr ClassicAlgorithm kClassic[] = {
    {"ifmr_quantize", "activations", "IFMR: the range with the least error", [](const FlavourRules&) { return true; }},
    {"hfmg_quantize", "activations", "HFMG: the same on a histogram", [](const FlavourRules& r) { return r.has_hfmg; }},
    {"arq_quantize", "weights", "ARQ: the range of the weights", [](const FlavourRules&) { return true; }},
    {"ada_quantize", "weights", "AdaRound: rounding learned by layer",
     [](const FlavourRules& r) { return r.has_ada_round; }},
    {"snq_quantize", "weights", "SNQ: 16 levels where the weights are",
     [](const FlavourRules& r) { return r.has_snq; }},
    {"dmq_balancer", "both", "DMQ: balances activations and weights", [](const FlavourRules& r) { return r.has_dmq; }}};

std::string flavours_with(const ClassicAlgorithm& algorithm) {
  std::string names;
  std::size_t count = 0;
  for (const FlavourRules& rules : amct::kFlavours) {
    if (rules.config_family == amct::ConfigFamily::fx || !algorithm.has(rules)) continue;
    names += (names.empty() ? "" : ", ") + std::string(rules.name);
    ++count;
  }
  return count + 1 == std::size(amct::kFlavours) ? "all but hotwheels" : names;
}

void print_all(const amct::QuantizerRegistry& registry) {
  std::cout << "Quantizers and observers of the static graph (flavour hotwheels), as `quantizer` names them:\n";
  Table named({"name", "for", "bits", "from"});
  for (const QuantizerRow& row : registry.rows()) {
    named.add({row.name, role_of(row), row.widths, row.source.empty() ? "this program" : row.source});
  }
  named.print(std::cout);
  std::cout << "\nAlgorithms of the other flavours, as their configs name them:\n";
  Table classic({"name", "for", "what", "flavours"});
  for (const ClassicAlgorithm& algorithm : kClassic) {
    classic.add({algorithm.name, algorithm.role, algorithm.what, flavours_with(algorithm)});
  }
  classic.print(std::cout);
  std::cout << "\namct list-quantizers NAME shows the arguments of one; --plugin adds your own.\n";
}

void print_options(const QuantizerRow& row) {
  std::cout << row.name << ", for " << role_of(row) << ", " << row.widths << " bits, from "
            << (row.source.empty() ? "this program" : row.source) << "\n";
  if (row.options.empty()) {
    std::cout << "  Its arguments are not described; see " << (row.source.empty() ? "its source" : row.source) << '\n';
    return;
  }
  for (const auto& option : row.options) {
    std::cout << "  " << option.name << (*option.standard == '\0' ? "" : " = ") << option.standard << "\n      "
              << option.allowed << '\n';
  }
}

void run(const Arguments& arguments) {
  const amct::QuantizerRegistry registry = quantizers(arguments.plugins);
  if (arguments.name.empty()) return print_all(registry);
  std::vector<std::string> names;
  bool found = false;
  for (const QuantizerRow& row : registry.rows()) {
    if (row.name == arguments.name) {
      if (found) std::cout << '\n';
      print_options(row);
      found = true;
    } else {
      names.push_back(row.name);
    }
  }
  if (found) return;
  throw amct::Error(amct::ErrorCode::config_range, {.field = "NAME"},
                    "there is no quantizer \"" + arguments.name + "\"" +
                        amct::did_you_mean(amct::nearest_names(arguments.name, names)));
}

}  // namespace

void add_list_quantizers(CLI::App& app) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* verb = app.add_subcommand(
      "list-quantizers", "Quantizers, observers and algorithms that configs can name, and their arguments");
  verb->add_option("name", arguments->name, "show the arguments of this quantizer");
  arguments->plugins.add_options(*verb);
  verb->callback([arguments] { run(*arguments); });
}

}  // namespace runner
