"""`drl textrl-dump`: a plain checkpoint that writes as the trained agent does."""

import json

import pytest
import torch
import typer.testing
from compat.textrl.words import PROMPTS, Ruled, adapted, saved, tokenizer
from peft import PeftModel
from ppo.models import KINDS, make
from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForSeq2SeqLM, AutoTokenizer

from drl.cli.main import app
from drl.compat.textrl import TextRLActor
from drl.errors import ConfigError, DataError, RunError

RUNNER = typer.testing.CliRunner()


def dump(base, learned, out, flag="--dump"):
    arguments = ["textrl-dump", "--model", str(base), "--rl", str(learned), flag, str(out)]
    done = RUNNER.invoke(app, arguments)
    if done.exception is not None:
        raise done.exception
    return json.loads(done.stdout)


def trained(model, folder, num_blocks=0):
    """An agent that has learned from a few episodes is saved; its actor."""
    words = tokenizer()
    env = Ruled(model, words, PROMPTS, max_length=6)
    actor = TextRLActor(env, model, words, optimizer="adamw", unfreeze_layer_from_past=num_blocks)
    agent = actor.agent_ppo(update_interval=6, epochs=5, lr=0.05)
    for _ in range(3):
        obs, over = env.reset(), False
        while not over:
            obs, reward, over, _ = env.step(agent.act(obs))
            agent.observe(obs, reward, over, False)
    agent.save(folder)
    return actor


def loaded(folder):
    """A checkpoint as anyone would load it."""
    encodes = AutoConfig.from_pretrained(folder).is_encoder_decoder
    kind = AutoModelForSeq2SeqLM if encodes else AutoModelForCausalLM
    return kind.from_pretrained(folder).eval(), AutoTokenizer.from_pretrained(folder)


def predicted(model, words, prompt):
    """The likeliest text by transformers' own generate."""
    encodes = model.config.is_encoder_decoder
    inputs = words(prompt, add_special_tokens=encodes, return_tensors="pt")
    output = model.generate(
        input_ids=inputs["input_ids"],
        attention_mask=inputs["attention_mask"],
        max_new_tokens=7,
        do_sample=False,
        pad_token_id=0,
    )[0]
    start = 1 if encodes else inputs["input_ids"].shape[1]
    return words.convert_tokens_to_string(words.convert_ids_to_tokens(output[start:]))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("num_blocks", [0, 1])
def test_a_checkpoint_writes_as_the_agent_does(kind, num_blocks, tmp_path):
    """Issue 22; and with unfrozen blocks it failed."""
    base = saved(kind, tmp_path / "base")
    model, _ = loaded(base)
    actor = trained(model, tmp_path / "rl", num_blocks)
    told = dump(base, tmp_path / "rl", tmp_path / "out")
    assert told["folder"] == str(tmp_path / "out")
    assert told["learned_change"] > 1e-3 > told["logit_difference"]
    checkpoint, words = loaded(tmp_path / "out")
    for item in PROMPTS:
        text = predicted(checkpoint, words, item["input"])
        assert actor.predict(item) == [text, text]
    assert not any("critic" in name or "head.0" in name for name in checkpoint.state_dict())
    assert not (tmp_path / "out.draft").exists()


@pytest.mark.parametrize(("kind", "modules"), [("gpt2", ["c_attn"]), ("flan_t5", ["q", "v"])])
def test_an_adapter_is_merged(kind, modules, tmp_path):
    base = saved(kind, tmp_path / "base")
    model = adapted(kind, target_modules=modules)
    model.base_model.model.load_state_dict(loaded(base)[0].state_dict(), strict=False)
    actor = trained(model, tmp_path / "rl")
    dump(base, tmp_path / "rl", tmp_path / "out", "--dumpdir")
    checkpoint, words = loaded(tmp_path / "out")
    assert not isinstance(checkpoint, PeftModel)
    assert not any("lora" in name for name in checkpoint.state_dict())
    text = predicted(checkpoint, words, PROMPTS[0]["input"])
    assert actor.predict(PROMPTS[0]) == [text, text]


def test_what_learned_in_float32_is_not_rounded_to_a_base_in_half_precision(tmp_path):
    base = tmp_path / "base"
    make("gpt2").to(torch.bfloat16).save_pretrained(base)
    tokenizer().save_pretrained(base)
    actor = trained(loaded(base)[0].float(), tmp_path / "rl")
    dump(base, tmp_path / "rl", tmp_path / "out")
    checkpoint = loaded(tmp_path / "out")[0]
    assert torch.equal(checkpoint.lm_head.weight, actor.model.lm_head.weight)


def test_what_does_not_belong_together_is_refused(tmp_path):
    base = saved("gpt2", tmp_path / "base")
    trained(loaded(base)[0], tmp_path / "rl", 1)
    other = saved("llama", tmp_path / "other")
    with pytest.raises(ConfigError, match="name the model that it was trained from"):
        dump(other, tmp_path / "rl", tmp_path / "out")
    with pytest.raises(DataError, match="name a folder that an agent or a learner was saved to"):
        dump(base, tmp_path, tmp_path / "out")
    with pytest.raises(ConfigError, match="cannot be loaded"):
        dump(tmp_path / "rl", tmp_path / "rl", tmp_path / "out")
    with pytest.raises(RunError, match="is there already; choose another folder"):
        dump(base, tmp_path / "rl", base)
    assert not (tmp_path / "out").exists()
    with torch.no_grad():
        assert dump(base, tmp_path / "rl", tmp_path / "out")["num_weights"] > 1
