import re

from docs.file_map import END, ROOT, START, file_map

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
