"""The study's tables say what its figures say."""

import pytest

from experiments.geli_synthetic.stages import DRAWS, SMALL, WHOLE, fewer
from experiments.geli_synthetic.study import figures
from experiments.geli_synthetic.table import FLOORS, METHODS, order, tables


def figure(value, spread=0.1):
    return {"value": value, "low": value - spread, "high": value + spread}


def arm(told, local):
    return {"global_mse": figure(told), "local_difference_sd": figure(local)}


def results(**main):
    usual = {name: arm(2.0, 0.3) for name in (*FLOORS, *METHODS, "oracle")}
    extra = {name: arm(2.0, 0.3) for name in ("geli session_weight=0.1", "geli shuffled_faces")}
    runs = ["reading", "on_tuned", "on_tuned_started", "tuned", "rrd_alone", "li_alone"]
    runs += ["no_scores", "no_faces", "no_text", "none", "size_25", "size_100", "rrd_4_unbiased"]
    return {"main": usual | extra | main} | dict.fromkeys(runs, usual)


def test_an_order_appears_where_the_figures_have_it_and_is_clear_where_intervals_are_apart():
    found = order(
        results(
            rrd=arm(1.6, 0.2),
            ircr=arm(1.7, 0.2),  # intervals 1.5 to 1.7 and 1.6 to 1.8
            rudder=arm(2.2, 0.1),
            geli=arm(1.67, 0.6),  # 4 % above RRD
            li=arm(3.0, 0.9),
            constant=arm(1.9, 0.0),
        )
    )
    a, b, c = found
    assert (a["appears"], a["is_clear"]) == (True, False)
    assert (b["appears"], b["is_clear"], b["keeps_score_error"]) == (True, True, True)
    assert (c["appears"], c["score_error_above_constant"]) == (True, True)
    assert c["is_clear"]  # 0.8 is above 0.7


def test_an_order_that_is_not_there_does_not_appear():
    a, b, _ = order(results(rrd=arm(2.0, 0.4), rudder=arm(1.5, 0.1), geli=arm(2.2, 0.3)))
    assert not a["appears"]
    assert not b["appears"]
    assert not b["keeps_score_error"]  # 10 % above


def test_every_run_has_its_rows():
    shown = tables(results(geli=arm(1.234, 0.5)))
    assert "1.234 (1.134 to 1.334)" in shown
    for words in (
        "| 4 unbiased |",
        "| 25: rrd |",
        "| geli shuffled faces |",
        "| no signal at all: li |",
        "| 0.1 |",
    ):
        assert words in shown, words
    assert shown.count("| method |") == 1


def test_figures_are_those_of_methods_shuffled_arms_and_floors():
    measures = {
        "global_mse": figure(1.0) | {"n": 3, "by_seed": [1.0]},
        "mean_positive": figure(2.0),
    }
    found = figures(
        {
            "methods": {"geli": {"measures": measures}},
            "shuffled": {"geli shuffled_faces": {"measures": measures}},
            "baselines": {"constant": measures},
        }
    )
    assert set(found) == {"geli", "geli shuffled_faces", "constant"}
    assert found["geli"] == {"global_mse": {"value": 1.0, "low": 0.9, "high": 1.1}}


def test_the_whole_study_holds_out_enough_and_the_small_one_is_smaller():
    # a fifth of the generated conversations is held out; 30 are what intervals need
    assert WHOLE.conversations / 5 >= 30
    assert WHOLE.cut_conversations / 5 >= 30
    assert WHOLE.seeds >= 5
    assert SMALL.conversations < WHOLE.conversations
    assert max(DRAWS) >= 20  # agent turns of a conversation of 40


def test_fewer_conversations_are_left_to_learn_from_and_all_are_tested():
    parts = {"d": "train", "a": "test", "c": "train", "b": "val", "e": "train"}
    assert fewer(parts, 2) == {"a": "test", "b": "val", "c": "train", "d": "train"}
    assert fewer(parts, 3) == parts
    with pytest.raises(ValueError, match="4 of 3"):
        fewer(parts, 4)
