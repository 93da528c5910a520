"""`drl signals` on recordings: what ends up in the table that dataset=candor reads."""

import csv
import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from signals.media_files import (
    colour_weights,
    needs,
    plain,
    silence,
    tone,
    write_colour_model,
    write_film,
    write_wav,
)

from drl.cli.main import app
from drl.domains.candor import signals as candor_signals
from drl.domains.candor.signals import FACES, FILE
from drl.errors import ConfigError, DataError, DrlError, RunError
from drl.signals.face_fer import FerFaceReader
from drl.signals.face_finder import face_finder

RULES = ("--pitch", "autocorrelation", "--activity", "energy")


@pytest.fixture(autouse=True)
def _extra() -> None:
    needs("av")


@pytest.fixture
def call(tmp_path: Path) -> Path:
    """Two people on two channels: 0-2 s left at 120 Hz, 2-4 s right at 220 Hz, then quiet."""
    left = np.concatenate([tone(120, 2), silence(3.5)])
    right = np.concatenate([silence(2), tone(220, 2), silence(1.5)])
    return write_wav(tmp_path / "call.wav", left, right)


def run(*arguments: str) -> None:
    app(["signals", *arguments], standalone_mode=False)


def refusal(kind: type[DrlError], *arguments: str) -> str:
    with pytest.raises(kind) as caught:
        run(*arguments)
    return str(caught.value)


def measures(folder: Path, person: str) -> dict[str, list[float]]:
    """What the loader of CANDOR reads."""
    found = candor_signals.read(folder / FILE, 1e9, Counter())[person]
    return {name: of.tolist() for name, of in found.measures.items()}


@pytest.mark.parametrize("pitch", ["autocorrelation", "swift_f0"])
def test_channels_become_people_with_pitch_and_speech(
    call: Path, tmp_path: Path, pitch: str, capsys: pytest.CaptureFixture[str]
):
    if pitch == "swift_f0":
        needs("swift_f0")
    out = tmp_path / "out"
    chosen = ("--pitch", pitch, "--activity", "energy", "--speaker", "left=ann,right=ben")
    run(str(call), "--out", str(out), *chosen)
    said = capsys.readouterr()
    assert said.out.strip() == str(out / FILE)
    assert "--face was not given" in said.err
    assert "Called by their files" not in said.err
    ann, ben = measures(out, "ann"), measures(out, "ben")
    assert ann["speaking"] == [1, 1, 0, 0, 0, 0]
    assert ben["speaking"] == [0, 0, 1, 1, 0, 0]
    # within 2 %; the frames at the edges of a tone may hear it badly
    assert ann["pitch"][:2] == pytest.approx([120, 120], rel=0.02)
    assert ben["pitch"][2:4] == pytest.approx([220, 220], rel=0.02)
    assert np.isnan(ann["pitch"][3:]).all()
    # overtones k = 1..7 with amplitudes 0.15 / k: power 0.15^2 / 2 * 1.5118 = 0.01701, -17.69 dB
    assert ann["intensity"][:2] == pytest.approx([-17.69, -17.69], abs=0.02)
    assert ann["intensity"][4] == -100
    about = json.loads((out / "signals.json").read_text())
    assert about["people"]["ben"]["channel"] == 1


def test_a_face_model_fills_the_columns_and_missing_faces_leave_them_empty(tmp_path: Path):
    needs("cv2", "onnxruntime")
    # 2 s with a drawn face, then 2 s of an empty wall, 4 pictures a second
    film = write_film(tmp_path / "ann.mkv", [drawn_face()] * 8 + [np.zeros_like(drawn_face())] * 8)
    # black pixels only: the model's logits are the bias-free 0, so all classes are equally likely
    weights = np.zeros((3, len(FACES)), dtype=np.float32)
    model = write_colour_model(tmp_path / "model.onnx", weights)
    out = tmp_path / "out"
    run(
        *(str(film), "--out", str(out), *RULES),
        *("--face", str(model), "--face-labels", ",".join(FACES), "--face-scaling", "unit"),
    )
    faces = candor_signals.read(out / FILE, 1e9, Counter())["ann"].faces
    assert faces[:2] == pytest.approx(np.full((2, 8), 1 / 8), abs=1e-4)
    assert np.isnan(faces[2:]).all()
    assert faces.shape == (4, 8)


def test_probabilities_come_from_the_model_in_its_own_order_of_classes(tmp_path: Path):
    needs("cv2", "onnxruntime")
    film = write_film(
        tmp_path / "ann.mkv",
        [plain((255, 0, 0))] * 4 + [plain((0, 255, 0))] * 4,
        voice=tone(120, 2),
    )
    # the outputs are called by other names, in another order, and one is no emotion
    labels = tmp_path / "labels.txt"
    labels.write_text("-\nSurprised\nangry\nhappy\nneutral\n")
    weights = np.zeros((3, 5), dtype=np.float32)
    weights[0, 2], weights[1, 3], weights[:, 0] = 4, 4, 9
    model = write_colour_model(tmp_path / "model.onnx", weights, size="side")
    out = tmp_path / "out"
    run(
        *(str(film), "--out", str(out), *RULES, "--start", "ann=1.5"),
        *("--face", str(model), "--face-labels", str(labels), "--face-scaling", "unit"),
        *("--face-size", "16", "--face-detector", "none", "--speaker", "ann=5e"),
    )
    found = candor_signals.read(out / FILE, 1e9, Counter())["5e"]
    assert found.seconds.tolist() == [1.5, 2.5]
    # softmax of (0, 4, 0, 0): e^4 / (e^4 + 3) = 0.94792, the others 0.01736
    likely, rest = np.exp(4) / (np.exp(4) + 3), 1 / (np.exp(4) + 3)
    expected = {"anger": likely, "happiness": rest, "neutral": rest, "surprise": rest}
    for face, value in zip(FACES, found.faces[0], strict=True):
        assert value == pytest.approx(expected.get(face, 0.0), abs=1e-4)
    assert found.faces[1, FACES.index("happiness")] == pytest.approx(likely, abs=1e-4)
    with (out / FILE).open() as file:
        first = next(csv.DictReader(file))
    assert (first["timedelta"], first["is_speaking"], first["gaze_on"]) == (
        "00:00:01.500",
        "False",  # a film that is all voice has no quiet to be louder than
        "",
    )


