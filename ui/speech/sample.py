"""The sample of a voice on the page: brought, looked over, and what of it will be used, to be listened to."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gradio as gr
from gradio.blocks import Block

from pipelines.artifacts import fingerprint, options_key
from pipelines.errors import PipelineError
from pipelines.files import read_json, write_json
from ui import notices
from ui.aside import run_aside
from ui.i18n import escaped, label, language_of, text
from ui.jobs_view import plainly, shown_html
from ui.services import Services
from ui.tabs.parts import PRIVATELY

RESULT = "sample.json"
LONGEST = 36_000.0  # seconds into a film where a sample may be looked for
EXTRACT_RATE = 48_000


@dataclass(frozen=True, slots=True)
class Sample:
    """The components: what the user brings, and what is told about it."""

    sample: gr.Audio
    video: gr.UploadButton
    start: gr.Number
    end: gr.Number
    told: gr.HTML
    used: gr.Audio
    consent: gr.Checkbox

    def given(self) -> dict[str, Block]:
        """What the speech job is asked with."""
        return {
            "sample": self.sample, "start": self.start, "end": self.end, "consent": self.consent
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class SampleHandlers:
    """What happens to a sample."""

    services: Services

    def look(
        self, sample: str | None, start: float | None, end: float | None, request: gr.Request
    ) -> tuple[gr.HTML, gr.Audio]:
        """What the sample is like, and the speech of it that will be used; why not, when it cannot be."""
        language, hidden = language_of(request), gr.Audio(value=None, visible=False)
        if not sample:
            return shown_html(""), hidden
        try:
            place, found = self.diagnosed(Path(sample), start, end)
        except PipelineError as error:
            return shown_html(f'<div class="problem">{escaped(error.sentence(language))}</div>'), hidden
        player = gr.Audio(value=str(place / str(found["audio"])), visible=True)
        return shown_html(told_html(found, language)), player

    def diagnosed(self, path: Path, start: float | None, end: float | None) -> tuple[Path, dict[str, Any]]:
        """The folder and the result of looking a sample over; the same bytes are looked over once.

        Raises:
            NoSpeech: it cannot be used. MediaError: it cannot be read.
        """
        first, last = start or 0.0, end or None
        key = options_key(bytes=fingerprint(path), start=first, end=last, version=1)
        place = self.services.uploads / f"sample-{key[:32]}"
        if not (place / RESULT).is_file():
            options = {"input": str(path), "start": first, "end": last}
            write_json(place / RESULT, run_aside(self.services, "sample", options, place))
        return place, read_json(place / RESULT)

    def from_video(self, path: str, start: float | None, end: float | None, request: gr.Request) -> Any:
        """The sound of a film (five minutes at most, from ``start``) as the sample.

        Raises:
            NoSoundTrack: it has none. MediaError: it cannot be read.
        """
        from pipelines.media import read_sound, write_sound
        from pipelines.voice.choice import LONGEST_REFERENCE

        source, first = Path(path), start or 0.0
        last = min(end or first + LONGEST_REFERENCE, first + LONGEST_REFERENCE)
        place = self.services.uploads / uuid.uuid4().hex / f"{source.stem}.wav"
        blocks = read_sound(source, self.services.settings, sr=EXTRACT_RATE, start=first, end=last)
        write_sound(place, blocks, EXTRACT_RATE)
        notices.tell(request, "ui_sample_taken")
        return gr.Audio(value=str(place)), 0, 0


def told_html(found: dict[str, Any], language: str) -> str:
    """The numbers as small labels, and below them what they mean."""
    facts = found["facts"]
    people = len(facts["speakers"])
    items = [
        text(language, "ui_sample_speech", speech=f"{facts['speech']:.1f}", used=f"{facts['used']:.1f}"),
        text(language, "ui_sample_snr", snr=f"{facts['snr']:.0f}"),
        text(language, "ui_sample_bandwidth", khz=f"{facts['bandwidth'] / 1000:.1f}"),
        text(language, "ui_sample_clipped", share=f"{100 * facts['clipped']:.1f}"),
        text(language, "ui_sample_silence", share=f"{100 * facts['silence']:.0f}"),
        text(language, "ui_sample_person" if people == 1 else "ui_sample_people", count=people),
    ]
    if facts["decay"] is not None:
        items.insert(4, text(language, "ui_sample_room", decay=f"{facts['decay']:.2f}"))
    labels = "".join(f"<span>{escaped(item)}</span>" for item in items)
    remarks = "".join(
        f'<div class="problem {"note" if remark["level"] == "warning" else "hint"}">'
        f"{escaped(remark['zh' if language == 'zh' else 'en'])}</div>"
        for remark in found["remarks"]
    )
    return f'<div class="facts">{labels}</div>{remarks}'


def lay_out(services: Services) -> Sample:
    """The sample's components, connected."""
    sample = gr.Audio(label=label("ui_voice_sample"), type="filepath", elem_id="voice-sample")
    with gr.Row():
        video = gr.UploadButton(
            label("ui_sample_video"),  # type: ignore[arg-type]  # translated as every label; Gradio's annotation lags
            file_types=["video", "audio"],
            size="sm",
            elem_id="voice-video",
        )
        start = _moment("ui_sample_start", "voice-start")
        end = _moment("ui_sample_end", "voice-end")
    told = gr.HTML(visible=False, elem_id="voice-told")
    used = gr.Audio(
        label=label("ui_sample_used"), interactive=False, visible=False, elem_id="voice-used", buttons=[]
    )
    consent = gr.Checkbox(False, label=label("ui_voice_consent"), elem_id="voice-consent")
    made = Sample(sample, video, start, end, told, used, consent)
    _connect(services, made)
    return made


def _moment(key: str, name: str) -> gr.Number:
    return gr.Number(0, label=label(key), minimum=0, maximum=LONGEST, min_width=90, elem_id=name)


def _connect(services: Services, made: Sample) -> None:
    handlers = SampleHandlers(services)
    given = [made.sample, made.start, made.end]
    # One listener for all of them: an older answer never comes after a newer one.
    asked_by = [made.sample.change, made.start.change, made.end.change]
    gr.on(asked_by, plainly(handlers.look), given, [made.told, made.used], trigger_mode="always_last",
          api_visibility="private")  # fmt: skip
    taken = [made.sample, made.start, made.end]
    made.video.upload(
        plainly(handlers.from_video), [made.video, made.start, made.end], taken, **PRIVATELY
    ).success(lambda: False, None, made.consent, **PRIVATELY)
    withdraw_consent(made.sample, made.consent)


def withdraw_consent(sample: gr.Audio, consent: gr.Checkbox) -> None:
    """Untick the box when the user brings another voice or none: it was ticked for the one before.

    Not by ``change``, which the example's own sample sets off too, after its tick.
    """
    for event in (sample.upload, sample.stop_recording, sample.clear):
        event(lambda: False, None, consent, queue=False, **PRIVATELY)
