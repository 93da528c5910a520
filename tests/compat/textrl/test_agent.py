"""TextRL 0.2's agent: episodes and their rewards, updates, statistics, and what it keeps."""

import numpy as np
import pytest
import torch
from compat.textrl.words import END, PROMPTS, Ruled, built, weights

from drl.compat.textrl._episode import Episode
from drl.compat.textrl._rollout import replay, write
from drl.errors import ConfigError, RunError
from drl.ppo.batches import micro_batches
from drl.ppo.before import score_before
from drl.ppo.layout import lay_out
from drl.types import Sampled

NAMES = [
    "average_value",
    "average_entropy",
    "average_value_loss",
    "average_policy_loss",
    "n_updates",
    "explained_variance",
]


def text(*tokens: int) -> Sampled:
    return Sampled((1,), tokens, (0.0,) * len(tokens))


def episode(rewards, *texts, is_paid=True):
    steps = [np.array(row, dtype=float) for row in rewards]
    return Episode(texts, steps, is_paid, tuple(not is_paid for _ in texts))


def play(agent, env, episodes=1):
    for _ in range(episodes):
        obs, over = env.reset(), False
        while not over:
            obs, reward, over, _ = env.step(agent.act(obs))
            agent.observe(obs, reward, over, False)


def test_a_candidate_that_ended_early_is_paid_at_finish_but_not_for_waiting():
    """Fault 12."""
    paid = episode([[1, 1], [2, 2], [30, 3], [50, 5]], text(5, END), text(6, 7, 8, 9))
    assert paid.token_rewards() == [[1, 2 + 50], [1, 2, 3, 5]]
    assert paid.score == (53 + 11) / 2
    assert len(paid) == 4


def test_of_an_episode_that_is_cut_without_finish_waiting_is_not_paid_at_all():
    cut = episode([[1, 1], [2, 2], [30, 3]], text(5, END), text(6, 7, 8), is_paid=False)
    assert cut.token_rewards() == [[1, 2], [1, 2, 3]]


def test_candidates_of_an_episode_are_compared_as_a_group():
    """Issue 9."""
    made = episode([[1, 2]], text(5), text(6)).trajectories("7", can_go_on=True)
    assert [trajectory.group for trajectory in made] == ["7", "7"]
    assert [trajectory.total for trajectory in made] == [1, 2]
    assert [trajectory.next_prompt for trajectory in made] == [None, None]


def test_what_a_cut_candidate_had_yet_to_earn_is_its_value_where_it_could_go_on():
    cut = Episode((text(5, END), text(6, 7)), [np.zeros(2)] * 2, False, (False, True))
    ended, running = cut.trajectories("0", can_go_on=True)
    assert ended.next_prompt is None
    assert running.next_prompt == (1, 6, 7)
    assert cut.trajectories("0", can_go_on=False)[1].next_prompt is None


@pytest.mark.parametrize("kind", ["gpt2", "bart"])
def test_going_through_drawn_texts_is_the_same_as_stepping(kind):
    env, actor = built(kind, compare_sample=3)
    agent = actor.agent_ppo()
    for written in write(env.model, env, PROMPTS, agent.drawing, agent.generator):
        env.calls = []
        whole = replay(env, written, 100, lambda: None)
        replayed, env.calls = env.calls, []
        env.reset(written.item)
        rewards = []
        for step in range(len(written)):
            tokens = [t.token_ids[step] if step < len(t.token_ids) else 9 for t in written.texts]
            rewards.append(env.step(tokens)[1])
        assert env.is_over
        assert env.calls == replayed
        np.testing.assert_array_equal(np.stack(whole.rewards), np.stack(rewards))
        assert tuple(map(tuple, env.token_ids)) == tuple(t.token_ids for t in whole.texts)


def test_an_episode_that_is_cut_is_told_finish_at_its_last_step_unless_it_is_not_wanted():
    class Waiting(Ruled):
        finish_on_truncation = False

    told = {}
    for env_class in (Ruled, Waiting):
        env, actor = built(env_class=env_class, compare_sample=1)
        agent = actor.agent_ppo()
        (written,) = write(env.model, env, PROMPTS[:1], agent.drawing, agent.generator)
        assert len(written) > 3
        cut = replay(env, written, 3, lambda: None)
        assert len(cut) == len(cut.texts[0].token_ids) == 3
        told[env_class] = [finish for _, _, finish in env.calls], cut.is_paid, cut.goes_on
    assert told[Ruled] == ([False, False, True], True, (True,))
    assert told[Waiting] == ([False, False, False], False, (True,))


def seen_by_stepping(env, agent, tokens):
    """What the critic's head says of what was seen before each step, `[T][S]`."""
    obs, values = env.reset(PROMPTS[0]), []
    for step in tokens:
        with torch.no_grad():
            values.append(agent.learner.policy.head(obs + 0)[:, 0])
        obs = env.step(step)[0]
    return values


