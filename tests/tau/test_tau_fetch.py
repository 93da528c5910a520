"""Fetching tau-bench: one content from wherever it comes, all or nothing, and clear refusals."""

import zipfile
from pathlib import Path

import pytest
from cli.running import drl, error_of
from tau.publishing import publish

from drl.domains.tau import stored
from drl.domains.tau.fetch import fetch, is_fetched
from drl.errors import DataError


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()} - {".tau_bench.lock"}


def test_a_checkout_becomes_the_compact_form(tmp_path: Path):
    folder = fetch(tmp_path / "data", publish(tmp_path / "published"))
    assert names(tmp_path / "data") == {"tau_bench"}
    assert names(folder) == {"manifest.json", "retail.json.gz", "airline.json.gz"}
    shop = stored.load(tmp_path / "data", "retail", "tau1")
    assert {split: len(scenes) for split, scenes in shop.splits.items()} == {
        "test": 3,
        "train": 2,
        "dev": 1,
    }
    first = shop.splits["test"][0]
    assert (first.user_id, first.instruction) == ("ann_lee_1", "You are ann_lee_1.")
    assert first.outputs == ("20.50",)
    assert [action.name for action in first.actions] == [
        "get_order_details",
        "cancel_pending_order",
    ]
    assert shop.world.toolbox.policy == "The retail policy: be kind.\n"
    assert [spec.name for spec in shop.world.toolbox.specs] == [
        "find_user_id_by_email",
        "cancel_pending_order",
        "modify_user_address",
    ]
    assert list(stored.load(tmp_path / "data", "airline", "tau1").splits) == ["test"]


def test_what_the_labels_do_is_kept(tmp_path: Path):
    fetch(tmp_path, publish(tmp_path / "published"))
    scenes = stored.load(tmp_path, "retail", "tau1").splits["test"]
    # the first cancels an order, the second is refused, the third has nothing to do
    assert [scene.golds["faithful"].is_changed for scene in scenes] == [True, False, False]
    assert [scene.golds["faithful"].failed for scene in scenes] == [(), (0,), ()]
    assert [stored.is_faulty(scene) for scene in scenes] == [False, True, False]
    assert [scene.is_seen for scene in scenes] == [True, True, False]


def test_one_content_has_one_version_wherever_it_lies(tmp_path: Path):
    checkout = publish(tmp_path / "checkout")
    package = checkout / "tau_bench"
    publish(tmp_path / "unpacked" / "tau-bench-eval")
    versions = set()
    for number, source in enumerate((checkout, package, tmp_path / "unpacked")):
        fetch(tmp_path / str(number), source)
        versions.add(stored.version(tmp_path / str(number), "tau1"))
    (version,) = versions
    assert version.startswith("tau1-checkout-")  # it is not the published content


def test_forms_and_sources_have_versions_of_their_own(tmp_path: Path):
    fetch(tmp_path / "old", publish(tmp_path / "published"))
    fetch(tmp_path / "new", publish(tmp_path / "republished", old=False))
    versions = {
        stored.version(tmp_path / place, form)
        for place in ("old", "new")
        for form in ("tau1", "tau1_old")
    }
    assert len(versions) == 4


def test_the_newer_form_renames_what_the_older_calls_province(tmp_path: Path):
    fetch(tmp_path, publish(tmp_path / "published"))
    address = {
        form: stored.load(tmp_path, "retail", form)
        .world.tables["users"]
        .read("ann_lee_1")["address"]
        for form in stored.FORMS
    }
    assert list(address["tau1_old"]) == [
        "address1",
        "address2",
        "city",
        "country",
        "province",
        "zip",
    ]
    assert list(address["tau1"]) == ["address1", "address2", "city", "country", "state", "zip"]
    assert list(address["tau1"].values()) == list(address["tau1_old"].values())


def test_a_source_without_the_older_form_says_so_when_it_is_asked_for(tmp_path: Path):
    fetch(tmp_path, publish(tmp_path / "published", old=False))
    with pytest.raises(DataError, match=r"no form tau1_old; use dataset\.data=tau1, or"):
        stored.load(tmp_path, "retail", "tau1_old")


def test_a_second_call_changes_nothing(tmp_path: Path):
    source = publish(tmp_path / "published")
    folder = fetch(tmp_path, source)
    before = {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}
    assert fetch(tmp_path, source) == fetch(tmp_path) == folder
    assert {path.name: path.stat().st_mtime_ns for path in folder.iterdir()} == before


