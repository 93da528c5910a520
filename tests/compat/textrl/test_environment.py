"""TextRL 0.2's environment: items, steps, rewards of every shape, and what it refuses."""

import numpy as np
import pytest
import torch
from compat.textrl.words import END, PROMPTS, Ruled, built, tokenizer
from ppo.models import KINDS, SIZE, make
from tokenizers import normalizers
from transformers import BertConfig, BertForMaskedLM, GPT2Config, GPT2Model

from drl.compat.textrl import TextRLEnv
from drl.errors import ConfigError


def env_of(env_class=TextRLEnv, kind="gpt2", items=PROMPTS, **settings):
    return env_class(make(kind), tokenizer(), items, **{"max_length": 10, **settings})


def paying(given):
    """An environment that pays this, whatever is written."""

    class Paying(TextRLEnv):
        def get_reward(self, input_item, predicted_list, finish):
            if isinstance(given, BaseException):
                raise given
            return given

    return Paying


def rewards_of(given, num=2):
    env = env_of(paying(given), compare_sample=num)
    env.reset()
    return env.step([5] * num)[1].tolist()


@pytest.mark.parametrize(
    ("given", "num", "wanted"),  # fault 5: a list of one made targets of a wrong shape
    [
        ([0.5, 2], 2, [0.5, 2.0]),
        ((1, 2, 3), 3, [1.0, 2.0, 3.0]),
        ([0.5], 2, [0.5, 0.5]),
        (3, 1, [3.0]),
        (0.25, 2, [0.25, 0.25]),
        (torch.tensor([1.0, 2.0]), 2, [1.0, 2.0]),
        (torch.tensor(2.0), 2, [2.0, 2.0]),
        ([torch.tensor(1.0), torch.tensor(2.0)], 2, [1.0, 2.0]),
        (torch.tensor([1.0, 2.0], requires_grad=True), 2, [1.0, 2.0]),
        (np.array([1, 2]), 2, [1.0, 2.0]),
        (np.float32(0.5), 2, [0.5, 0.5]),
        (None, 2, [0.0, 0.0]),
    ],
)
def test_rewards_of_every_shape_become_one_number_for_each_candidate(given, num, wanted):
    assert rewards_of(given, num) == wanted


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ([1, 2, 3], "Paying.get_reward gave rewards of shape [3], but compare_sample=2; give a"),
        ([], "gave rewards of shape [0], but compare_sample=2"),
        (torch.ones(2, 1), "gave rewards of shape [2, 1], but compare_sample=2"),
        ("good", "Paying.get_reward gave 'good'; give a list of 2 numbers (compare_sample)"),
        ([[1.0], [2.0]], "gave [[1.0], [2.0]]; give a list of 2 numbers"),
        ([None, 1.0], "gave [None, 1.0]; give a list of 2 numbers"),
        ({"a": 1}, "gave {'a': 1}; give a list of 2 numbers"),
        ([10**400, 1.0], "; give a list of 2 numbers"),
    ],
)
def test_other_rewards_are_refused_with_the_class_and_both_lengths(given, told):
    with pytest.raises(ConfigError) as caught:
        rewards_of(given)
    assert told in str(caught.value)


@pytest.mark.parametrize("given", [float("nan"), [1.0, float("inf")]])
def test_rewards_that_are_no_numbers_are_refused_with_prompt_and_texts(given):
    env = env_of(paying(given))
    env.reset(PROMPTS[1])
    with pytest.raises(ConfigError) as caught:
        env.step([5, 6])
    assert "prompt 'w14', texts ' w5', ' w6'; give finite numbers" in str(caught.value)


def test_an_exception_of_the_users_keeps_its_cause_and_shows_prompt_and_texts():
    cause = KeyError("label")
    env = env_of(paying(cause))
    env.reset(PROMPTS[1])
    with pytest.raises(ConfigError) as caught:
        env.step([5, 6])
    assert caught.value.__cause__ is cause
    assert "Paying.get_reward raised KeyError: 'label'; prompt 'w14', texts" in str(caught.value)


def test_a_reward_that_changes_what_it_is_shown_changes_no_text():
    class Untidy(Ruled):
        def get_reward(self, input_item, predicted_list, finish):
            for words in predicted_list:
                words.clear()
            predicted_list.clear()
            return 1.0

    env = env_of(Untidy)
    env.reset(PROMPTS[1])
    env.step([5, 6])
    assert env.step([7, 8])[3] == {"predicted_str": [" w5 w7", " w6 w8"]}


