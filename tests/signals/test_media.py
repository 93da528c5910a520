"""Reading recordings as they are: gaps, late starts, broken parts, lengths."""

import sys
from pathlib import Path

import numpy as np
import pytest
from signals.media_files import RATE, needs, plain, tone, write_film, write_wav

from drl.errors import ConfigError
from drl.signals.extras import need
from drl.signals.media import BLOCK_S, SAMPLE_RATE, open_media


def test_a_missing_package_is_named_with_what_installs_it(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "swift_f0", None)  # as if not installed
    with pytest.raises(ConfigError, match=r"--pitch swift_f0 needs .* pip install swift-f0, or"):
        need("swift_f0", "--pitch swift_f0")


def test_sound_comes_in_blocks_of_whole_seconds_at_our_rate(tmp_path: Path):
    needs("av")
    seconds = 2 * BLOCK_S + 1.5
    left, right = tone(100, seconds), tone(300, seconds, level=0.1)
    media = open_media(write_wav(tmp_path / "long.wav", left, right))
    assert (media.num_channels, media.has_pictures) == (2, False)
    blocks = list(media.sound())
    sizes = [block.shape for block in blocks]
    assert sizes == [(2, BLOCK_S * SAMPLE_RATE)] * 2 + [(2, round(1.5 * SAMPLE_RATE))]
    heard = np.concatenate(blocks, axis=1)
    np.testing.assert_allclose(heard, [left, right], atol=1e-4)


def test_a_gap_in_the_time_stamps_is_silence(tmp_path: Path):
    needs("av")
    import av

    path = tmp_path / "gap.mkv"
    with av.open(str(path), "w") as container:
        stream = container.add_stream("pcm_s16le", rate=RATE, layout="mono")
        for start in (0, 3):  # a second of sound each: between 1 and 3 s nothing came
            samples = np.full((1, RATE), 8192, dtype="<i2")
            frame = av.AudioFrame.from_ndarray(samples, format="s16", layout="mono")
            frame.sample_rate, frame.pts = RATE, start * RATE
            container.mux(stream.encode(frame))
    heard = np.concatenate(list(open_media(path).sound()), axis=1)[0]
    assert len(heard) == 4 * SAMPLE_RATE
    by_second = heard.reshape(4, SAMPLE_RATE).mean(axis=1)
    assert by_second == pytest.approx([0.25, 0, 0, 0.25], abs=1e-3)  # 8192 / 32768


def test_pictures_are_thinned_out_and_scaled_down(tmp_path: Path):
    needs("av")
    shown = [plain((level, 0, 0), 1280) for level in range(0, 160, 20)]  # 8 pictures in 2 s
    seen = list(open_media(write_film(tmp_path / "film.mkv", shown, rate=4)).pictures(2))
    assert [picture.second for picture in seen] == pytest.approx([0, 0.5, 1, 1.5])
    assert [int(picture.pixels[0, 0, 0]) for picture in seen] == [0, 40, 80, 120]
    assert {picture.pixels.shape for picture in seen} == {(640, 640, 3)}


def test_a_film_cut_off_in_the_middle_is_read_as_far_as_it_goes(tmp_path: Path):
    needs("av")
    whole = write_film(tmp_path / "whole.mkv", [plain((9, 9, 9))] * 40, voice=tone(100, 10))
    content = whole.read_bytes()
    cut = tmp_path / "cut.mkv"
    cut.write_bytes(content[: len(content) // 2] + b"\x00" * 500)
    media = open_media(cut)
    num_samples = sum(block.shape[1] for block in media.sound())
    assert 0 <= num_samples < 10 * SAMPLE_RATE
    assert len(list(media.pictures(2))) <= 20
