"""What is drawn, how it ends, and what is said about it."""

from shutil import copytree

import pytest
import torch
from transformers import AutoModelForCausalLM, GenerationConfig

from drl.llm._hf_sampler import Draw, draw, uniform
from drl.llm.base import LLM, Completion, Sampling
from drl.types import Sampled
from tests.llm import tiny_model
from tests.llm.asking import ask, ask_one, make, request


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tiny_model.save_tiny_model(tmp_path_factory.mktemp("tiny"))


@pytest.fixture
def llm(folder) -> LLM:
    return make("hf", model=str(folder), dtype="float32", device="cpu")


def sampled(choice: Completion) -> Sampled:
    assert choice.sampled
    return choice.sampled


def likelihoods(folder, exact: Sampled, temperature: float) -> list[float]:
    """Log-probabilities of the tokens from one plain forward pass over the whole text."""
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    with torch.inference_mode():
        logits = model(torch.tensor([exact.prompt_ids + exact.token_ids])).logits[0]
    log_probs = (logits[len(exact.prompt_ids) - 1 : -1] / temperature).log_softmax(-1)
    return log_probs.gather(1, torch.tensor(exact.token_ids)[:, None])[:, 0].tolist()


def test_prompt_ids_are_those_of_the_chat_template(folder, llm):
    (choice,) = ask_one(llm, request("hi")).choices
    text = "<|start|>user\nhi<|end|><|start|>assistant\n"
    tokenizer = tiny_model.byte_tokenizer()
    assert list(sampled(choice).prompt_ids) == tokenizer(text)["input_ids"]


@pytest.mark.parametrize("temperature", [0.5, 1.0, 2.0])
def test_log_probabilities_are_those_of_a_plain_forward_pass(folder, llm, temperature):
    asked = request("hi", seeds=range(4), sampling=Sampling(temperature, 20))
    for choice in ask_one(llm, asked).choices:
        exact = sampled(choice)
        wanted = likelihoods(folder, exact, temperature)
        assert exact.log_probs == pytest.approx(wanted, abs=1e-3)


@pytest.mark.parametrize("filters", [{}, {"top_k": 5}, {"top_p": 0.7}])
def test_without_a_temperature_it_draws_at_one(llm, filters):
    asked = request("hi", seeds=range(3), sampling=Sampling(None, 12, **filters))
    plain = request("hi", seeds=range(3), sampling=Sampling(1.0, 12, **filters))
    for open_one, at_one in zip(
        ask_one(llm, asked).choices, ask_one(llm, plain).choices, strict=True
    ):
        assert open_one.text == at_one.text


def test_greedy_log_probabilities_are_those_of_the_plain_softmax(folder, llm):
    (choice,) = ask_one(llm, request("hi", temperature=0.0)).choices
    exact = sampled(choice)
    assert exact.log_probs == pytest.approx(likelihoods(folder, exact, 1.0), abs=1e-3)


def test_a_seed_repeats_its_sample_and_another_gives_another(llm):
    asked = request("hi", seeds=(1, 2, 1), temperature=1.0)
    one, two, again = (sampled(choice) for choice in ask_one(llm, asked).choices)
    assert one.token_ids == again.token_ids
    assert one.log_probs == pytest.approx(again.log_probs, abs=1e-4)
    assert one.token_ids != two.token_ids


def test_a_text_ends_before_a_stop_string_that_lies_across_tokens(llm):
    whole = ask_one(llm, request("hi", temperature=0.0)).choices[0]
    place = next(i for i in range(3, 13) if whole.text[:i].find(whole.text[i : i + 3]) < 0)
    stop = whole.text[place : place + 3]  # every byte is a token
    asked = request("hi", sampling=Sampling(0.0, 16, stop=("never", stop)))
    cut = ask_one(llm, asked).choices[0]
    assert cut.text == whole.text[: whole.text.index(stop)]
    assert cut.finish_reason == "stop"
    # all that was drawn is kept, up to the token that completed the stop string
    number = len(sampled(cut).token_ids)
    assert sampled(cut).token_ids == sampled(whole).token_ids[:number]
    assert stop in tiny_model.byte_tokenizer().decode(sampled(cut).token_ids)


def test_a_text_that_is_cut_off_says_so(llm):
    (choice,) = ask_one(llm, request("hi", sampling=Sampling(0.0, 5))).choices
    assert choice.finish_reason == "length"
    assert len(sampled(choice).token_ids) == 5


