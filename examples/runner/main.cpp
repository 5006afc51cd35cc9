// SPDX-License-Identifier: Apache-2.0
// The command line of amct: one file a verb.

#include <exception>

#include <spdlog/spdlog.h>
#include <CLI/CLI.hpp>

#include <amct/core/error.hpp>
#include <amct/version.hpp>

#include "auto_calibration.hpp"
#include "calibration.hpp"
#include "check.hpp"
#include "compare.hpp"
#include "config.hpp"
#include "console.hpp"
#include "convert.hpp"
#include "diff.hpp"
#include "dump.hpp"
#include "eval.hpp"
#include "explain.hpp"
#include "interrupt.hpp"
#include "list_quantizers.hpp"
#include "merge_stats.hpp"
#include "quantize.hpp"
#include "ranks.hpp"
#include "recipes.hpp"
#include "record.hpp"
#include "restore.hpp"
#include "run.hpp"
#include "sample.hpp"
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
  runner::add_quantize(app);
  runner::add_calibration(app);
  runner::add_auto_calibration(app);
  runner::add_check(app);
  runner::add_explain(app);
  runner::add_convert(app);
  runner::add_run(app);
  runner::add_compare(app);
  runner::add_diff(app);
  runner::add_sample(app);
  runner::add_dump(app);
  runner::add_eval(app);
  runner::add_config(app);
  runner::add_recipes(app);
  runner::add_record(app);
  runner::add_simplify(app);
  runner::add_list_quantizers(app);
  runner::add_restore(app);
  runner::add_merge_stats(app);
  runner::Ranks& ranks = runner::Ranks::world();
  app.parse_complete_callback([&] {
    if (ranks.is_first()) {
      runner::start_logging("pytorch");
    } else {
      spdlog::set_level(spdlog::level::off);  // what it has to say, rank 0 says too
    }
  });
  try {
    app.parse(argc, argv);
  } catch (const CLI::RuntimeError& verdict) {  // a verb that worked and says no
    return verdict.get_exit_code();
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kBadUsage;
  } catch (const runner::Interrupted& interruption) {
    spdlog::warn(interruption.what());
    return runner::kInterruptedExit;
  } catch (const amct::Error& error) {
    spdlog::error(error.what());
    ranks.fail(error);
    return kBadInput;
  } catch (const std::exception& error) {
    spdlog::set_level(spdlog::level::err);  // whatever the rank
    spdlog::error("amct: [internal] {}", error.what());
    ranks.abort();  // rank 0 may be waiting for this one
    return kBadInput;
  }
  return 0;
}
