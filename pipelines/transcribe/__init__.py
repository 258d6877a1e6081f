"""The flow behind the Transcription tab and ``app.py transcribe``: any media file to a transcript and subtitle files.

Options: ``input`` (path), ``engine``, ``language`` (None: detect), ``stream``, ``channel`` (None: a mix of all; 0, 1…; ``each``:
every channel a speaker), ``start``, ``end``, ``hotwords`` (list, or a text), ``prompt``, ``text`` (what is
known to be said: only its times are heard; then ``phones.json`` lies beside the transcript), ``vad`` (fields of ``VadOptions``),
``script`` (simplified, traditional, heard), ``punctuation`` (bool), ``itn`` (bool),
``speakers`` (off, auto or how many; ``each`` channel is a speaker anyway), ``formats`` (of ``EXPORT_FORMATS``),
``cues`` (fields of ``CueRules``), ``style`` (fields of ``AssStyle``), ``burn_in`` (bool), ``soft_subtitles`` (mp4, mkv or ""),
``history`` (bool: keep the transcript in the history).
Result: ``{"transcript": "transcript.json", "language", "language_probability", "duration", "speech_seconds", "segments",
"speakers": [names], "speech": "speech.json", "files": {format: name}, "history": entry's number or None}``,
and among the files ``burned`` and ``subtitled`` where asked.

While it runs, every finished line is appended to ``partial.jsonl`` (one segment a line) for the page to show;
``speech.json`` (see ``pipelines.asr.picture``) is there as soon as the speech is found.
"""

from pipelines.transcribe.flow import run
from pipelines.transcribe.listening import FACTS, PARTIAL, SPEECH, TRANSCRIPT, listen
from pipelines.transcribe.options import hotword_list, recognition_options

__all__ = [
    "FACTS",
    "PARTIAL",
    "SPEECH",
    "TRANSCRIPT",
    "hotword_list",
    "listen",
    "recognition_options",
    "run",
]
