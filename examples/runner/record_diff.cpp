// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <amct/record/diff.hpp>

#include "record_source.hpp"
#include "record_verbs.hpp"
#include "table.hpp"

namespace runner {

namespace {

struct Arguments : RecordArguments {
  std::string other{};
  std::uint64_t ulp = 0;
};

void print(const amct::RecordDifference& difference) {
  std::string text = difference.layer.empty() ? std::string() : "layer \"" + printable(difference.layer) + "\" ";
  text += difference.field.empty() ? "" : difference.field + ' ';
  text += printable(difference.left) + " | " + printable(difference.right);
  if (difference.ulp > 0) text += fmt::format(" ({} ulp)", difference.ulp);
  if (difference.count > 1) text += fmt::format(" and {} more", difference.count - 1);
  std::cout << text << '\n';
}

}  // namespace

void diff_records(const RecordArguments& arguments, const std::string& other_file, std::uint64_t ulp) {
  RecordFileSource left(arguments);
  RecordFileSource right(arguments, other_file);
  const auto dialects = std::pair(left.reader().format().dialect, right.reader().format().dialect);
  if (dialects.first != dialects.second) {
    spdlog::warn("the dialects differ, {} and {}: `amct record convert` gives both the same fields",
                 amct::name_of(dialects.first), amct::name_of(dialects.second));
  }
  amct::RecordDiff diff(ulp, print);
  for (bool more = true; more;) {
    auto entry = left.next();
    auto other = right.next();
    more = entry || other;
    if (entry) std::visit([&](auto& value) { diff.add_left(std::move(value)); }, *entry);
    if (other) std::visit([&](auto& value) { diff.add_right(std::move(value)); }, *other);
  }
  diff.finish();
  std::cout << fmt::format("{} compared, {}, floats within {} ulp count as equal",
                           counted(diff.layers_compared(), "layer"), counted(diff.differences(), "difference"), ulp)
            << std::endl;
  if (diff.differences() > 0) throw CLI::RuntimeError(1);
}

void add_record_diff(CLI::App& record) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* verb = record.add_subcommand(
      "diff", "In what do two records differ? Layers are matched by name. Exit code 0 if they are equal, 1 if not");
  verb->add_option("A", arguments->file, "record file, text or binary")->required();
  verb->add_option("B", arguments->other, "another")->required();
  arguments->add_options(*verb);
  verb->add_option("--ulp", arguments->ulp, "floats so many float32 values apart count as equal; default 0");
  verb->callback([arguments] { diff_records(*arguments, arguments->other, arguments->ulp); });
}

}  // namespace runner
