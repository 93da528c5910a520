import json
import re

from docs.file_map import END, ROOT, START, file_map

from experiments.toolwoz_josh.study import table

README = (ROOT / "README.md").read_text()


def test_the_file_map_is_true():
    shown = README.split(START)[1].split(END)[0]
    assert shown == file_map(), "run `make map`"


def test_every_link_leads_somewhere():
    for page in (ROOT / "README.md", *ROOT.glob("experiments/**/*.md"), ROOT / "CHANGELOG.md"):
        for link in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text()):
            assert link.startswith("https://") or (page.parent / link).exists(), (page, link)


def test_every_make_target_it_names_exists():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for name in re.findall(r"`?make ([a-z-]+)", README):
        assert name in targets, name


def test_results_tables_are_those_of_the_study():
    record = json.loads((ROOT / "experiments" / "toolwoz_josh" / "results.json").read_text())
    shown = table(record["arms"])
    for page in ("README.md", "experiments/toolwoz_josh/README.md"):
        assert shown in (ROOT / page).read_text(), page
