// SPDX-License-Identifier: Apache-2.0
// The command line of amct: one file a verb.

#include <exception>

#include <spdlog/spdlog.h>
#include <CLI/CLI.hpp>

#include <amct/core/error.hpp>
#include <amct/version.hpp>

#include "calibration.hpp"
#include "compare.hpp"
#include "config.hpp"
#include "console.hpp"
#include "convert.hpp"
#include "evaluate.hpp"
#include "record.hpp"
#include "run.hpp"
#include "simplify.hpp"

namespace {

constexpr int kBadInput = 1;
constexpr int kBadUsage = 2;

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("amct: neural-network quantization compatible with Huawei Ascend's AMCT", "amct");
  app.set_help_flag("-h,--h,--help", "this help");  // AMCT knows --h too; verbs inherit the flag
  app.set_version_flag("--version", amct::kVersion);
  app.set_help_all_flag("--help-all", "help of all verbs");
  app.require_subcommand(1);
  runner::add_calibration(app);
  runner::add_convert(app);
  runner::add_run(app);
  runner::add_compare(app);
  runner::add_evaluate(app);
  runner::add_config(app);
  runner::add_record(app);
  runner::add_simplify(app);
  app.parse_complete_callback([] { runner::start_logging("pytorch"); });
  try {
    app.parse(argc, argv);
  } catch (const CLI::RuntimeError& verdict) {  // a verb that worked and says no
    return verdict.get_exit_code();
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kBadUsage;
  } catch (const amct::Error& error) {
    spdlog::error(error.what());
    return kBadInput;
  } catch (const std::exception& error) {
    spdlog::error("amct: [internal] {}", error.what());
    return kBadInput;
  }
  return 0;
}