def test_an_episode_ends_when_all_candidates_have_and_fillers_are_empty():
    env = env_of(Ruled, max_length=3)
    env.reset(PROMPTS[0])
    for tokens in ([5, 6], [END, 7], [30, 8]):
        _, _, done, info = env.step(tokens)
        assert not done
    assert info["predicted_str"] == [" w5</s>", " w6 w7 w8"]
    assert env.predicted == [["w5", "</s>", ""], ["w6", "w7", "w8"]]
    _, _, done, _ = env.step([30, 9])  # longer than max_length
    assert done
    assert [finish for _, _, finish in env.calls] == [False, False, False, True]
    assert env.token_ids == [[5, END], [6, 7, 8, 9]]
    with pytest.raises(ValueError, match="call reset"):
        env.step([5, 5])


def test_get_reward_gets_the_item_and_token_strings_once_a_token():
    env = env_of(Ruled, max_length=2)
    item = {"input": "w4", "label": "positive"}
    env.reset(item)
    env.step([5, 6])
    env.step(np.array([7, 8]))
    assert env.calls == [
        (item, [["w5"], ["w6"]], False),
        (item, [["w5", "w7"], ["w6", "w8"]], False),
    ]
    assert tokenizer().convert_tokens_to_string(env.calls[1][1][0]) == " w5 w7"


def test_reward_may_be_asked_for_at_the_end_only_or_every_few_tokens():
    """Issue 17."""

    class Final(Ruled):
        reward_calls = "final"

    class Sparse(Ruled):
        reward_every_n_tokens = 2

    called = {}
    for env_class in (Final, Sparse):
        env = env_of(env_class, max_length=4, compare_sample=1)
        env.reset()
        rewards = [float(env.step([7])[1][0]) for _ in range(5)]
        called[env_class] = rewards
    assert called == {Final: [0, 0, 0, 0, 0.7], Sparse: [0, 0.7, 0, 0.7, 0.7]}


@pytest.mark.parametrize("item", [{"input": "w5 w6", "more": 1}, "w5 w6", ["w5 w6", 1]])
def test_items_are_dicts_texts_or_lists(item):
    """Issues 27 and 28."""
    env = env_of(Ruled, items=[item])
    env.reset()
    assert env.prompt_ids == (5, 6)
    env.step([5, 5])
    assert env.calls[0][0] == ({"input": item} if isinstance(item, str) else item)


@pytest.mark.parametrize("item", [{"prompt": "w5"}, [], 7, {"input": ["w5"]}])
def test_items_without_a_prompt_are_refused_at_construction(item):
    """Issue 5: nobody knew what an item is."""
    with pytest.raises(ConfigError, match="holds no prompt; write"):
        env_of(items=[item])


def test_half_of_a_letter_in_a_prompt_is_refused_at_construction():
    with pytest.raises(ConfigError, match="holds half of a letter"):
        env_of(items=["w5 \ud800"])


@pytest.mark.parametrize("hook", ["gat_obs_input", "get_obs_input"])
def test_either_hook_may_say_what_the_prompt_of_an_item_is(hook):
    env_class = type("Own", (TextRLEnv,), {hook: lambda self, item: item["question"]})
    env = env_of(env_class, items=[{"question": "w7"}])
    env.reset()
    assert env.prompt_ids == (7,)


def test_prompts_come_by_chance_from_a_seed():
    drawn = []
    for seed in (0, 0, 1):
        env = env_of(seed=seed)
        prompts = []
        for _ in range(12):
            env.reset()
            prompts.append(env.prompt)
        drawn.append(prompts)
    assert drawn[0] == drawn[1] != drawn[2]
    assert set(drawn[0]) == {item["input"] for item in PROMPTS}


def test_a_prompt_beyond_the_context_is_refused_at_construction():
    """Issue 24: it was an error of CUDA."""
    items = [{"input": "w5 " * 70}]
    with pytest.raises(ConfigError) as caught:
        env_of(items=items, max_length=10)
    told = str(caught.value)
    assert "has 70 tokens and max_length lets 11 follow" in told
    assert "GPT2LMHeadModel reads at most 64; shorten the prompt, or lower max_length" in told
    env_of(items=[{"input": "w5 " * 53}], max_length=10)  # 53 + 11 = 64
    with pytest.raises(ConfigError):
        env_of(items=[{"input": "w5 " * 54}], max_length=10)
    env_of(kind="t5", items=items)  # its places are relative


