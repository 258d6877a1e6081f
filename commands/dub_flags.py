"""What ``dub`` can be told on the command line."""

from __future__ import annotations

import argparse
from typing import Any

from commands.parsing import common_flags, language_code, listed, moment, output_flags, person_number
from pipelines.diarise import MOST_SPEAKERS
from pipelines.dub.options import RESTS, ROLES

ENGINES = {"asr_engine": "asr", "voice_engine": "voice", "lip_engine": "lips"}
KEY = "DUBWRIGHT_ENDPOINT_KEY"


def add_flags(commands: Any) -> argparse.ArgumentParser:
    """Add the command with its flags; what it does is the caller's."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "dub",
        help="a video in another language",
        description="Dub a talking video: same face, same voice, another language, lips in step.",
        epilog=f"The key of a translation service is read from the environment variable {KEY}.",
        parents=[common_flags(after_command=True)],
    )
    parser.add_argument("inputs", nargs="*", metavar="IN.mp4", help="talking videos, or folders of them")
    parser.add_argument(
        "--to", type=_codes, metavar="LANG[,LANG]", help="language of the dub: en, es, zh, fr…"
    )
    output_flags(parser, "OUT.mp4")
    parser.add_argument(
        "--from", dest="source_language", type=language_code, metavar="LANG", help="what is spoken now"
    )
    parser.add_argument(
        "--stream", type=int, metavar="N", help="sound track with the speech, as ffmpeg counts streams"
    )
    parser.add_argument(
        "--translation", metavar="FILE.srt", help="the translated lines; for several videos a folder of them"
    )
    parser.add_argument(
        "--translator", metavar="E", help="apertium, endpoint… (default: what is ready), or none"
    )
    parser.add_argument("--endpoint", metavar="URL", help="OpenAI-compatible translation service")
    parser.add_argument("--endpoint-model", metavar="NAME", help="model to ask there")
    for name, short in ENGINES.items():
        parser.add_argument(f"--engine-{short}", dest=name, metavar="E", help=f"engine for {short}")
    parser.add_argument("--reference", metavar="REF", help="the voice to speak in (default: the video's own)")
    parser.add_argument("--voice", metavar="ID", help="a saved or stock voice to speak in")
    parser.add_argument(
        "--speakers",
        type=_speakers,
        metavar="N",
        help="how many people speak (default: found out); each gets a voice like their own",
    )
    parser.add_argument(
        "--cast",
        action="append",
        default=[],
        metavar="SPEAKER=VOICE",
        help="a saved or stock voice for one speaker: S1=Me for the one who speaks first",
    )
    parser.add_argument("--start", type=moment, metavar="TIME", help="dub from here (95, 1:35…)")
    parser.add_argument("--end", type=moment, metavar="TIME", help="dub up to here")
    parser.add_argument(
        "--rest",
        choices=RESTS,
        default="keep",
        help="the video outside of them: as it is (default), or left out",
    )
    parser.add_argument(
        "--keep-background",
        action=argparse.BooleanOptionalAction,
        default=False,
        help="leave the original sound under the dub",
    )
    parser.add_argument(
        "--who", type=person_number, metavar="N",
        help="with several people: whose lips say all lines, 1 for the one seen longest and largest (default: found by"
        " whose mouth moves with the words)",
    )  # fmt: skip
    parser.add_argument(
        "--lips",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="move the lips (--no-lips: sound only)",
    )
    parser.add_argument(
        "--subtitles",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="put SRT files of both languages beside the video",
    )
    _out_flags(parser)
    return parser


def _out_flags(parser: argparse.ArgumentParser) -> None:
    """What is made besides the dubbed mp4."""
    parser.add_argument(
        "--soft-subtitles", action="store_true", help="put subtitles into the video as well, to switch on"
    )
    parser.add_argument("--burn-subtitles", action="store_true", help="draw subtitles into the picture")
    parser.add_argument(
        "--subtitle-languages",
        choices=[role for role in ROLES if role],
        help="of the two above: the dub's, the video's, or both (default: both to switch on, the dub's to draw)",
    )
    parser.add_argument(
        "--subtitle-formats",
        type=listed,
        default=[],
        metavar="F[,F]",
        help="subtitle files of both languages besides SRT: vtt, ass",
    )
    parser.add_argument(
        "--stems", action="store_true", help="the dubbed voice alone and the original sound as WAV files"
    )
    parser.add_argument("--report", action="store_true", help="the report as HTML and JSON beside the video")
    parser.add_argument("--project", action="store_true", help="everything in one ZIP beside the video")
    parser.add_argument(
        "--original-track", action="store_true", help="keep the original sound as a second track of the video"
    )


def _speakers(text: str) -> int | None:
    if text == "auto":
        return None
    if not text.isdecimal() or not 1 <= int(text) <= MOST_SPEAKERS:
        raise argparse.ArgumentTypeError(f"auto or 1 to {MOST_SPEAKERS}")
    return int(text)


def _codes(text: str) -> list[str]:
    return [language_code(code) for code in listed(text)]
