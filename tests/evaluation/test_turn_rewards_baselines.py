import numpy as np
import pytest
from evaluation.held_out_sessions import generated, observed

from drl.errors import DataError
from drl.evaluation.turn_rewards_baselines import baselines


def test_the_constant_says_the_training_mean_of_everyone():
    training = [observed("a", [0, 0], score=1.0), observed("b", [0, 0], score=3.0)]
    found = baselines(training, [observed("c", [1, 0], score=5.0)], seed=0)["constant"]
    assert found["global_mse"].value == pytest.approx(9.0)  # 2 for 5
    assert found["r2_session"].value == pytest.approx(0.0)
    assert found["auroc_positive"].value == 0.5


def test_turn_length_finds_what_length_alone_tells():
    rng = np.random.default_rng(0)
    sessions = []
    for n in range(40):
        lengths = rng.uniform(1, 10, size=8)
        # longer turns are met with smiles, and longer turns make a higher score
        sessions.append(
            observed(
                str(n), list(lengths > 6), score=float(2 * lengths.mean()), lengths=list(lengths)
            )
        )
    found = baselines(sessions[:20], sessions[20:], seed=0)
    assert found["turn_length"]["r2_session"].value == pytest.approx(1.0)
    assert found["turn_length"]["auroc_positive_within"].value == 1.0
    assert found["turn_index"]["auroc_positive_within"].estimate.low < 0.5


def test_a_baseline_turns_its_sign_where_labels_do():
    training = [observed("a", [1, 0, 0], lengths=[1, 5, 6], score=1.0)]
    found = baselines(training, [observed("b", [0, 1, 0], lengths=[9, 2, 8])], seed=0)
    assert found["turn_length"]["auroc_positive"].value == 1.0


def test_without_labels_the_longer_turn_is_the_better():
    nobody = float("nan")
    training = [observed("a", [nobody, nobody], lengths=[1, 2], score=1.0)]
    held_out = [observed("b", [nobody] * 3, lengths=[1, 2, 3], hidden=[1, 2, 3])]
    assert baselines(training, held_out, seed=0)["turn_length"]["spearman_hidden"].value == 1.0


def test_the_oracle_is_a_ceiling_and_is_there_only_where_truth_is_known():
    sessions = [session.observed for session in generated(40, seed=5, skill=0.0)]
    oracle = baselines(sessions[:40], sessions[40:], seed=0)["oracle"]
    assert oracle["spearman_hidden"].value == pytest.approx(1.0)
    assert oracle["r2_session"].value > 0.99
    assert oracle["auroc_positive"].value < 1.0  # faces have noise that no text tells
    unknown = [observed("b", [0, 1])]
    assert "oracle" not in baselines(sessions, unknown, seed=0)


def test_nothing_to_learn_from_is_told():
    with pytest.raises(DataError, match="no session to fit baselines on"):
        baselines([], [observed("a", [0])], seed=0)