def test_a_token_that_ends_replies_ends_a_text_and_is_not_in_it(llm, folder, tmp_path):
    whole = ask_one(llm, request("hi", temperature=0.0)).choices[0]
    place = 5
    ending = copytree(folder, tmp_path / "ending")
    ends = GenerationConfig(eos_token_id=[999, sampled(whole).token_ids[place]])
    ends.save_pretrained(ending)
    (choice,) = ask_one(
        make("hf", model=str(ending), dtype="float32"), request("hi", temperature=0.0)
    ).choices
    number = sampled(whole).token_ids.index(sampled(whole).token_ids[place])
    assert choice.finish_reason == "stop"
    assert sampled(choice).token_ids == sampled(whole).token_ids[: number + 1]
    assert choice.text == tiny_model.byte_tokenizer().decode(sampled(whole).token_ids[:number])


def test_bytes_that_are_no_text_become_replacement_characters(llm):
    asked = request("hi", seeds=range(8), sampling=Sampling(2.0, 30))
    texts = [choice.text for choice in ask_one(llm, asked).choices]
    assert any("\ufffd" in text for text in texts)  # random bytes are rarely UTF-8
    for text in texts:
        text.encode()


def test_usage_counts_the_prompt_once_and_all_that_was_drawn(llm):
    done = ask_one(llm, request("hi", seeds=(1, 2), sampling=Sampling(1.0, 6)))
    exact = [sampled(choice) for choice in done.choices]
    assert done.usage.tokens_in == len(exact[0].prompt_ids)
    assert done.usage.tokens_out == sum(len(one.token_ids) for one in exact)


def test_settings_of_requests_in_one_batch_do_not_mix(llm):
    greedy = request("hi", temperature=0.0)
    hot = request("hi", seeds=(3,), sampling=Sampling(2.0, 16))
    narrow = request("hi", seeds=(3,), sampling=Sampling(2.0, 16, top_k=1))
    together = [done.choices[0].text for done in ask(llm, greedy, hot, narrow)]
    assert together == [ask_one(llm, one).choices[0].text for one in (greedy, hot, narrow)]
    assert together[2] == together[0]  # the likeliest of one is the likeliest
    assert together[1] != together[0]


# the sampler alone: probabilities 0.5, 0.3, 0.15, 0.05 of tokens 2, 0, 3, 1

PROBS = torch.tensor([0.3, 0.05, 0.5, 0.15])


def shares(sampling: Sampling, number: int = 4000) -> list[float]:
    draws = [Draw(sampling, seed, 0) for seed in range(number)]
    drawn = draw(PROBS.log().repeat(number, 1), draws)
    for token, log_prob in zip(*drawn, strict=True):
        assert log_prob == pytest.approx(EXPECTED[sampling][token].log().item(), abs=1e-5)
    return [drawn.tokens.count(token) / number for token in range(4)]


EXPECTED = {
    Sampling(1.0, 1): PROBS,
    # squared and scaled: 0.09, 0.0025, 0.25, 0.0225 of 0.365
    Sampling(0.5, 1): torch.tensor([0.09, 0.0025, 0.25, 0.0225]) / 0.365,
    # 0.5 and 0.3 of 0.8
    Sampling(1.0, 1, top_k=2): torch.tensor([0.375, 0.0, 0.625, 0.0]),
    # 0.5 does not reach 0.6, 0.8 does
    Sampling(1.0, 1, top_p=0.6): torch.tensor([0.375, 0.0, 0.625, 0.0]),
    # of 0.95 that top_k leaves, 0.8 is 0.84: more than 0.8 of it
    Sampling(1.0, 1, top_k=3, top_p=0.8): torch.tensor([0.375, 0.0, 0.625, 0.0]),
    Sampling(1.0, 1, top_p=1e-6): torch.tensor([0.0, 0.0, 1.0, 0.0]),
    Sampling(1.0, 1, top_p=1.0): PROBS,
}


@pytest.mark.parametrize("sampling", EXPECTED, ids=str)
def test_tokens_are_drawn_as_often_as_their_probability_says(sampling):
    # 4,000 draws: a share of 0.5 has a standard deviation of 0.008; 0.03 is almost 4 of them
    assert shares(sampling) == pytest.approx(EXPECTED[sampling].tolist(), abs=0.03)


def test_top_p_over_a_flat_vocabulary_looks_at_as_many_tokens_as_it_needs():
    # 5,000 equal tokens: half of the mass is 2,500 of them, more than are looked at first
    draws = [Draw(Sampling(1.0, 1, top_p=0.5), seed, 0) for seed in range(50)]
    drawn = draw(torch.zeros(50, 5000), draws)
    assert drawn.log_probs == pytest.approx([-torch.tensor(2500.0).log().item()] * 50, abs=1e-3)


def test_a_uniform_number_depends_on_seed_and_place():
    numbers = {uniform(seed, place) for seed in range(30) for place in range(30)}
    assert len(numbers) == 900
    assert all(0 <= number < 1 for number in numbers)


def test_logits_that_are_no_numbers_are_refused():
    with pytest.raises(FloatingPointError, match="not numbers"):
        draw(torch.full((1, 4), float("nan")), [Draw(Sampling(1.0, 1), 0, 0)])
