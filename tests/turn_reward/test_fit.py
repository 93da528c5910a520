from dataclasses import replace

import numpy as np
import pytest
import torch
from turn_reward.learning import LI, LINEAR, RRD, TRAINING, WEIGHTS, world

from drl.errors import ConfigError, DataError
from drl.turn_reward.fit import fit
from drl.turn_reward.head import apply, member
from drl.turn_reward.member import Member

RANGE = (1.0, 9.0)
GELI = replace(RRD, local="labels", link="affine")


def learned(objective, data, *, head=LINEAR, training=TRAINING, seeds=(0,), corpus=None):
    members = [
        Member(
            name="any",
            objective=objective,
            seed=seed,
            learning_rate=training.learning_rate,
            truth=data.truth,
        )
        for seed in seeds
    ]
    corpus = corpus or data.corpus()
    return fit(corpus, members, head=head, training=training, score_range=RANGE, seed=3)


def in_points(fitted, number=0):
    """The weights of a linear head, in points of the score."""
    return fitted.params["input.weight"][number, :, 0].numpy() * fitted.scalings[number].scale


@pytest.mark.parametrize("total", ["mean", "sum"])
@pytest.mark.parametrize("session", ["sum", "rrd", "rudder"])
def test_return_decomposition_recovers_rewards_that_are_linear(total, session):
    objective = replace(RRD, session=session, total=total)
    fitted = learned(objective, world(total=total))
    np.testing.assert_allclose(in_points(fitted), WEIGHTS, atol=0.2)


# the mean of 1 / T over lengths from 5 to 15
MEAN_INVERSE_LENGTH = sum(1 / length for length in range(5, 16)) / 11


def test_equal_shares_shrink_rewards_by_the_number_of_turns():
    # inputs are independent, R = w mean(x): the slope of R on one of T turns is w / T.
    # sd(R) / sqrt(800 turns) = 0.03 is the error of each weight
    fitted = learned(replace(RRD, session="uniform"), world())
    np.testing.assert_allclose(in_points(fitted), WEIGHTS * MEAN_INVERSE_LENGTH, atol=0.09)


def test_ircr_holds_turns_against_scores_from_0_to_1():
    data = world()
    fitted = learned(replace(RRD, session="ircr", normalise="minmax"), data)
    scores = data.truth.scores_B[:80]
    assert fitted.scalings[0].centre == scores.min()
    assert fitted.scalings[0].scale == np.ptp(scores)
    rewards = apply(LINEAR, member(fitted.params, 0), data.corpus().batch(range(80)))
    assert 0 < float(rewards.mean()) < 1


@pytest.mark.parametrize("total", ["mean", "sum"])
@pytest.mark.parametrize("kind", ["linear", "mlp"])
def test_ircr_begins_at_the_mean_of_its_targets(kind, total):
    data = world(total=total)
    head = replace(LINEAR, kind=kind)
    nothing = replace(TRAINING, epochs=0)
    objective = replace(RRD, session="ircr", normalise="minmax", total=total)
    fitted = learned(objective, data, head=head, training=nothing)
    batch = data.corpus().batch(range(80))
    scores = data.truth.scores_B[:80]
    sizes = 1.0 if total == "mean" else batch.layout.lengths_B.numpy()
    target = ((scores - scores.min()) / np.ptp(scores) / sizes).mean()
    rewards = apply(head, member(fitted.params, 0), batch)
    # what else there is of the first weights is the same where heads begin at 0
    chance = apply(
        head,
        member(
            learned(
                replace(objective, session="uniform"), data, head=head, training=nothing
            ).params,
            0,
        ),
        batch,
    )
    assert float((rewards - chance).mean()) == pytest.approx(target, rel=1e-4)
    assert float((rewards - chance).std()) < 1e-6


def test_ircr_as_released_begins_at_chance():
    nothing = replace(TRAINING, epochs=0)
    heads = [
        learned(replace(RRD, session=session, normalise="none"), world(), training=nothing).params
        for session in ("ircr", "uniform")
    ]
    assert torch.equal(heads[0]["input.bias"], heads[1]["input.bias"])


def test_few_draws_shrink_rewards_unless_the_spread_is_taken_away():
    # rewards u x for R = w mean(x): the loss is |w - u|^2 / T + (1 / K)(1 - K / T) |u|^2, whose
    # least is at u = w K / T, so K = 1 is an equal share
    plain = learned(replace(RRD, draws=2, unbiased=False), world())
    mended = learned(replace(RRD, draws=2, unbiased=True), world())
    shrunk = in_points(plain) @ WEIGHTS / (WEIGHTS @ WEIGHTS)
    assert shrunk == pytest.approx(2 * MEAN_INVERSE_LENGTH, abs=0.08)
    np.testing.assert_allclose(in_points(mended), WEIGHTS, atol=0.3)


