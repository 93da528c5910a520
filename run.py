"""Run an experiment: `python run.py +experiment=toolwoz_josh` (see README.md)."""

from pathlib import Path

from drl.launch import main

if __name__ == "__main__":
    main(Path(__file__).parent / "conf")