def test_another_source_is_refused_where_one_is_already(tmp_path: Path):
    fetch(tmp_path, publish(tmp_path / "published"))
    other = publish(tmp_path / "other", old=False)
    with pytest.raises(DataError, match=r"other holds another tau-bench than .*--root.*delete"):
        fetch(tmp_path, other)
    assert is_fetched(tmp_path)


def test_demonstrations_of_a_checkout_come_along(tmp_path: Path):
    source = publish(tmp_path / "published")
    fetch(tmp_path / "without", source)
    shown = source / "few_shot_data" / "MockRetailDomainEnv-few_shot.jsonl"
    shown.parent.mkdir()
    shown.write_text('{"messages_display": "user: hello"}\n')
    (shown.parent / "notes.txt").write_text("no demonstrations")
    folder = fetch(tmp_path / "data", source)
    assert names(folder) == {"manifest.json", "retail.json.gz", "airline.json.gz", shown.name}
    assert (folder / shown.name).read_text() == shown.read_text()
    assert stored.version(tmp_path / "data", "tau1") == stored.version(tmp_path / "without", "tau1")


def test_another_wheel_is_refused_by_its_checksum(tmp_path: Path):
    wheel = tmp_path / "josh_train-0.1.4-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("tau-bench-eval/tau_bench/envs/retail/wiki.md", "x")
    with pytest.raises(DataError, match=r"has sha256 .*drl data tau_bench --from PATH"):
        fetch(tmp_path / "data", wheel)
    assert names(tmp_path / "data") == set()


@pytest.mark.parametrize("make", [Path.mkdir, lambda path: path.write_text("no zip"), lambda _: 0])
def test_what_is_no_tau_bench_is_refused(tmp_path: Path, make):
    make(tmp_path / "source")
    with pytest.raises(DataError, match=r"source (holds no|is not a|does not).*--from PATH"):
        fetch(tmp_path / "data", tmp_path / "source")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("retail/data/users.json", None),
        ("retail/data/users.json", "{"),
        ("retail/data/users.json", "[]"),
        ("retail/data/users.json", '{"ann_lee_1": {"name": 3}}'),
        ("airline/data/flights.json", '{"F1": 3}'),
        ("retail/tasks_train.py", None),
        ("retail/tasks_train.py", "TASKS = load()"),
        ("retail/tools/__init__.py", ""),
        ("retail/tools/cancel_pending_order.py", None),
        ("airline/tools/get_user_details.py", "get_info = None"),
        ("airline/wiki.md", b"\xff\xfe\xff"),
    ],
)
def test_a_broken_or_missing_file_leaves_nothing_behind(
    tmp_path: Path, name: str, text: str | bytes | None
):
    source = publish(tmp_path / "published")
    broken = source / "tau_bench" / "envs" / name
    broken.unlink()
    if isinstance(text, bytes):
        broken.write_bytes(text)
    elif text is not None:
        broken.write_text(text)
    with pytest.raises(DataError, match="--from") as refusal:
        fetch(tmp_path / "data", source)
    assert str(source) in str(refusal.value)
    assert names(tmp_path / "data") == set()


@pytest.mark.parametrize("name", ["retail.json.gz", "manifest.json"])
@pytest.mark.parametrize("damage", ["cut", "removed"])
def test_damaged_data_is_refused_with_a_remedy_and_fetched_anew(
    tmp_path: Path, name: str, damage: str
):
    source = publish(tmp_path / "published")
    path = fetch(tmp_path, source) / name
    whole = path.read_bytes()
    path.unlink()
    if damage == "cut":
        path.write_bytes(whole[: len(whole) // 2])
    assert not is_fetched(tmp_path)
    with pytest.raises(DataError, match="run `drl data tau_bench`"):
        stored.load(tmp_path, "retail", "tau1")
    fetch(tmp_path, source)
    assert path.read_bytes() == whole


@pytest.mark.slow
def test_the_command_says_where_it_is_and_what_results_call_it(tmp_path: Path):
    source = publish(tmp_path / "published")
    arguments = ("data", "tau_bench", "--from", str(source), "--root", str(tmp_path / "data"))
    first, again = drl(*arguments), drl(*arguments)
    version = stored.version(tmp_path / "data", "tau1")
    place = tmp_path / "data" / "tau_bench"
    assert (first.stdout, first.stderr) == (
        f"tau-bench is in {place}; results will name it {version}\n",
        "",
    )
    assert "(it was there already)" in again.stdout
    assert "no such file" in error_of(drl("data", "tau_bench", "--from", str(tmp_path / "none")))