def test_labels_alone_are_followed():
    data = world()
    fitted = learned(LI, data)
    rewards = apply(LINEAR, member(fitted.params, 0), data.corpus().batch(range(100, 120)))
    hidden = np.concatenate(data.rewards[100:])
    # the mean of labels of 0 and 1, and more where the hidden reward is positive
    assert float(rewards.mean()) == pytest.approx(0.5, abs=0.1)
    assert float(rewards[hidden > 0].mean()) > 0.3 + float(rewards[hidden <= 0].mean())


def test_with_an_affine_link_scores_say_how_large_rewards_are():
    fitted = learned(replace(GELI, session="sum"), world())
    np.testing.assert_allclose(in_points(fitted), WEIGHTS, atol=0.2)


def test_with_an_identity_link_labels_pull_rewards_to_their_own_size():
    fitted = learned(replace(GELI, session="sum", link="identity"), world())
    assert abs(in_points(fitted)[1]) < 1.5


def test_rudders_rewards_telescope_to_its_last_guess():
    # g_T is what the session is told to score; with total=sum rewards add up to it exactly
    data = world(total="sum")
    lstm = replace(LINEAR, kind="lstm", cells=8)
    training = replace(TRAINING, learning_rate=0.03)
    fitted = learned(
        replace(RRD, session="rudder", total="sum"), data, head=lstm, training=training
    )
    held_out = data.corpus().batch(range(100, 120))
    rewards = apply(lstm, member(fitted.params, 0), held_out)
    parts = rewards.split(held_out.layout.lengths_B.tolist())
    told = np.array([fitted.scalings[0].points(part.numpy()) for part in parts])
    expected = [
        fitted.scalings[0].centre + fitted.scalings[0].scale * float(part.sum()) for part in parts
    ]
    np.testing.assert_allclose(told, expected, rtol=1e-5)
    scores = data.truth.scores_B[100:]
    assert ((told - scores) ** 2).mean() < 0.3 * scores.var()


def test_targets_are_distilled():
    data = world()
    given = replace(data.truth, targets_N=np.concatenate(data.rewards) * 0.5)
    fitted = learned(replace(LI, local="targets"), replace(data, truth=given))
    np.testing.assert_allclose(in_points(fitted) / fitted.scalings[0].scale, WEIGHTS / 2, atol=0.05)


def test_turns_without_a_label_do_not_count():
    data = world()
    corpus = data.corpus()
    labels = data.truth.labels_N.copy()
    labels[::2] = np.nan
    wrong = labels.copy()
    other = replace(data, truth=replace(data.truth, labels_N=labels))
    assert np.isfinite(learned(LI, other).best_val[0])
    wrong[:] = np.nan
    without = replace(data, truth=replace(data.truth, labels_N=wrong))
    with pytest.raises(DataError, match="no training turn has one of the labels"):
        learned(LI, without, corpus=corpus)


def test_a_session_without_score_teaches_by_its_labels_only():
    data = world()
    scores = data.truth.scores_B.copy()
    scores[:40] = np.nan
    some = replace(data, truth=replace(data.truth, scores_B=scores))
    np.testing.assert_allclose(in_points(learned(RRD, some)), WEIGHTS, atol=0.4)


def mixed_members(truth):
    """Members of several objectives, weights, rates and seeds."""
    objectives = [
        RRD,
        replace(RRD, session="ircr", normalise="minmax", unbiased=False),
        replace(RRD, session="rudder", total="sum"),
        LI,
        GELI,
        replace(GELI, session_weight=0.9),
    ]
    return [
        Member(name="any", objective=o, seed=seed, learning_rate=rate, truth=truth)
        for o in objectives
        for seed, rate in ((0, 0.01), (1, 0.03))
    ]


@pytest.mark.parametrize("kind", ["linear", "mlp", "lstm"])
def test_a_member_comes_out_as_if_it_had_learned_alone(kind):
    data = world()
    # in double, where the rounding of sums cannot grow to a difference
    corpus = data.corpus(dtype=torch.float64)
    head = replace(LINEAR, kind=kind, dropout=0.1)
    training = replace(TRAINING, epochs=4, patience=2)
    options = {"head": head, "training": training, "score_range": RANGE, "seed": 3}
    members = mixed_members(data.truth)
    together = fit(corpus, members, **options)
    for number, each in enumerate(members):
        alone = fit(corpus, [each], **options)
        assert alone.best_epoch == together.best_epoch[number : number + 1]
        for name, weight in alone.params.items():
            torch.testing.assert_close(
                weight[0], together.params[name][number], rtol=1e-8, atol=1e-10
            )


