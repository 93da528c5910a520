"""Which rollouts an assigner of credit and a reward go with, before anything is run."""

from pathlib import Path

import pytest

from drl.credit.base import Credit
from drl.errors import ConfigError
from drl.launch import assemble, register_resolvers
from drl.runtime.compose import compose
from drl.runtime.config import to_plain
from drl.trainer.base import Parts

CONF = Path(__file__).parents[2] / "conf"


def parts(*overrides: str) -> Parts:
    register_resolvers()
    return assemble(to_plain(compose(CONF, ["+experiment=toolwoz_josh", *overrides])), CONF)[1]


def test_no_credit_is_chosen_unless_it_is_asked_for():
    assert parts().credit is None
    assert isinstance(parts("credit=goal_events").credit, Credit)


@pytest.mark.parametrize(
    "rollout", [["josh/no_collapse"], ["single"], ["best_of_n"], ["josh", "collapse_to=never"]]
)
def test_comparing_branches_goes_with_rollouts_that_cut_none(rollout):
    choice, *settings = rollout
    built = parts("credit=tree", f"rollout={choice}", *(f"rollout.{each}" for each in settings))
    assert built.credit is not None
    assert built.credit.needs_siblings


@pytest.mark.parametrize("rollout", ["josh", "josh/paper", "best_of_n/budget"])
def test_comparing_branches_is_refused_where_a_reward_decides_what_is_cut(rollout):
    overrides = [f"rollout={rollout}"]
    if rollout == "best_of_n/budget":
        overrides.append("rollout.agent_calls=20")
    assert parts("credit=goal_events", *overrides).credit is not None
    with pytest.raises(ConfigError, match=r"^rollout: .* set rollout=josh/no_collapse"):
        parts("credit=tree", *overrides)


@pytest.mark.parametrize(
    "reward", [["db_state"], ["judge", "when=dialogue"], ["tau2_check", "nl_assertions=ignore"]]
)
def test_a_reward_that_pays_for_no_turn_decides_nothing_that_is_cut(reward):
    choice, *settings = reward
    overrides = [f"reward={choice}", "llm@judge_llm=rule_judge"]
    overrides += [f"reward.{each}" for each in settings]
    assert parts(*overrides, "rollout=best_of_n").reward is not None
    assert parts(*overrides, "rollout=josh/no_collapse").reward is not None
    with pytest.raises(ConfigError, match=r"^reward: .* set rollout=best_of_n by num_dialogues"):
        parts(*overrides, "rollout=josh")


@pytest.mark.parametrize("trainer", ["ppo", "grpo"])
@pytest.mark.parametrize("credit", ["terminal", "goal_events"])
def test_a_policy_does_not_learn_by_playing_from_what_a_reward_has_left(trainer, credit):
    choices = (f"trainer={trainer}", f"credit={credit}", "llm=hf/smollm2")
    with pytest.raises(ConfigError, match=r"^rollout: .* set rollout=single"):
        parts(*choices, "rollout=josh")
    assert parts(*choices, "rollout=josh/no_collapse").credit is not None


def test_credit_for_turns_is_refused_where_a_dialogue_is_one_decision_before_anything_is_loaded():
    choices = ("trainer=ppo", "credit=tree", "rollout=josh/no_collapse", "llm=hf/smollm2")
    with pytest.raises(ConfigError, match=r"^trainer\.ppo\.level=dialogue .* use level=turn"):
        parts(*choices, "trainer.ppo.level=dialogue")
    assert parts(*choices, "trainer.ppo.level=turn").credit is not None
