"""Media files in and out: what they are, their frames and sound as bounded streams, and the finished video."""

from pipelines.media.encoder import Encoder, choose_encoder
from pipelines.media.ffmpeg import ffmpeg_path, ffmpeg_version
from pipelines.media.frames import frame_at, read_frames
from pipelines.media.joining import join_pieces
from pipelines.media.loudness import file_loudness
from pipelines.media.mux import DUB_METADATA, ExtraSound, SubtitleTrack, mux
from pipelines.media.probe import probe, sound_tracks
from pipelines.media.proxy import make_proxy, plays_in_browser
from pipelines.media.sound import choose_track, load_sound, read_sound, save_audio, write_sound
from pipelines.media.subtitled import add_soft, burn_in
from pipelines.media.writer import FrameWriter

__all__ = [
    "DUB_METADATA",
    "Encoder",
    "ExtraSound",
    "FrameWriter",
    "SubtitleTrack",
    "add_soft",
    "burn_in",
    "choose_encoder",
    "choose_track",
    "ffmpeg_path",
    "ffmpeg_version",
    "file_loudness",
    "frame_at",
    "join_pieces",
    "load_sound",
    "make_proxy",
    "mux",
    "plays_in_browser",
    "probe",
    "read_frames",
    "read_sound",
    "save_audio",
    "sound_tracks",
    "write_sound",
]
