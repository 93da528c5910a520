import pytest
import torch

from drl.errors import ConfigError
from drl.ppo.layout import lay_out
from drl.ppo.trajectory import Trajectory, TurnRecord
from drl.trainer._turn_advantages import advantages_of
from drl.types import Sampled


def turn(reward=0.0, tokens=1, **more):
    ids = tuple(range(1, tokens + 1))
    return TurnRecord((Sampled((9,), ids, (-1.0,) * tokens),), reward, **more)


def dialogue(*rewards, group="a"):
    return Trajectory(tuple(turn(reward) for reward in rewards), group)


def advantages(trajectories, baseline="dialogue"):
    return advantages_of(trajectories, lay_out(trajectories, "turn", None), baseline)


def test_all_turns_of_a_dialogue_are_compared_with_the_totals_of_the_others():
    found = advantages([dialogue(1.0, 2.0), dialogue(0.0), dialogue(0.0, 0.0, 3.0)])
    # totals 3, 0, 3; the others' means 3/2, 3, 3/2
    expected = [1.5, 1.5, -3.0, 1.5, 1.5, 1.5]
    torch.testing.assert_close(found.advantages_N, torch.tensor(expected))
    assert found.used_N.all()


def test_a_turn_is_compared_with_what_others_earned_from_the_same_turn_on():
    found = advantages([dialogue(1.0, 2.0), dialogue(4.0), dialogue(0.0, 0.0, 3.0)], "turn")
    # returns from each turn on: 3 2 0, 4 0 0, 3 3 3; those that are over return 0
    expected = [3 - 3.5, 2 - 1.5, 4 - 3.0, 3 - 3.5, 3 - 1.0, 3 - 0.0]
    torch.testing.assert_close(found.advantages_N, torch.tensor(expected))


def test_rewards_of_tokens_belong_to_their_turn():
    paid = Trajectory((turn(0.0, tokens=2, token_rewards=((0.5, 0.25),)), turn(1.0)), "a")
    found = advantages([paid, dialogue(0.0, 1.0)], "turn")
    # returns 1.75 1 and 1 1
    torch.testing.assert_close(found.advantages_N, torch.tensor([0.75, 0.75, 0.0, -0.75, 0.0]))


@pytest.mark.parametrize("baseline", ["dialogue", "turn"])
def test_tasks_are_not_compared_and_one_that_is_alone_is_not_used(baseline):
    found = advantages(
        [dialogue(1.0), dialogue(5.0, 5.0, group="b"), dialogue(0.0)], baseline=baseline
    )
    torch.testing.assert_close(found.advantages_N, torch.tensor([1.0, 0.0, 0.0, -1.0]))
    assert found.used_N.tolist() == [True, False, False, True]
    assert found.num_unused_turns == 2


def test_equal_rewards_leave_nothing_to_learn():
    assert not advantages([dialogue(0.1, 0.2), dialogue(0.2, 0.1)]).differ
    assert not advantages([dialogue(1.0), dialogue(2.0, group="b")]).differ
    assert advantages([dialogue(0.1, 0.2), dialogue(0.2, 0.1)], "turn").differ


def test_advantages_of_the_credit_are_kept_and_weigh_what_their_turn_does():
    tree = Trajectory(
        (
            turn(weight=0.0, advantage=7.0),
            turn(weight=0.5, advantage=2.0, tokens=3),
            turn(weight=1.0, advantage=-4.0),
        ),
        "a",
    )
    found = advantages([tree])
    # the mean weight of the four tokens that learn is 5/8
    expected = [2 * 0.5 / 0.625] * 3 + [-4 / 0.625]
    torch.testing.assert_close(found.advantages_N, torch.tensor(expected))
    assert found.num_unused_turns == 0


def test_dialogues_that_share_a_turn_are_not_compared():
    shared = turn()
    both = [Trajectory((shared, turn(reward)), "a") for reward in (0.0, 1.0)]
    with pytest.raises(ConfigError, match="credit=tree"):
        advantages(both)


@pytest.mark.parametrize("baseline", ["dialogue", "turn"])
def test_no_baseline_biases_a_policy_that_decides_when_to_stop(baseline):
    """Expected gradients by enumeration of all pairs of dialogues of a game.

    At each of two turns the policy stops with probability q, else goes on; reward 1 a turn but 3
    for stopping at the second. The score function of stopping is 1 - q, that of going on -q.
    """
    q = 0.3
    games = {  # turns: (stops, reward)
        "stop": ([True], [1.0], q),
        "later": ([False, True], [1.0, 3.0], (1 - q) * q),
        "never": ([False, False], [1.0, 1.0], (1 - q) ** 2),
    }
    score = {True: 1 - q, False: -q}
    plain = sum(
        chance * sum(score[s] * sum(rewards[t:]) for t, s in enumerate(stops))
        for stops, rewards, chance in games.values()
    )
    compared = 0.0
    for stops, rewards, chance in games.values():
        for _, other_rewards, other_chance in games.values():
            found = advantages([dialogue(*rewards), dialogue(*other_rewards)], baseline)
            own = found.advantages_N[: len(stops)].tolist()
            gradient = sum(score[s] * a for s, a in zip(stops, own, strict=True))
            compared += chance * other_chance * gradient
    assert compared == pytest.approx(plain, abs=1e-6)