def test_each_token_of_each_candidate_has_the_value_of_its_own_state():
    """Fault 1 and issue 11: with three candidates values went to the wrong steps."""
    env, actor = built(compare_sample=3, max_length=3)
    agent = actor.agent_ppo()
    torch.nn.init.normal_(agent.learner.policy.head.weight)
    rows = [[5, 6, 7, 8], [9, END], [10, 11, 12, 13]]
    steps = [[row[t] if t < len(row) else 3 for row in rows] for t in range(4)]
    values = seen_by_stepping(env, agent, steps)
    wanted = [float(values[t][s]) for s, row in enumerate(rows) for t in range(len(row))]
    texts = [Sampled(env.prompt_ids, tuple(row), (0.0,) * len(row)) for row in rows]
    made = episode(np.zeros((4, 3)), *texts).trajectories("0", can_go_on=True)
    layout = lay_out(made, "token", None)
    found = score_before(
        agent.learner.policy, layout, 3, lambda s: micro_batches(s, 4096, torch.device("cpu"))
    )
    torch.testing.assert_close(found.values_D, torch.tensor(wanted), rtol=1e-4, atol=1e-4)


def test_a_critic_that_knows_all_explains_all_variance():
    """Fault 2: it was 0."""
    env, actor = built(compare_sample=3, max_length=3)
    agent = actor.agent_ppo(update_interval=1, gamma=0.0, epochs=1)
    torch.nn.init.normal_(agent.learner.policy.head.weight)
    obs, over = env.reset(PROMPTS[0]), False
    while not over:
        with torch.no_grad():
            reward = agent.learner.policy.head(obs + 0)[:, 0]
        obs, _, over, _ = env.step(np.where(agent.act(obs) == END, 5, 6))
        agent.observe(obs, reward, over, False)  # with gamma 0 it is the return as well
    assert dict(agent.get_statistics())["explained_variance"] == pytest.approx(1, abs=1e-4)


def test_advantages_are_returns_by_gamma_less_values():
    """Section 2.7 (a): lambda 1, gamma .95; the critic begins at 0."""
    env, actor = built(compare_sample=1, max_length=2)
    agent = actor.agent_ppo(update_interval=3, epochs=1)
    obs = env.reset(PROMPTS[0])
    agent.act(obs)
    for step, reward in ((5, 1.0), (6, 0.0), (7, 2.0)):
        if step > 5:
            agent.act(obs)
        obs, _, over, _ = env.step([step])
        agent.observe(obs, reward, over, False)
    # returns: 1 + .95 (0 + .95 x 2) = 2.805, 1.9, 2
    wanted = (2.805**2 + 1.9**2 + 2.0**2) / 3
    assert dict(agent.get_statistics())["average_value_loss"] == pytest.approx(wanted, rel=1e-5)


def test_the_first_ratios_are_one():
    env, actor = built()
    agent = actor.agent_ppo(update_interval=10, epochs=1)
    written = write(env.model, env, PROMPTS, agent.drawing, agent.generator)
    for each in written:
        agent.store(replay(env, each, 100, lambda: None))
    numbers = agent.learn_if_due()
    assert numbers is not None
    assert numbers["policy/first_ratio_error"] < 1e-5
    assert numbers["sampler/log_prob_gap"] < 1e-4
    assert numbers["objective/kl"] == pytest.approx(0, abs=1e-5)


@pytest.mark.parametrize(
    ("minibatch_size", "epochs", "wanted"),
    [
        (3000, 20, 20),  # the old defaults made one step of them, whatever epochs said
        (7, 10, 20),  # two candidates are as many minibatches as there can be
        (14, 3, 3),
    ],
)
def test_epochs_and_minibatches_are_as_many_steps_as_they_say(minibatch_size, epochs, wanted):
    env, actor = built(max_length=13)
    agent = actor.agent_ppo(update_interval=14, minibatch_size=minibatch_size, epochs=epochs)
    obs = env.reset(PROMPTS[0])
    for _ in range(14):
        agent.act(obs)
        obs, reward, over, _ = env.step([5, 6])
        agent.observe(obs, reward, over, False)
    assert dict(agent.get_statistics())["n_updates"] == wanted


def test_it_learns_when_an_episode_is_over_that_reaches_the_interval():
    env, actor = built(max_length=3)
    agent = actor.agent_ppo(update_interval=2)
    obs, counted = env.reset(PROMPTS[0]), []
    for _ in range(4):
        agent.act(obs)
        obs, reward, over, _ = env.step([5, 6])
        agent.observe(obs, reward, over, False)
        counted.append(dict(agent.get_statistics())["n_updates"] > 0)
    assert counted == [False, False, False, True]


def test_statistics_have_names_and_order_of_old_and_are_nan_at_first():
    env, actor = built()
    agent = actor.agent_ppo(update_interval=1, epochs=2)
    empty = agent.get_statistics()
    assert [name for name, _ in empty] == NAMES
    assert [value for _, value in empty[:4]] == pytest.approx([float("nan")] * 4, nan_ok=True)
    assert empty[4] == ("n_updates", 0)
    play(agent, env)
    assert all(np.isfinite(value) for _, value in agent.get_statistics())
    assert dict(agent.get_statistics())["n_updates"] == 2


