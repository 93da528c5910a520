"""A small world for `reward_then_policy`: conversations, an encoder and a policy to begin with."""

from pathlib import Path

from drl.domains.candor.synthetic.settings import Settings
from drl.domains.candor.synthetic.write import generate
from tests.llm.tiny_model import save_tiny_model
from tests.turn_reward.encoders import save_bert

CONF = Path(__file__).parents[2] / "conf"


def build_world(folder):
    """Fills a folder, which it makes; gives it back."""
    folder.mkdir(exist_ok=True)
    generate(Settings(conversations=20, held_out_share=0.3), folder / "candor")
    save_bert(folder / "bert")
    save_tiny_model(folder / "model")
    return folder


def command(world, folder, *more):
    """Overrides that run candor_ppo in such a world in seconds, into a folder."""
    both = ("dataset", "eval_dataset")
    models = ("trainer.reward_model", "trainer.judge")
    return [
        "+experiment=candor_ppo",
        *(f"{each}.root={world / 'candor'}" for each in both),
        *(f"{each}.division.val_share=0.3" for each in both),
        *(f"{each}.contexts.{key}_history=3" for each in both for key in ("max", "keep")),
        *("dataset.contexts.per_session=1", "eval_dataset.limit=6"),
        *("llm=hf", f"llm.model={world / 'model'}", "llm.dtype=float32", "llm.device=cpu"),
        *("agent.max_tokens=6", f"data_dir={world / 'data'}", f"hydra.run.dir={folder}"),
        *(f"{each}.encoder.model={world / 'bert'}" for each in models),
        *(f"{each}.encoder.device=cpu" for each in models),
        *(f"{each}.training.epochs=2" for each in models),
        *(f"{each}.seeds=1" for each in models),
        *("trainer.learn.updates=2", "trainer.learn.tasks_per_update=4"),
        *("trainer.learn.evaluate_every=1", "trainer.learn.evaluate_trials=1"),
        *("trainer.learn.save_every=1", "trainer.draws=3", "trainer.test_trials=1"),
        *more,
    ]
