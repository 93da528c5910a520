"""The README's file map, from the first line of every public module and option.

python -m tests.docs.file_map    writes it into README.md
"""

import ast
from pathlib import Path
from textwrap import shorten

ROOT = Path(__file__).parents[2]
START, END = "<!-- file map: `make map` writes it -->\n", "<!-- end of the file map -->\n"
WIDTH = 78


def file_map() -> str:
    """The map as a code block of Markdown, one line a file."""
    lines = ["run.py                  " + _first_line(ROOT / "run.py")]
    for folder in ("conf", "drl", "experiments", "benchmarks"):
        lines += ["", f"{folder}/"]
        for path in sorted((ROOT / folder).rglob("*")):
            shown = path.suffix in (".py", ".yaml") and not path.name.startswith("_")
            if shown and path.stat().st_size:
                name = "  " + str(path.relative_to(ROOT / folder))
                meaning = shorten(_first_line(path), WIDTH, placeholder=" ...")
                lines.append(f"{name:<40}{meaning}")
    return "```\n" + "\n".join(lines) + "\n```\n"


def write() -> None:
    """Put the map between its marks."""
    readme = ROOT / "README.md"
    before, rest = readme.read_text().split(START)
    readme.write_text(before + START + file_map() + END + rest.split(END)[1])


def _first_line(path: Path) -> str:
    text = path.read_text()
    if path.suffix == ".py":
        return (ast.get_docstring(ast.parse(text)) or "").partition("\n")[0].rstrip(".")
    comments = [line for line in text.splitlines() if line.startswith("# ")]
    if path.parent.name in ("experiment", "debug"):
        return next(line for line in comments if line.startswith("# python"))[2:]
    _, _, meaning = comments[0].partition(".yaml")
    return meaning.lstrip(":, —").strip()


if __name__ == "__main__":
    write()
