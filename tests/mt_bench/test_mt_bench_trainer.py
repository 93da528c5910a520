"""MT-Bench from questions to FastChat's files, which a second start does not change."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from mt_bench.conftest import jsonl
from mt_bench.judging import reward_of
from scripted_llm import ScriptedLLM, says
from trainer.small_runs import NO_CALLS, start

from drl.agent.plain import PlainAgent
from drl.dataset.mt_bench import MTBenchDataset
from drl.environment.none import NoneEnvironment
from drl.errors import ConfigError, DataError, RunError
from drl.llm.base import LLM, ContextOverflowError, OutageError, Request
from drl.rollout.best_of_n import BestOfNRollout
from drl.rollout.single import SingleRollout
from drl.runtime.run_dir import ROLLOUTS, RunDir
from drl.trainer.base import Parts
from drl.trainer.mt_bench import MTBenchTrainer
from drl.types import JSON
from drl.user_simulator.script import ScriptUserSimulator

TRAINER = MTBenchTrainer(trials=1, model_id="m")


def model(request: Request, seed: int) -> str:
    """An answer that names its question and turn."""
    turn = sum(message.role == "assistant" for message in request.messages)
    return f"{request.messages[0].content} #{turn}"


def rater(request: Request, seed: int) -> str:
    """8 for first turns, 4 for second ones."""
    return "[[4]]" if "multi-turn" in request.messages[0].content else "[[8]]"


def parts_of(
    root: Path, *, llm: LLM | None = None, judge: LLM | None = None, **reward: JSON
) -> Parts:
    dataset = MTBenchDataset(
        questions="published",
        root=str(root),
        categories=None,
        ids=None,
        shuffle=None,
        start=0,
        limit=None,
        shard=0,
        num_shards=1,
    )
    agent = PlainAgent(
        system=None, temperature=None, top_p=None, top_k=None, max_tokens=1024, stop=[]
    )
    paid = reward_of(prompts="mt_bench", root=str(root), scale="unit", **reward)
    node = {"_target_": "drl.x.y.Z"}
    config: dict[str, JSON] = {"name": "x", "seed": 0, "data_dir": str(root)}
    groups = ("agent", "user_simulator", "reward", "rollout", "llm", "judge_llm")
    config |= dict.fromkeys(groups, node)
    return Parts(
        config=config,
        calls=NO_CALLS,
        dataset=dataset,
        environment=NoneEnvironment(),
        agent=agent,
        user_simulator=ScriptUserSimulator(),
        reward=paid,
        score=paid,
        rollout=SingleRollout(max_steps=15, max_calls=None, concurrency=8),
        llm=llm or ScriptedLLM(model),
        judge_llm=judge or ScriptedLLM(rater),
    )


def lines(path: Path) -> list[Mapping[str, JSON]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def run(parts: Parts, folder: Path, trainer: MTBenchTrainer = TRAINER) -> Mapping[str, JSON]:
    trainer.check_parts(parts)
    return start(trainer, parts, folder / "run")


def files_of(folder: Path) -> dict[str, bytes]:
    place = folder / "run" / "mt_bench"
    return {str(f.relative_to(place)): f.read_bytes() for f in place.rglob("*") if f.is_file()}


def test_answers_are_written_as_fastchat_does(root: Path, tmp_path: Path):
    run(parts_of(root), tmp_path)
    rows = lines(tmp_path / "run/mt_bench/model_answer/m.jsonl")
    assert [row["question_id"] for row in rows] == [1, 2, 3]
    first = rows[0]
    assert list(first) == ["question_id", "answer_id", "model_id", "choices", "tstamp"]
    assert first["model_id"] == "m"
    assert first["choices"] == [{"index": 0, "turns": ["Say {this}. #0", "Say {this}. #1"]}]
    assert isinstance(first["tstamp"], float)
    ids = [str(row["answer_id"]) for row in rows]
    assert len(set(ids)) == 3
    assert all(len(each) == 22 and each.isalnum() for each in ids)


def test_ratings_are_written_as_fastchat_does(root: Path, tmp_path: Path):
    run(parts_of(root), tmp_path)
    rows = lines(tmp_path / "run/mt_bench/model_judgment/scripted_single.jsonl")
    assert [(row["question_id"], row["turn"], row["score"]) for row in rows] == [
        (number, turn, score) for number in (1, 2, 3) for turn, score in ((1, 8), (2, 4))
    ]
    keys = ["question_id", "model", "judge", "user_prompt", "judgment", "score", "turn", "tstamp"]
    assert list(rows[0]) == keys
    assert rows[0]["judge"] == ["scripted", "single-v1"]
    assert rows[5]["judge"] == ["scripted", "single-math-v1-multi-turn"]
    assert rows[0]["user_prompt"] == "Q Say {this}. A Say {this}. #0"
    assert rows[0]["judgment"] == "[[8]]"


def test_tables_are_in_points_by_category_and_turn(root: Path, tmp_path: Path):
    summary = run(parts_of(root), tmp_path)
    ratings = summary["ratings"]
    assert ratings["mean_points"]["value"] == 6.0
    assert ratings["per_turn"]["turn_1"]["value"] == 8.0
    assert ratings["per_category"]["poems"]["turn_2"]["value"] == 4.0
    assert summary["mean_reward"]["value"] == pytest.approx((7 / 9 + 3 / 9) / 2)
    assert summary["mt_bench"] == {
        "model": "m",
        "judge": "scripted",
        "n_judged": 6,
        "n_unscored": 0,
        "n_unanswered": 0,
        "unscored_causes": {},
    }
    assert "full_success" not in summary
    stored = json.loads((tmp_path / "run/summary.json").read_text())
    assert stored["ratings"] == json.loads(json.dumps(ratings))
    assert "Rating by category" in (tmp_path / "run/report.html").read_text()


def test_each_question_is_asked_at_its_temperature_and_the_customer_then_hangs_up(root, tmp_path):
    llm = ScriptedLLM(model)
    run(parts_of(root, llm=llm), tmp_path)
    asked = {r.messages[0].content: r.sampling.temperature for r in llm.requests}
    assert asked == {"2+2?": 0.0, "Say {this}.": 0.7, "A line.": 0.7}
    assert len(llm.requests) == 6
    trees = lines(tmp_path / "run/rollouts.jsonl")
    assert [tree["nodes"][-1]["stop"] for tree in trees] == ["user_ended"] * 3
    assert [len(tree["nodes"]) for tree in trees] == [5] * 3


def test_a_second_start_writes_the_same_and_asks_nobody(root: Path, tmp_path: Path):
    run(parts_of(root), tmp_path)
    before = files_of(tmp_path)
    assert len(before) == 2
    silent = ScriptedLLM(lambda request, seed: pytest.fail("it was asked again"))
    run(parts_of(root, llm=silent, judge=silent), tmp_path)
    assert files_of(tmp_path) == before


def test_trials_are_choices_and_only_the_first_is_in_the_file_of_judgments(root, tmp_path):
    llm = ScriptedLLM(lambda r, s: f"{s % 1000}")
    trainer = replace(TRAINER, trials=2)
    summary = run(parts_of(root, llm=llm), tmp_path, trainer)
    rows = lines(tmp_path / "run/mt_bench/model_answer/m.jsonl")
    assert [[choice["index"] for choice in row["choices"]] for row in rows] == [[0, 1]] * 3
    assert rows[0]["choices"][0]["turns"] != rows[0]["choices"][1]["turns"]
    assert len(lines(tmp_path / "run/mt_bench/model_judgment/scripted_single.jsonl")) == 6
    assert summary["mt_bench"]["n_judged"] == 12


def test_what_a_judge_leaves_unsaid_is_counted_and_in_no_mean(root: Path, tmp_path: Path):
    def judge(request: Request, seed: int) -> str:
        return "prose" if "Say it again." in request.messages[-1].content else rater(request, seed)

    summary = run(parts_of(root, judge=ScriptedLLM(judge)), tmp_path)
    assert summary["mt_bench"]["n_judged"] == 5
    assert summary["mt_bench"]["n_unscored"] == 1
    assert summary["mt_bench"]["unscored_causes"] == {"no verdict in the judgment": 1}
    assert summary["ratings"]["mean_points"]["value"] == pytest.approx((8 * 3 + 4 * 2) / 5)
    rows = lines(tmp_path / "run/mt_bench/model_judgment/scripted_single.jsonl")
    assert (rows[1]["score"], rows[1]["judgment"]) == (-1, "prose")  # FastChat's tools drop these


def test_an_outage_of_the_judge_is_counted_and_tried_again_at_the_next_start(root, tmp_path):
    def judge(request: Request, seed: int) -> str:
        if "A line." in request.messages[-1].content:
            raise OutageError("down")
        return rater(request, seed)

    summary = run(parts_of(root, judge=ScriptedLLM(judge)), tmp_path)
    assert summary["n_errors"] == 1
    assert summary["mt_bench"]["n_judged"] == 4
    assert [
        row["question_id"] for row in lines(tmp_path / "run/mt_bench/model_answer/m.jsonl")
    ] == [
        1,
        3,
    ]
    summary = run(parts_of(root), tmp_path)
    assert summary["n_errors"] == 0
    assert summary["mt_bench"]["n_judged"] == 6


def test_a_model_whose_context_is_full_leaves_a_turn_unanswered(root: Path, tmp_path: Path):
    def answer(request: Request, seed: int) -> str:
        if "2+2" in request.messages[0].content and len(request.messages) > 1:
            raise ContextOverflowError("full")
        return model(request, seed)

    summary = run(parts_of(root, llm=ScriptedLLM(answer)), tmp_path)
    assert summary["mt_bench"]["n_unanswered"] == 1
    assert summary["mt_bench"]["n_judged"] == 5
    rows = lines(tmp_path / "run/mt_bench/model_answer/m.jsonl")
    assert rows[2]["choices"][0]["turns"] == ["2+2? #0", "ERROR"]


def test_comparisons_are_written_as_fastchat_does(root: Path, tmp_path: Path, answers):
    baseline = answers({n: [["x", "y"]] for n in (1, 2, 3)}, "gpt-3.5-turbo")

    def judge(request: Request, seed: int) -> str:
        shown = request.messages[-1].content
        return "[[A]]" if "A x" in shown else "[[B]]"  # the baseline wins, wherever it stands

    parts = parts_of(root, judge=ScriptedLLM(judge), mode="pairwise", baseline=str(baseline))
    summary = run(parts, tmp_path)
    rows = lines(tmp_path / "run/mt_bench/model_judgment/scripted_pair.jsonl")
    assert list(rows[0]) == [
        *("question_id", "model_1", "model_2", "g1_winner", "g2_winner", "judge"),
        *("g1_user_prompt", "g1_judgment", "g2_user_prompt", "g2_judgment", "turn", "tstamp"),
    ]
    assert len(rows) == 6
    assert (rows[0]["model_1"], rows[0]["model_2"]) == ("m", "gpt-3.5-turbo")
    assert {(row["g1_winner"], row["g2_winner"]) for row in rows} == {("model_2", "model_2")}
    assert rows[0]["g1_judgment"] == "[[B]]"
    assert summary["comparisons"]["loss_rate"]["value"] == 1.0
    assert summary["comparisons"]["adjusted_win_rate"]["value"] == 0.0
    assert summary["comparisons"]["agreement"]["value"] == 1.0
    assert summary["mt_bench"]["baseline"] == "gpt-3.5-turbo"
    assert "ratings" not in summary


def test_answers_that_were_written_can_be_judged_as_a_baseline(root: Path, tmp_path: Path):
    run(parts_of(root), tmp_path)
    written = tmp_path / "run/mt_bench/model_answer/m.jsonl"
    judge = says("[[A]]")  # always the first: a judge with nothing but a bias
    parts = parts_of(root, judge=judge, mode="pairwise", baseline=str(written))
    summary = start(TRAINER, parts, tmp_path / "again")
    assert summary["comparisons"]["tie_rate"]["value"] == 1.0
    assert summary["comparisons"]["agreement"]["value"] == 0.0


def test_the_model_is_named_after_its_last_part_and_its_adapter(root: Path, tmp_path: Path):
    class Named(ScriptedLLM):
        @property
        def model(self) -> str:
            return "maker/My Model:7b"

        @property
        def identity(self) -> Mapping[str, str]:
            return {"adapter": "0123456789abcdef"}

    parts = parts_of(root, llm=Named(model))
    run(parts, tmp_path, MTBenchTrainer(trials=1, model_id=None))
    assert "model_answer/My-Model-7b-adapter-01234567.jsonl" in files_of(tmp_path)


def _changed(parts: Parts, **changes: object) -> Parts:
    return replace(parts, **changes)  # pyright: ignore[reportArgumentType]


def test_what_does_not_fit_is_refused_before_anything_is_asked(root: Path):
    from drl.reward.goal_api import GoalApiReward

    search = BestOfNRollout(num_dialogues=2, agent_calls=None, max_steps=2, concurrency=1)
    short = SingleRollout(max_steps=1, max_calls=None, concurrency=1)
    for changes, message in (
        ({"reward": GoalApiReward(judge_against="task")}, "asks no judge"),
        ({"rollout": search}, "choose rollout=single"),
        ({"rollout": short}, r"rollout\.max_steps=1"),
    ):
        with pytest.raises(ConfigError, match=message):
            TRAINER.check_parts(_changed(parts_of(root), **changes))


@pytest.mark.parametrize("name", ["a/b", "..", "", "a b", ".x"])
def test_a_name_that_is_no_file_name_is_refused(name):
    with pytest.raises(ConfigError, match=r"trainer\.model_id="):
        MTBenchTrainer(trials=1, model_id=name)


def test_a_judge_that_is_asked_at_the_end_only_is_refused(root: Path):
    at_end = reward_of(when="dialogue")
    with pytest.raises(ConfigError, match=r"set reward\.when=turn"):
        TRAINER.check_parts(_changed(parts_of(root), reward=at_end, score=at_end))


def test_tasks_that_are_no_questions_are_refused_before_any_is_played(root: Path, tmp_path: Path):
    from trainer.small_runs import NumberedTasks

    parts = _changed(parts_of(root), dataset=NumberedTasks(1, ()), reward=reward_of())
    parts = _changed(parts, score=parts.reward, agent=replace(parts.agent, temperature=0.0))
    with pytest.raises(ConfigError, match="choose dataset=mt_bench"):
        run(parts, tmp_path)
    assert not list(tmp_path.rglob(ROLLOUTS))


def test_a_baseline_that_lacks_an_answer_is_told_before_any_is_paid_for(root, tmp_path, answers):
    baseline = answers({1: [["theirs", "theirs too"]], 3: [["5"]]})
    parts = parts_of(root, mode="pairwise", baseline=str(baseline))
    with pytest.raises(DataError, match=r"has 1 turns for question 3"):
        run(parts, tmp_path)
    assert isinstance(parts.llm, ScriptedLLM)
    assert not parts.llm.requests


def test_other_questions_in_the_folder_of_a_run_are_refused(root: Path, tmp_path: Path):
    run(parts_of(root), tmp_path)
    from drl.domains.mt_bench import world
    from drl.domains.mt_bench.store import FOLDER, read, write

    texts = dict(read(root / FOLDER).texts)
    texts["question.jsonl"] = jsonl([{"question_id": 1, "category": "a", "turns": ["?", "??"]}])
    write(root / FOLDER, texts)
    world.load.cache_clear()
    with pytest.raises(RunError, match="began on data"):
        run(parts_of(root), tmp_path)


def test_a_cut_file_of_trees_goes_on(root: Path, tmp_path: Path):
    run(parts_of(root), tmp_path)
    before = files_of(tmp_path)
    store = tmp_path / "run/rollouts.jsonl"
    store.write_bytes(store.read_bytes()[:-20])  # killed while it wrote the last line
    run(parts_of(root), tmp_path)
    assert files_of(tmp_path) == before


def _provenance(folder: Path) -> Mapping[str, JSON]:
    with RunDir(folder) as run_dir:
        return run_dir.provenance()


def test_the_words_of_the_judge_are_part_of_what_a_run_is(root: Path, tmp_path: Path):
    run(parts_of(root), tmp_path)
    assert str(_provenance(tmp_path / "run")["reward_version"]).startswith("judge-mt_bench-1+")
