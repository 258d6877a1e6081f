"""The report of a dub as the page shows it."""

from __future__ import annotations

from pathlib import Path

from pipelines.files import write_json
from ui.report import report_html

REPORT = {
    "lines": [],
    "frames": 200,
    "lips": {"synthesised": [[0, 180]], "notes": []},
    "seconds": {"speak": 12.0},
    "voice": {
        "engine": "kokoro",
        "name": "clip <1>",
        "kind": "matched",
        "similarity": 0.834,
        "pitch": 118.3,
        "own_pitch": 121.9,
    },
    "loudness": {"lufs": -16.2, "true_peak_db": -1.1},
}


def test_voice_and_loudness_are_shown(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    write_json(path, REPORT)
    shown = report_html(path, "en")
    assert "Voice matched to clip &lt;1&gt; (kokoro) · similarity 0.83 of 1" in shown
    assert "in the last run" not in shown
    assert "pitch 118 Hz, the speaker&#x27;s own 122 Hz · -16.2 LUFS, true peak -1.1 dBTP" in shown
    assert "相似度 0.83" in report_html(path, "zh")
    edited = {**REPORT, "lips": {"synthesised": [[0, 180]], "notes": [], "measures": {"drawn_now": 50.0}}}
    write_json(path, edited)
    assert "50 of 200 frames were drawn in the last run" in report_html(path, "en")
    stock = {**REPORT, "voice": {"engine": "kokoro", "name": "af_heart", "kind": "stock", "similarity": None}}
    write_json(path, stock)
    assert "Stock voice af_heart (kokoro) · -16.2 LUFS" in report_html(path, "en")
    two = [{**REPORT["voice"], "speaker": name} for name in ("S1", "S2")]  # type: ignore[dict-item]
    write_json(path, {**REPORT, "voices": two})
    assert report_html(path, "en").count("Voice matched to") == 2
    assert "S2: Voice matched to clip &lt;1&gt;" in report_html(path, "en")
    write_json(path, {key: value for key, value in REPORT.items() if key not in ("voice", "loudness")})
    assert "LUFS" not in report_html(path, "en")  # a report of an earlier version