def test_the_same_call_gives_the_same_bits():
    data = world()
    members = mixed_members(data.truth)
    training = replace(TRAINING, epochs=3)
    options = {"head": LINEAR, "training": training, "score_range": RANGE, "seed": 3}
    first, second = (fit(data.corpus(), members, **options) for _ in range(2))
    for name in first.params:
        assert torch.equal(first.params[name], second.params[name])


def test_each_member_keeps_its_own_best_epoch():
    data = world(noise=1.0)
    members = [
        Member(name=f"{rate}", objective=RRD, seed=0, learning_rate=rate, truth=data.truth)
        for rate in (0.001, 0.1)
    ]
    vals = []
    training = replace(TRAINING, schedule="constant")
    fitted = fit(
        data.corpus(),
        members,
        head=replace(LINEAR, kind="mlp", hidden=16),
        training=training,
        score_range=RANGE,
        seed=0,
        tell=lambda epoch: vals.append(epoch.val_M.tolist()),
    )
    for number in range(2):
        seen = [val[number] for val in vals]
        assert fitted.best_epoch[number] == 1 + int(np.argmin(seen))
        assert fitted.best_val[number] == min(seen)
    assert fitted.best_epoch[0] != fitted.best_epoch[1]


def test_out_of_patience_a_member_no_longer_improves():
    epochs = []
    data = world(noise=2.0)
    training = replace(TRAINING, patience=2, learning_rate=0.3, schedule="constant")
    only = Member(name="any", objective=RRD, seed=0, learning_rate=0.3, truth=data.truth)
    fitted = fit(
        data.corpus(),
        [only],
        head=LINEAR,
        training=training,
        score_range=RANGE,
        seed=0,
        tell=lambda epoch: epochs.append(epoch.number),
    )
    assert epochs[-1] == fitted.best_epoch[0] + 2 < training.epochs


def test_without_sessions_to_choose_by_the_last_epoch_is_kept():
    data = world()
    fitted = learned(RRD, data, corpus=data.corpus(num_val=0))
    assert fitted.best_epoch == (TRAINING.epochs,)


def test_a_member_that_diverges_is_named_and_harms_no_other(caplog):
    data = world()
    good = Member(name="good", objective=RRD, seed=0, learning_rate=0.1, truth=data.truth)
    bad = Member(name="bad", objective=RRD, seed=4, learning_rate=1e38, truth=data.truth)
    options = {"head": LINEAR, "training": TRAINING, "score_range": RANGE, "seed": 3}
    fitted = fit(data.corpus(), [good, bad], **options)
    assert fitted.best_epoch[1] <= 1
    np.testing.assert_allclose(in_points(fitted), WEIGHTS, atol=0.1)


def test_heads_go_on_from_given_weights_and_keep_them_where_nothing_is_better():
    data = world()
    start = {
        "input.weight": torch.tensor(WEIGHTS, dtype=torch.float32)[:, None],
        "input.bias": torch.zeros(1),
    }
    scale = np.std(data.truth.scores_B[:80])
    # rewards of the right size less the mean score: nothing is left to learn, so 1e-3 steps harm
    mean = float(np.mean(data.truth.scores_B[:80])) - 5.0
    start = {
        "input.weight": start["input.weight"] / scale,
        "input.bias": start["input.bias"] - mean / scale,
    }
    only = Member(name="any", objective=RRD, seed=0, learning_rate=0.1, truth=data.truth)
    training = replace(TRAINING, epochs=2)
    options = {"head": LINEAR, "training": training, "score_range": RANGE, "seed": 3}
    fitted = fit(data.corpus(), [only], start=start, **options)
    assert fitted.best_epoch == (0,)
    assert fitted.best_val[0] == pytest.approx(0.0, abs=1e-6)
    np.testing.assert_allclose(in_points(fitted), WEIGHTS, atol=1e-4)


def test_equal_scores_teach_nothing_and_are_refused():
    data = world()
    same = replace(data.truth, scores_B=np.full(120, 6.0))
    with pytest.raises(DataError, match="all 80 training scores are 6"):
        learned(RRD, replace(data, truth=same))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"session": "none", "local": "none"}, "nothing to learn"),
        ({"session_weight": 1.5}, r"must lie in \[0, 1\]"),
        ({"local": "labels", "link": "affine", "session_weight": 0.0}, "use link=identity"),
        ({"draws": 1}, "draw 2 or more"),
        ({"length": 160}, "set total=sum"),
    ],
)
def test_objectives_that_mean_nothing_are_refused(change, message):
    with pytest.raises(ConfigError, match=message):
        replace(RRD, **change)
