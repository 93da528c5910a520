from dataclasses import replace

import pytest
import torch

from drl.errors import ConfigError, DataError
from drl.trainer._reward_model_encoder import encoder_of, tuned_encoder
from drl.turn_reward.head import apply
from drl.turn_reward.settings import TuneSettings
from drl.turn_reward.tune import labelled_turns, tune
from tests.trainer.recorded import sessions
from tests.turn_reward.encoders import FORMAT, save_bart, save_bert, settings
from tests.turn_reward.learning import LINEAR

TUNE = TuneSettings(
    epochs=3,
    batch_size=8,
    shuffle=True,
    learning_rate=2e-3,
    schedule="linear",
    encoder_schedule="linear",
    weight_decay=0.01,
)
RAW = replace(LINEAR, standardise=False)


def parts():
    given = sessions(num_train=8, num_val=4)
    return ([each for each in given if each.split == split] for split in ("train", "val"))


def test_an_encoder_learns_with_its_head_and_gives_the_loss_that_was_told(tmp_path):
    encoder = settings(save_bert(tmp_path / "bert")).load()
    before = encoder.model.get_input_embeddings().weight.clone()
    train, val = parts()
    told = []
    found = tune(
        encoder, FORMAT, RAW, TUNE, train, val, seed=0, tell=lambda *each: told.append(each)
    )
    assert [each[0] for each in told] == [1, 2, 3]
    assert not torch.equal(before, encoder.model.get_input_embeddings().weight)
    assert found.best_val == min(each[2] for each in told)
    turns = labelled_turns(val)
    texts = [FORMAT.render(turn.session.utterances, turn.place) for turn in turns]
    rewards = apply(RAW, found.params, torch.from_numpy(encoder.embed(texts)))
    labels = torch.tensor([turn.label for turn in turns])
    # embed rounds to the stored type, float32: the same encoder, the same head, the same error
    assert float((rewards - labels).square().mean()) == pytest.approx(found.best_val, rel=1e-4)
    assert found.best_val < told[0][1]


@pytest.mark.parametrize("save", [save_bert, save_bart])
def test_a_trained_encoder_is_the_encoder_of_a_later_run(tmp_path, save):
    run = tmp_path / "run"
    run.mkdir()
    plain = settings(save(tmp_path / "plain"), pooling="mean", normalize=True, max_length=64)
    train, val = parts()
    once = replace(TUNE, epochs=1)
    tuned = tuned_encoder(run, plain, FORMAT, RAW, once, [*train, *val], 0)
    again = tuned_encoder(run, plain, FORMAT, RAW, once, [], 0)
    assert again.settings == tuned.settings
    later = encoder_of(settings(run))
    assert (later.pooling, later.normalize, later.max_length) == ("mean", True, 64)
    texts = [FORMAT.render(turn.session.utterances, turn.place) for turn in labelled_turns(val)]
    assert later.load().digest == tuned.settings.load().digest
    assert not torch.allclose(
        torch.from_numpy(later.load().embed(texts)), torch.from_numpy(plain.load().embed(texts))
    )


def test_a_run_that_trained_no_encoder_is_no_encoder(tmp_path):
    (tmp_path / "provenance.json").write_text("{}")
    with pytest.raises(ConfigError, match="trained no encoder"):
        encoder_of(settings(tmp_path))


def test_without_labels_there_is_nothing_to_train_on(tmp_path):
    encoder = settings(save_bert(tmp_path / "bert")).load()
    with pytest.raises(DataError, match="no training turn has a label"):
        tune(encoder, FORMAT, RAW, TUNE, [], [], seed=0)
