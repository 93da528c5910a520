"""TextRL 0.2's actor: which weights learn, how it draws, and what it refuses."""

import logging

import pytest
import torch
from compat.textrl.words import END, PROMPTS, Ruled, adapted, built, tokenizer, weights
from ppo.models import KINDS, make

from drl.compat.textrl import TextRLActor, TextRLEnv
from drl.compat.textrl._rollout import write
from drl.errors import ConfigError


def greedy(model, prompt: list[int], num: int) -> list[int]:
    """What a model finds likeliest, token by token, by its own forward pass alone."""
    tokens: list[int] = []
    while len(tokens) < num and END not in tokens:
        with torch.no_grad():
            if model.config.is_encoder_decoder:
                start = [model.config.decoder_start_token_id]
                output = model(
                    input_ids=torch.tensor([prompt]),
                    decoder_input_ids=torch.tensor([start + tokens]),
                )
            else:
                output = model(torch.tensor([prompt + tokens]))
        tokens.append(int(output.logits[0, -1].argmax()))
    return tokens


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("num_blocks", [0, 1, 2])
def test_before_training_texts_are_the_models_own_however_many_blocks_are_unfrozen(
    kind, num_blocks
):
    """Fault 3 and issue 25: blocks were applied twice, so that texts were blank."""
    plain = make(kind)
    env, actor = built(
        kind,
        unfreeze_layer_from_past=num_blocks,
        actor={"unfreeze_layer_from_past": num_blocks},
    )
    actor.agent_ppo()
    ids = [11, 12, 13, END] if plain.config.is_encoder_decoder else [11, 12, 13]
    wanted = [env.actions[token] for token in greedy(plain, ids, 7)]
    text = tokenizer().convert_tokens_to_string(wanted)
    assert actor.predict(PROMPTS[0]) == [text, text]
    assert actor.predict("w11 w12 w13") == [text, text]


@pytest.mark.parametrize("kind", ["gpt2", "t5", "bart", "opt"])
@pytest.mark.parametrize("num_blocks", [0, 1])
def test_only_the_output_layer_and_the_last_blocks_move(kind, num_blocks):
    """Fault 4: the output layer was the input embedding too, so the frozen trunk moved."""
    env, actor = built(kind, actor={"optimizer": "adamw", "unfreeze_layer_from_past": num_blocks})
    agent = actor.agent_ppo(update_interval=6, lr=1e-2)
    env.reset(PROMPTS[0])
    hidden = env.step([5, 6])[0] + 0
    before = weights(env.model)
    play(agent, env)
    moved = {name for name, now in weights(env.model).items() if not torch.equal(now, before[name])}
    assert "lm_head.weight" in moved
    assert moved == {name for name, w in env.model.named_parameters() if w.requires_grad}
    embedding = env.model.get_input_embeddings().weight
    assert not embedding.requires_grad
    if num_blocks == 0:
        assert len(moved) == 1
        env.reset(PROMPTS[0])
        assert torch.equal(env.step([5, 6])[0] + 0, hidden)


def play(agent, env, episodes=1):
    """Step through episodes as TextRL's readme does."""
    for _ in range(episodes):
        obs, over = env.reset(), False
        while not over:
            obs, reward, over, _ = env.step(agent.act(obs))
            agent.observe(obs, reward, over, False)


def test_of_a_model_wrapped_by_peft_its_adapter_learns_and_nothing_else():
    """Issue 23: the agent could not be built."""
    for kind, modules in (("gpt2", ["c_attn"]), ("flan_t5", ["q", "v"])):
        model, words = adapted(kind, target_modules=modules), tokenizer()
        env = Ruled(model, words, PROMPTS, max_length=6)
        actor = TextRLActor(env, model, words, optimizer="adamw")
        agent = actor.agent_ppo(update_interval=6, lr=1e-2)
        before = weights(env.model)
        play(agent, env)
        now = weights(env.model)
        moved = {name for name in now if not torch.equal(now[name], before[name])}
        assert moved
        assert all("lora_" in name for name in moved)