def test_in_evaluation_it_takes_the_likeliest_and_neither_remembers_nor_learns():
    env, actor = built()
    agent = actor.agent_ppo(update_interval=1)
    before = weights(env.model)
    with agent.eval_mode():
        assert not agent.training
        obs = env.reset(PROMPTS[0])
        assert agent.act(obs).tolist() == obs.seen.logits_SV.argmax(-1).tolist()
        play(agent, env)
    assert agent.training
    assert all(torch.equal(now, before[name]) for name, now in weights(env.model).items())
    assert agent.num_stored == 0


def test_several_environments_can_be_stepped_at_once():
    first, actor = built()
    second = Ruled(first.model, first.tokenizer, PROMPTS, max_length=6, seed=1)
    agent = actor.agent_ppo(update_interval=10**6)
    envs = [first, second]
    batch = [env.reset(item) for env, item in zip(envs, PROMPTS, strict=False)]
    for _ in range(2):
        actions = agent.batch_act(batch)
        steps = [env.step(action) for env, action in zip(envs, actions, strict=True)]
        batch = [step[0] for step in steps]
        agent.batch_observe(batch, [s[1] for s in steps], [False] * 2, [True] * 2)
        if agent.num_stored < 2:
            continue
        break
    assert agent.num_stored == 2
    prompts = [stored.texts[0].prompt_ids for stored in agent._stored]
    assert prompts == [(11, 12, 13), (14,)]


def test_an_observation_that_was_calculated_with_is_refused():
    env, actor = built()
    agent = actor.agent_ppo()
    obs = env.reset()
    with pytest.raises(TypeError, match="give it as env"):
        agent.act(obs * 1)
    with pytest.raises(ValueError, match="call act first"):
        agent.observe(obs, 0, False, False)
    agent.act(obs)
    with pytest.raises(ConfigError, match="reward gave rewards of shape"):
        agent.observe(env.step([5, 6])[0], [1, 2, 3], False, False)


def test_an_observed_reward_that_is_no_number_is_refused_before_it_is_learned_from():
    env, actor = built()
    agent = actor.agent_ppo()
    agent.act(env.reset())
    with pytest.raises(ConfigError, match=r"reward gave \[nan, 1\.0\]; give finite numbers"):
        agent.observe(env.step([5, 6])[0], [float("nan"), 1], False, False)


@pytest.mark.parametrize("kind", ["gpt2", "t5"])
def test_a_saved_agent_writes_as_it_did_and_goes_on_from_there(kind, tmp_path):
    env, actor = built(kind, actor={"optimizer": "adamw"})
    agent = actor.agent_ppo(update_interval=6, lr=0.05)
    play(agent, env, 3)
    agent.save(tmp_path / "saved")
    told = actor.predict("w5")
    names = {file.name for file in (tmp_path / "saved").iterdir()}
    assert names == {"agent.json", "optimizer.safetensors", "policy.safetensors", "state.json"}
    _, other = built(kind, actor={"optimizer": "adamw"})
    loaded = other.agent_ppo(update_interval=6, lr=0.05)
    untrained = other.predict("w5")
    loaded.load(str(tmp_path / "saved"))
    assert other.predict("w5") == told
    assert told != untrained
    assert loaded.weight_change() == pytest.approx(agent.weight_change())
    assert loaded.learner.num_updates == agent.learner.num_updates


def test_folders_that_hold_no_agent_are_refused(tmp_path):
    _, actor = built()
    agent = actor.agent_ppo()
    with pytest.raises(RunError, match="is not there; name a folder"):
        agent.load(tmp_path)
    (tmp_path / "model.pt").write_bytes(b"")
    with pytest.raises(RunError, match="a pickle, which could run code"):
        agent.load(tmp_path)
    agent.save(tmp_path / "head")
    _, other = built(actor={"unfreeze_layer_from_past": 1})
    with pytest.raises(ConfigError, match="other weights"):
        other.agent_ppo().load(tmp_path / "head")


@pytest.mark.slow
def test_the_manual_loop_learns_a_rule():
    env, actor = built(
        compare_sample=4, max_length=5, actor={"optimizer": "adamw", "seed": 1}, env_class=Share
    )
    agent = actor.agent_ppo(update_interval=12, minibatch_size=100, epochs=4, lr=0.03)
    totals = []
    for _ in range(60):
        obs, over, total = env.reset(), False, np.zeros(4)
        while not over:
            obs, reward, over, _ = env.step(agent.act(obs))
            total += reward
            agent.observe(obs, reward, over, False)
        totals.append(total.mean())
    assert np.mean(totals[-10:]) > 3 * np.mean(totals[:10]) + 0.5


class Share(Ruled):
    """Pays for one word."""

    def worth(self, word: str) -> float:
        return float(word == "w20")