def test_what_does_not_fit_is_said_before_any_work(call: Path, tmp_path: Path):
    needs("cv2", "onnxruntime")
    out = ("--out", str(tmp_path / "out"))
    model = str(write_colour_model(tmp_path / "model.onnx", colour_weights()))
    film = str(write_film(tmp_path / "film.mkv", [plain((1, 2, 3))]))
    broken = tmp_path / "broken.mp4"
    broken.write_bytes(b"no film")
    cases = {
        ("--face", model): "give --face-labels",
        ("--face", model, "--face-labels", "happy,sad"): "has 8 outputs and --face-labels names 2",
        ("--face", model, "--face-labels", "happy,glad"): "unknown emotion 'glad'",
        ("--face", "none.onnx", "--face-labels", "happy,sad"): "there is no such file",
        ("--face", str(broken), "--face-labels", "happy,sad"): "ONNX Runtime cannot load it",
        ("--speaker", "right"): "is not NAME=VALUE",
        ("--speaker", "film=x", "--start", "other=3"): "--start other=...: there is no such",
        ("--start", "film=1e18"): "--start film=1e18: is no number of seconds within a day",
    }
    for options, message in cases.items():
        assert message in refusal(ConfigError, film, *out, *RULES, *options)
    assert "is no recording that can be read" in refusal(DataError, str(broken), *out, *RULES)
    mono = write_wav(tmp_path / "mono.wav", silence(1))
    said = refusal(DataError, str(mono), *out, *RULES, "--speaker", "left=a,right=b")
    assert "has 1 sound channels, so b is in none of them" in said
    seen = ("--face", "none.onnx", "--face-labels", "happy,sad")
    said = refusal(DataError, str(mono), *out, *RULES, *seen)
    assert "show no person alone" in said
    said = refusal(DataError, str(mono), *out, *RULES, "--start", "mono=-100")
    assert "ends before the transcript begins, as --start mono=-100 says" in said
    assert not (tmp_path / "out").exists()


def test_whoever_is_called_by_a_file_is_told(call: Path, tmp_path: Path, capsys):
    ben = write_wav(tmp_path / "ben.wav", tone(220, 2))
    given = (str(call), str(ben), "--speaker", "call=ann", "--out", str(tmp_path / "out"))
    run(*given, *RULES)
    told = capsys.readouterr().err
    assert "Called by their files: ben. Where the transcript calls them otherwise" in told


def test_a_table_that_is_there_is_not_written_over(call: Path, tmp_path: Path):
    (tmp_path / FILE).write_text("precious")
    assert "is there already" in refusal(RunError, str(call), "--out", str(tmp_path))
    assert (tmp_path / FILE).read_text() == "precious"


def test_a_detector_that_cannot_be_used_is_refused(tmp_path: Path):
    needs("cv2")
    with pytest.raises(ConfigError, match=r"gone\.onnx: there is no such file; choose cascade"):
        face_finder("gone.onnx")
    broken = tmp_path / "broken.onnx"
    broken.write_bytes(b"no model")
    with pytest.raises(ConfigError, match="OpenCV cannot load it"):
        face_finder(str(broken))


def test_fers_own_weights_read_a_face_without_tensorflow():
    needs("cv2")
    face = face_finder("cascade").find(drawn_face())
    assert face is not None
    probabilities = FerFaceReader().read(face)
    assert probabilities is not None
    assert probabilities.sum() == pytest.approx(1)
    assert probabilities[FACES.index("contempt")] == 0


def drawn_face() -> np.ndarray:
    """A face that OpenCV's cascade knows for one: light skin, dark eyes and brows."""
    import cv2

    picture = np.full((240, 320, 3), (70, 90, 120), dtype=np.uint8)

    def ellipse(x: int, y: int, axes: tuple[int, int], colour: tuple[int, int, int]) -> None:
        cv2.ellipse(picture, (x, y), axes, 0, 0, 360, colour, -1, cv2.LINE_AA)

    skin, dark = (225, 190, 165), (60, 40, 30)
    ellipse(160, 130, (62, 82), skin)
    ellipse(160, 70, (66, 38), dark)
    ellipse(160, 95, (58, 30), skin)
    for x in (135, 185):
        ellipse(x, 115, (16, 8), (150, 110, 95))
        ellipse(x, 116, (13, 6), (245, 245, 245))
        ellipse(x, 116, (6, 6), (30, 20, 15))
        ellipse(x, 103, (16, 4), dark)
    ellipse(160, 145, (9, 6), (190, 150, 130))
    ellipse(160, 170, (22, 7), (160, 70, 70))
    return cv2.GaussianBlur(picture, (5, 5), 0)