def test_a_frozen_adapter_and_one_with_unfrozen_blocks_are_refused():
    model, words = adapted("gpt2", target_modules=["c_attn"]), tokenizer()
    env = Ruled(model, words, PROMPTS, max_length=6)
    with pytest.raises(ConfigError, match="unfreeze_layer_from_past=1 together with an adapter"):
        TextRLActor(env, model, words, unfreeze_layer_from_past=1)
    model.requires_grad_(False)
    with pytest.raises(ConfigError, match="load it with is_trainable=True"):
        TextRLActor(env, model, words)


@pytest.mark.parametrize(
    ("setting", "told"),
    [
        ({"unfreeze_layer_from_past": 3}, "has 2 blocks, so the last 3 cannot be trained"),
        ({"unfreeze_layer_from_past": -1}, "unfreeze_layer_from_past=-1 must not be negative"),
        ({"temperature": 0.0}, "temperature=0.0 must be above 0"),
        ({"top_p": 0.0}, "top_p=0.0 must lie in"),
        ({"top_k": -1}, "top_k=-1 must not be negative"),
        ({"repetition_penalty": 0.0}, "repetition_penalty=0.0 must be above 0"),
        ({"compare_sample": 0}, "compare_sample=0 must be at least 1"),
    ],
)
def test_settings_that_break_a_rule_are_refused_by_name(setting, told):
    with pytest.raises(ConfigError, match=told):
        built(actor=setting)


@pytest.mark.parametrize(
    "setting",
    [
        {"epochs": 0},
        {"gamma": 1.5},
        {"lambd": -0.1},
        {"epsilon": 0.0},
        {"entropy_coef": -1.0},
        {"lr": 0.0},
        {"update_interval": 0},
        {"minibatch_size": 0},
    ],
)
def test_settings_of_ppo_are_refused_by_the_names_they_were_given(setting):
    _, actor = built()
    ((name, value),) = setting.items()
    with pytest.raises(ConfigError, match=f"agent_ppo: {name}={value} must"):
        actor.agent_ppo(**setting)


def test_the_real_defaults_of_ppo_hold_and_each_can_be_set():
    _, actor = built()
    plain = actor.agent_ppo().learner.settings
    assert (plain.gamma, plain.lam, plain.clip, plain.entropy_weight) == (0.95, 1.0, 0.2, 0.0)
    assert (plain.learning_rate, plain.epochs, plain.value_weight) == (
        3e-6,
        20,
        2.0,
    )  # times half a square
    # the weight of values is of half their squared errors
    assert (plain.optimizer, plain.max_grad_norm, plain.whiten) == ("sgd", 1.0, True)
    _, actor = built(actor={"optimizer": "adamw"})
    own = actor.agent_ppo(
        gamma=0.9, lambd=0.8, epsilon=0.1, entropy_coef=0.01, lr=1e-4, value_coef=0.5, epochs=3
    ).learner.settings
    assert (own.gamma, own.lam, own.clip, own.entropy_weight) == (0.9, 0.8, 0.1, 0.01)
    assert (own.learning_rate, own.epochs, own.value_weight) == (1e-4, 3, 1.0)
    assert own.optimizer == "adamw"


def test_an_optimizer_object_gives_class_and_settings_for_the_weights_that_learn():
    model, words = make("gpt2"), tokenizer()
    given = torch.optim.AdamW(model.parameters(), lr=0.02, betas=(0.8, 0.9))
    env = Ruled(model, words, PROMPTS, max_length=6)
    agent = TextRLActor(env, model, words, optimizer=given).agent_ppo(update_interval=6)
    used = agent.learner.optimizer
    assert type(used) is torch.optim.AdamW
    policy, critic = used.param_groups
    assert policy["lr"] == critic["lr"] == 0.02
    assert policy["betas"] == (0.8, 0.9)
    assert policy["params"] == [model.lm_head.weight]  # no longer the input embedding
    before = weights(model)["lm_head.weight"]
    play(agent, env)
    assert not torch.equal(model.lm_head.weight, before)


