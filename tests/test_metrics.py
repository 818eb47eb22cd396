"""Figures of a run in files that survive being cut short."""

import csv
import json

from saz_jax.storage.metrics import Metrics, read_metrics


def test_rows_come_back_and_the_csv_has_a_column_for_every_figure(tmp_path):
    metrics = Metrics(tmp_path)
    metrics.add({"iteration": 1, "loss": 2.5})
    metrics.add({"iteration": 2, "loss": 2.0, "greedy_9": 0.5})
    assert read_metrics(tmp_path) == [
        {"iteration": 1, "loss": 2.5},
        {"iteration": 2, "loss": 2.0, "greedy_9": 0.5},
    ]
    with (tmp_path / "metrics.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert rows[0] == {"iteration": "1", "loss": "2.5", "greedy_9": ""}
    assert rows[1]["greedy_9"] == "0.5"


def test_a_resumed_run_forgets_the_rows_that_it_will_make_again(tmp_path):
    metrics = Metrics(tmp_path)
    for iteration in range(1, 4):
        metrics.add({"iteration": iteration})
    resumed = Metrics(tmp_path)
    resumed.keep(2)
    resumed.add({"iteration": 3})
    assert [row["iteration"] for row in read_metrics(tmp_path)] == [1, 2, 3]


def test_a_line_cut_short_by_a_crash_is_left_out(tmp_path):
    Metrics(tmp_path).add({"iteration": 1})
    with (tmp_path / "metrics.jsonl").open("a") as file:
        file.write('{"iteration": 2, "lo')
    assert read_metrics(tmp_path) == [{"iteration": 1}]


def test_only_the_first_process_writes(tmp_path):
    Metrics(tmp_path, write=False).add({"iteration": 1})
    assert not list(tmp_path.iterdir())


def test_a_second_row_of_an_iteration_takes_the_place_of_the_first(tmp_path):
    metrics = Metrics(tmp_path)
    for loss, iteration in enumerate((1, 2, 3, 2)):
        metrics.add({"iteration": iteration, "loss": loss})
    rows = [{"iteration": 1, "loss": 0}, {"iteration": 2, "loss": 3}, {"iteration": 3, "loss": 2}]
    assert metrics.rows == rows
    assert [json.loads(line) for line in (tmp_path / "metrics.jsonl").read_text().splitlines()] == rows
    assert (tmp_path / "metrics.csv").read_text() == "iteration,loss\n1,0\n2,3\n3,2\n"


def test_of_doubled_rows_in_a_file_the_last_one_counts(tmp_path):
    lines = [
        f'{{"iteration": {iteration}, "loss": {loss}}}\n' for loss, iteration in enumerate((1, 2, 1, 2, 3))
    ]
    (tmp_path / "metrics.jsonl").write_text("".join(lines))
    assert [(row["iteration"], row["loss"]) for row in read_metrics(tmp_path)] == [(1, 2), (2, 3), (3, 4)]
    Metrics(tmp_path).keep(2)
    assert (tmp_path / "metrics.jsonl").read_text() == "".join(lines[2:4])
