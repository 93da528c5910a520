import pytest
import torch
from ppo.models import KINDS, make

from drl.ppo.generate import Drawing, generate

PROMPTS = [[1, 11, 12, 13], [1, 14], [5, 6, 7]]
STOP = frozenset({2})


def _generate(model, prompts=PROMPTS, seed=0, **changes):
    drawing = Drawing(**({"max_tokens": 6, "stop_ids": STOP} | changes))
    return generate(model, prompts, drawing, torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("kind", KINDS)
def test_the_likeliest_texts_are_the_same_in_a_batch_and_alone(kind):
    model = make(kind)
    together = _generate(model, temperature=0.0)
    alone = [_generate(model, [prompt], temperature=0.0)[0] for prompt in PROMPTS]
    assert [text.token_ids for text in together] == [text.token_ids for text in alone]


@pytest.mark.parametrize("kind", ["gpt2", "bart"])
def test_log_probabilities_are_those_of_the_tempered_softmax(kind):
    model = make(kind)
    (text,) = _generate(model, [PROMPTS[0]], temperature=0.5)
    prompt, tokens = list(text.prompt_ids), list(text.token_ids)
    with torch.no_grad():
        if model.config.is_encoder_decoder:
            start = model.config.decoder_start_token_id
            logits = model(
                input_ids=torch.tensor([prompt]),
                decoder_input_ids=torch.tensor([[start, *tokens[:-1]]]),
            ).logits[0]
        else:
            logits = model(input_ids=torch.tensor([prompt + tokens])).logits[
                0, len(prompt) - 1 : -1
            ]
    wanted = (logits / 0.5).log_softmax(-1)[torch.arange(len(tokens)), torch.tensor(tokens)]
    torch.testing.assert_close(torch.tensor(text.log_probs), wanted, rtol=1e-4, atol=1e-4)


def test_one_seed_gives_one_set_of_texts():
    model = make("gpt2")
    assert _generate(model, seed=3) == _generate(model, seed=3)
    assert _generate(model, seed=3) != _generate(model, seed=4)


def test_a_text_ends_with_the_first_stop_token_and_keeps_it():
    model = make("gpt2")
    for text in _generate(model, stop_ids=frozenset(range(0, 40, 2)), max_tokens=20):
        assert text.token_ids[-1] % 2 == 0
        assert all(token % 2 for token in text.token_ids[:-1])


def test_top_k_of_one_takes_the_likeliest_and_a_tiny_top_p_too():
    model = make("gpt2")
    greedy = [text.token_ids for text in _generate(model, temperature=0.0)]
    assert [text.token_ids for text in _generate(model, top_k=1)] == greedy
    assert [text.token_ids for text in _generate(model, top_p=1e-6)] == greedy


def test_a_huge_penalty_forbids_what_was_said():
    model = make("gpt2")
    for text in _generate(model, temperature=0.0, repetition_penalty=1e6, max_tokens=10):
        assert len(set(text.token_ids)) == len(text.token_ids)


def test_the_models_own_generation_settings_stay_and_have_no_say():
    model = make("gpt2")
    wanted = _generate(model, temperature=0.0)
    model.generation_config.suppress_tokens = [wanted[0].token_ids[0]]
    own = model.generation_config
    assert _generate(model, temperature=0.0) == wanted
    assert model.generation_config is own