def test_another_name_of_an_optimizer_means_sgd_and_says_so(caplog):
    _, actor = built(actor={"optimizer": "lion"})
    assert type(actor.agent_ppo().learner.optimizer) is torch.optim.SGD
    assert "optimizer=lion is unknown, so it means sgd" in caplog.text


def test_blocks_that_only_the_environment_is_told_of_stay_frozen_and_it_says_so(caplog):
    env, _ = built(unfreeze_layer_from_past=1)
    assert "is 1 for the environment and 0 for the actor; the actor's counts" in caplog.text
    assert sum(weight.requires_grad for weight in env.model.parameters()) == 1


def test_a_gpu_is_used_where_there_is_one_and_else_all_runs_on_the_cpu():
    """Fault 8: CUDA was taken for granted."""
    _, actor = built(actor={"gpu_id": 0})
    assert actor.model.device.type == ("cuda" if torch.cuda.is_available() else "cpu")


def test_compare_sample_of_the_actor_is_that_of_the_environment():
    env, actor = built(actor={"compare_sample": 3})
    assert env.compare_sample == 3
    assert len(actor.predict("w5")) == 3
    assert env.reset().shape[0] == 3


def test_drawn_texts_differ_where_prediction_is_not_told_to_be_deterministic():
    _, actor = built(compare_sample=4, actor={"act_deterministically": False})
    assert len(set(actor.predict("w5"))) > 1
    assert actor.predict("w5") == actor.predict("w5")


def test_a_repetition_penalty_keeps_texts_from_saying_things_again():
    _, actor = built(actor={"repetition_penalty": 1e6})
    (words, _) = (text.split() for text in actor.predict("w5 w6"))
    assert len({*words, "w5", "w6"}) == len(words) + 2


def test_likelihoods_are_of_all_tokens_though_few_may_be_drawn(caplog):
    """Fault 7 and issue 4: tokens outside the new filter had the likelihood 0, and NaN came."""
    caplog.set_level(logging.WARNING)
    env, actor = built(
        actor={
            "optimizer": "adamw",
            "temperature": 0.7,
            "top_k": 3,
            "top_p": 0.5,
            "repetition_penalty": 2,
        }
    )
    agent = actor.agent_ppo(update_interval=30, minibatch_size=5, epochs=10, lr=0.1)
    (written,) = write(env.model, env, PROMPTS[:1], agent.drawing, agent.generator)
    text = written.texts[0]
    with torch.no_grad():
        logits = env.model(torch.tensor([[*text.prompt_ids, *text.token_ids]])).logits[0]
    rows = (logits / 0.7).log_softmax(-1)[len(text.prompt_ids) - 1 : -1]
    wanted = rows.gather(1, torch.tensor(text.token_ids)[:, None])[:, 0]
    torch.testing.assert_close(torch.tensor(text.log_probs), wanted, rtol=1e-4, atol=1e-4)
    play(agent, env, 10)
    assert dict(agent.get_statistics())["n_updates"] > 0
    assert all(bool(weight.isfinite().all()) for weight in env.model.parameters())
    assert "no numbers" not in caplog.text


def test_a_model_in_half_precision_learns_with_a_critic_in_full():
    """Fault 9."""
    model, words = make("gpt2").to(torch.bfloat16), tokenizer()
    env = Ruled(model, words, PROMPTS, max_length=6)
    actor = TextRLActor(env, model, words, optimizer="adamw")
    agent = actor.agent_ppo(update_interval=6, lr=1e-2)
    before = weights(model)["lm_head.weight"]
    play(agent, env)
    assert model.lm_head.weight.dtype == torch.bfloat16
    assert {weight.dtype for weight in agent.learner.policy.critic_parameters()} == {torch.float32}
    assert bool(model.lm_head.weight.isfinite().all())
    assert not torch.equal(model.lm_head.weight, before)


def test_actor_and_environment_must_share_a_model():
    env = TextRLEnv(make("gpt2"), tokenizer(), PROMPTS, max_length=6)
    with pytest.raises(ConfigError, match="another than the environment's"):
        TextRLActor(env, make("gpt2"), tokenizer())
