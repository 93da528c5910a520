import pytest
from evaluation.held_out_sessions import generated

from drl.evaluation.turn_rewards import measure
from drl.evaluation.turn_rewards_calibration import calibration
from drl.evaluation.turn_rewards_controls import (
    ONLY_GENERATED,
    no_signal,
    shuffled_faces,
    warnings,
)

GOOD = measure(generated(40, seed=1, skill=0.6), 0.0, seed=0)
NOTHING = measure(generated(40, seed=1, skill=0.0), 0.0, seed=0)


def test_controls_hold_where_nothing_was_learned():
    found = no_signal("geli", "shuffled_both", NOTHING)
    assert {control.measure for control in found} >= {"spearman_hidden", "auroc_positive"}
    assert all(control.holds for control in found)
    assert "as it must be" in found[0].words


def test_a_control_fails_where_something_is_told_without_a_signal():
    found = {control.measure: control for control in no_signal("rrd", "shuffled_scores", GOOD)}
    assert not found["spearman_hidden"].holds
    assert "CONTROL FAILED" in found["spearman_hidden"].words
    assert found["auroc_positive"].difference.value == pytest.approx(
        GOOD["auroc_positive"].value - 0.5
    )


def test_geli_with_shuffled_faces_must_not_beat_rrd():
    assert all(control.holds for control in shuffled_faces("geli", NOTHING, rrd=GOOD))
    beaten = shuffled_faces("geli", GOOD, rrd=NOTHING)
    assert not any(control.holds for control in beaten)
    assert all(control.against == "rrd" for control in beaten)


def test_few_seeds_make_controls_more_cautious_than_intervals():
    told = no_signal("geli", "shuffled_both", NOTHING)[0]
    plain = NOTHING[told.measure].estimate
    assert told.difference.high - told.difference.low > plain.high - plain.low


def test_a_method_that_does_not_beat_the_constant_is_named():
    found = warnings({"geli": GOOD, "noise": NOTHING}, is_generated=False)
    assert len(found) == 1
    assert found[0].startswith("noise does not beat a constant")


def test_reports_on_generated_data_say_what_they_are_no_evidence_for():
    assert warnings({"geli": GOOD}, is_generated=True) == [ONLY_GENERATED]
    assert "no evidence about CANDOR" in ONLY_GENERATED


def test_few_conversations_and_few_seeds_are_warned_of():
    small = measure(generated(29, seed=1, skill=0.6, num_seeds=4), 0.0, seed=0)
    found = warnings({"geli": small}, is_generated=False)
    assert found[0].startswith("29 conversations are held out. Below 30")
    assert found[1].startswith("4 seeds of training. Below 5")
    just_enough = measure(generated(30, seed=1, skill=0.6), 0.0, seed=0)
    assert warnings({"geli": just_enough}, is_generated=False) == []


def test_calibration_bins_hold_equally_many_sessions_in_order():
    bins = calibration(generated(40, seed=1, skill=0.9))
    assert len(bins) == 10
    told = [each.told for each in bins]
    assert told == sorted(told)
    assert bins[-1].true.value > bins[0].true.value
    assert sum(each.true.n for each in bins) <= 80
    assert bins[0].to_json()["told"] == bins[0].told


def test_few_sessions_or_one_told_score_make_one_bin():
    few = generated(2, seed=1, skill=0.9)
    assert len(calibration(few)) == 1
    level = generated(40, seed=1, skill=0.0)
    for session in level:
        session.totals[:] = 0.3
    assert len(calibration(level)) == 1
