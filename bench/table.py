# SPDX-License-Identifier: Apache-2.0
"""Merges the rounds of all processes of a benchmark run into a table, a CSV file and verdicts on the bars of bars.py.

  python3 table.py FOLDER OUTPUT.csv

FOLDER holds files in the form of Google Benchmark's JSON, one a round and process: amct-ROUND.json of our kernels on the
fastest instruction set, amct-ROUND-NAME.json on the one of that name, PEER-ROUND.json of peers in other processes.
"""
import csv
import json
import pathlib
import statistics
import sys
import textwrap

from bars import BARS, LIMIT, is_met

COLUMNS = ("benchmark", "size", "threads", "path", "ours", "unit", "best_peer", "best_peer_name", "ratio_to_peer",
           "ratio_to_limit")
ABSENT = "absent"
NANOSECONDS = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}


class Contest:
    """All that was measured of one benchmark, size and number of threads."""

    def __init__(self):
        self.rounds = {}  # contestant -> round -> nanoseconds a run, of the fastest repetition
        self.complaints = {}  # contestant -> why it does not count
        self.path, self.elements, self.bytes, self.operations = "", 0.0, 0.0, 0.0

    def take(self, contestant, round_name, threads, entry):
        """Work of one thread is timed by the processor time of that thread, which other processes add nothing to."""
        if entry.get("error_occurred"):
            self.complaints[contestant] = entry["error_message"]
            return
        clock = "cpu_time" if threads == 1 and "cpu_time" in entry else "real_time"
        time = entry[clock] * NANOSECONDS[entry["time_unit"]]
        rounds = self.rounds.setdefault(contestant, {})
        rounds[round_name] = min(time, rounds.get(round_name, time))
        if contestant == "amct":
            self.path, self.elements, self.bytes = entry["label"], entry["elements"], entry["bytes"]
            self.operations = entry["operations"]

    def time(self, contestant):
        """The median of the rounds."""
        return statistics.median(self.rounds[contestant].values())

    def unit(self):
        """What the contest counts: multiplications and additions, or bytes."""
        return "GOP/s" if self.operations else "GB/s"

    def speed(self, contestant):
        return f"{(self.operations or self.bytes) / self.time(contestant):.1f}"

    def fastest(self, kind, names=None):
        """The fastest contestant of a kind (peer, limit), among names if given; None if there is none."""
        present = [c for c in self.rounds if c.startswith(kind + ":") and (names is None or c[len(kind) + 1:] in names)]
        return min(present, key=self.time, default=None)

    def ratio(self, opponent):
        """Our speed over the opponent's; None if it is not there."""
        return None if opponent is None else self.time(opponent) / self.time("amct")


def read_contests(folder):
    """Contests by (benchmark, size, threads, slower instruction set or ""), in the order in which they ran."""
    contests = {}
    for path in sorted(pathlib.Path(folder).glob("*.json"), key=lambda path: path.stem):
        slower = "-".join(path.stem.split("-")[2:])
        for entry in json.loads(path.read_text(encoding="utf-8"))["benchmarks"]:
            if entry.get("run_type") == "aggregate":
                continue
            benchmark, size, *threads, contestant = entry["name"].split("/")
            key = benchmark, size, int(threads[0].split()[0]) if threads else 1, slower
            contests.setdefault(key, Contest()).take(contestant, path.name, key[2], entry)
    return {key: contest for key, contest in contests.items() if "amct" in contest.rounds}


def rows_of(contests):
    """The lines of the CSV file."""
    for (benchmark, size, threads, _), contest in contests.items():
        peer, limit = contest.fastest("peer"), contest.fastest("limit")
        yield {
            "benchmark": benchmark,
            "size": size,
            "threads": threads,
            "path": contest.path,
            "ours": contest.speed("amct"),
            "unit": contest.unit(),
            "best_peer": contest.speed(peer) if peer else ABSENT,
            "best_peer_name": peer.removeprefix("peer:") if peer else ABSENT,
            "ratio_to_peer": f"{contest.ratio(peer):.3f}" if peer else ABSENT,
            "ratio_to_limit": f"{contest.ratio(limit):.3f}" if limit else ABSENT,
        }


def print_table(contests):
    form = "{:<23} {:<11} {:>7} {:<10} {:>10} {:>8} {:<5} {:<22} {:>8} {:>8}"
    print(form.format("benchmark", "size", "threads", "path", "Gelement/s", "speed", "unit", "best peer", "to peer",
                      "to limit"))
    for row, contest in zip(rows_of(contests), contests.values()):
        rate = f"{contest.elements / contest.time('amct'):.3f}"
        print(form.format(row["benchmark"], row["size"], row["threads"], row["path"], rate, row["ours"],
                          row["unit"], row["best_peer_name"], row["ratio_to_peer"], row["ratio_to_limit"]))


def judge(bar, contest):
    """Verdict, measured ratio and who it was measured against, and what else there is to say."""
    limit = contest.fastest("limit")
    opponent = limit if bar.opponents == LIMIT else contest.fastest("peer", bar.opponents)
    missing = [] if bar.opponents == LIMIT else [n for n in bar.opponents if "peer:" + n not in contest.rounds]
    remark = textwrap.shorten("absent: " + ", ".join(missing), 40, placeholder="...") if missing else ""
    if opponent is None:
        return ABSENT, "", remark
    ratio = contest.ratio(opponent)
    measured = f"{ratio:.2f}x {opponent.split(':', 1)[1]}"
    if is_met(bar, ratio):
        return ABSENT if missing else "met", measured, remark
    reach = contest.time(opponent) / contest.time(limit) if limit else bar.least
    return "missed", measured, remark if reach >= bar.least else f"the limit itself reaches {reach:.2f}x"


def print_bars(contests):
    """A verdict on each bar whose contest ran. A bar with an absent opponent is not met, only not missed."""
    counts = {"met": 0, "missed": 0, ABSENT: 0}
    form = "{:<7} {:<47} {:>6}  {:<28} {}"
    print(form.format("verdict", "contest", "bar", "measured", "remark"))
    for bar in BARS:
        for (benchmark, size, threads, slower), contest in contests.items():
            if (benchmark, threads) != (bar.benchmark, bar.threads) or size not in bar.sizes:
                continue
            if slower and not bar.is_for_all_paths:
                continue
            verdict, measured, remark = judge(bar, contest)
            counts[verdict] += 1
            name = f"{benchmark} {size}" + (f", {threads} threads" if threads > 1 else "")
            name += f", {slower}" if slower else ""
            print(form.format(verdict, name, f"{bar.least:.2f}x", measured, remark).rstrip())
    print(f"{counts['met']} met, {counts['missed']} missed, {counts[ABSENT]} absent")


def print_complaints(contests):
    for (benchmark, size, _, _), contest in contests.items():
        for contestant, complaint in contest.complaints.items():
            print(f"Not counted: {benchmark}/{size}/{contestant}: {complaint}")


def main(folder, output):
    contests = read_contests(folder)
    with open(output, "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerows(rows_of(contests))
    print_table(contests)
    print()
    print_bars(contests)
    print_complaints(contests)


if __name__ == "__main__":
    main(*sys.argv[1:])
