import numpy as np
import pytest
from labelling.judged import settings

from drl.errors import ConfigError
from drl.labelling.scale import rewards, uniform
from drl.turn_reward.scaling import ScoreScaling

SUM = ScoreScaling(centre=5.0, scale=2.0, total="sum", length=None)
MEAN = ScoreScaling(centre=5.0, scale=2.0, total="mean", length=None)
MARKS = np.array([1.0, 0.0, -0.5, 0.5])


@pytest.mark.parametrize("scaling", [SUM, MEAN])
@pytest.mark.parametrize("rule", ["affine", "softmax"])
@pytest.mark.parametrize("score", [1.0, 5.0, 8.0])
def test_rewards_amount_to_the_score_whatever_the_marks(
    scaling: ScoreScaling, rule: str, score: float
):
    found = rewards(MARKS, score, settings(rule=rule), scaling, lowest=1.0)
    assert scaling.points(found) == pytest.approx(score)


@pytest.mark.parametrize("rule", ["affine", "softmax"])
@pytest.mark.parametrize("score", [2.0, 8.0])
def test_a_better_mark_is_a_higher_reward_in_good_and_bad_sessions(rule: str, score: float):
    found = rewards(MARKS, score, settings(rule=rule), SUM, lowest=1.0)
    assert np.argsort(found).tolist() == np.argsort(MARKS).tolist()


def test_affine_rewards_are_worked_out():
    # z = (7 - 5) / 2 = 1; mean mark 1/4; r_1 = (1 + 2 (1 - 1/4)) / 4 in a sum of four
    found = rewards(MARKS, 7.0, settings(spread=2.0), SUM, lowest=1.0)
    assert found[0] == pytest.approx(2.5 / 4)
    assert rewards(MARKS, 7.0, settings(spread=2.0), MEAN, lowest=1.0)[0] == pytest.approx(2.5)


def test_softmax_shares_points_above_the_lowest_answer():
    # sharpness log 3 and marks 1 and 0: shares 3/4 and 1/4 of 7 - 1 = 6 points, less 2 each
    found = rewards(
        np.array([1.0, 0.0]), 7.0, settings(rule="softmax", sharpness=np.log(3)), SUM, lowest=1.0
    )
    assert found == pytest.approx([(4.5 - 2) / 2, (1.5 - 2) / 2])


def test_a_judge_that_did_not_see_the_score_tells_it_by_its_marks():
    assert rewards(MARKS, None, settings(), MEAN, lowest=1.0) == pytest.approx(MARKS)
    # the mean mark of 1/4 is a quarter of a standard deviation of 2 above the centre
    blind = rewards(MARKS, None, settings(), SUM, lowest=1.0)
    assert SUM.points(blind) == pytest.approx(5.5)


def test_the_last_resort_is_equal_parts():
    assert uniform(4, 7.0, SUM).tolist() == [0.25] * 4
    assert uniform(4, None, SUM).tolist() == [0.0] * 4


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"samples": 0}, "samples=0 must be at least 1"),
        ({"overlap": 40}, "overlap=40 leaves a window of 40 turns nothing new"),
        ({"samples": 3}, "samples=3 would all be alike"),
        ({"temperature": 2.5}, "temperature=2.5 must lie in"),
        ({"spread": 0.0}, "spread=0.0 must be above 0"),
        ({"retries": -1}, "retries=-1 must not be negative"),
        ({"question": " "}, "asks nothing"),
    ],
)
def test_settings_that_make_no_sense_are_refused(changes: dict, message: str):
    with pytest.raises(ConfigError, match=message):
        settings(**changes)