def test_models_without_a_head_or_that_cannot_write_are_refused_clearly():
    """Issue 3."""
    sizes = {"vocab_size": SIZE, "hidden_size": 16, "num_hidden_layers": 1}
    bert = BertConfig(num_attention_heads=2, intermediate_size=16, **sizes)
    for model in (
        BertForMaskedLM(bert),
        GPT2Model(GPT2Config(vocab_size=SIZE, n_embd=16, n_layer=1, n_head=2)),
    ):
        with pytest.raises(ConfigError, match="has no language-model head"):
            TextRLEnv(model, tokenizer(), PROMPTS)
    with pytest.raises(ConfigError, match="model is a Linear; give one of transformers"):
        TextRLEnv(torch.nn.Linear(1, 1), tokenizer(), PROMPTS)


@pytest.mark.parametrize("kind", KINDS)
def test_an_observation_is_the_last_hidden_state_of_each_candidate(kind):
    env, _ = built(kind, compare_sample=3)
    env.reset(PROMPTS[0])
    obs = env.step([5, 6, END])[0]
    obs = env.step([8, 9, 10])[0]
    prompt = list(env.prompt_ids)
    for row, tokens in enumerate(([5, 8], [6, 9], [END])):
        with torch.no_grad():
            if env.model.config.is_encoder_decoder:
                start = env.model.config.decoder_start_token_id
                out = env.model(
                    input_ids=torch.tensor([prompt]),
                    decoder_input_ids=torch.tensor([[start, *tokens]]),
                    output_hidden_states=True,
                )
                hidden = out.decoder_hidden_states[-1][0, -1]
            else:
                out = env.model(torch.tensor([prompt + tokens]), output_hidden_states=True)
                hidden = out.hidden_states[-1][0, -1]
        torch.testing.assert_close(obs.seen.logits_SV[row], out.logits[0, -1], rtol=1e-4, atol=1e-4)
        if obs.shape[1] == hidden.shape[0]:  # OPT projects its states once more
            torch.testing.assert_close(obs[row], hidden, rtol=1e-4, atol=1e-4)
    assert type(obs + 1) is torch.Tensor


def test_what_a_candidate_goes_on_from_is_what_was_drawn_whatever_its_text_reads_as():
    """Fault 6: w9 is written as w9, but would be read as w8."""
    words = tokenizer()
    words.backend_tokenizer.normalizer = normalizers.Replace("w9", "w8")
    assert words("w9", add_special_tokens=False)["input_ids"] == [8]
    env = TextRLEnv(make("gpt2"), words, PROMPTS, max_length=10, compare_sample=1)
    env.reset(PROMPTS[1])
    obs, *_ = env.step([9])
    assert env.token_ids == [[9]]
    with torch.no_grad():
        logits = env.model(torch.tensor([[14, 9]])).logits[0, -1]
    torch.testing.assert_close(obs.seen.logits_SV[0], logits, rtol=1e-4, atol=1e-4)


def test_tokens_that_only_the_model_knows_are_empty_and_end_a_candidate():
    """Fault 11."""
    env = TextRLEnv(make("gpt2"), tokenizer(30), PROMPTS, max_length=10)
    assert env.action_space.n == len(env.actions) == SIZE
    env.reset(PROMPTS[1])
    env.step([35, 5])
    assert env.predicted == [[""], ["w5"]]
    assert env.predicted_end == [True, False]


def test_actions_that_do_not_fit_are_refused():
    env = env_of()
    env.reset()
    with pytest.raises(ValueError, match="action has 3 tokens for 2 candidates"):
        env.step([1, 2, 3])
    with pytest.raises(ValueError, match="outside 0 to 39"):
        env.step([1, 40])


def test_stop_tokens_are_named_and_the_bound_is_the_smallest_of_all():
    env = env_of(max_length=50)
    assert env.gen_stop_toks == ["</s>"]
    assert env.stop_ids == {END}
    assert env.env_max_length == 50
    words = tokenizer()
    words.model_max_length = 20
    assert TextRLEnv(make("gpt2"), words, PROMPTS, max_length=50).env_max_length == 20


def test_an_empty_prompt_goes_on_from_the_token_that_begins_texts():
    env = env_of(items=[""])
    env.reset()
    assert env.prompt_ids == (1,)


def test_without_prompts_reset_says_so():
    with pytest.raises(ConfigError, match="observation_input is empty"):
        env_of(items=[]).reset()
