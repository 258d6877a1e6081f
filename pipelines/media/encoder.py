"""Which H.264 encoder: x264 by default; the machine's own only when a trial encode shows that it works."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pipelines.media.ffmpeg import encodes
from pipelines.settings import Settings

EVEN = "pad=ceil(iw/2)*2:ceil(ih/2)*2,format=yuv420p"
SOFTWARE = "libx264"
VAAPI_DEVICES = Path("/dev/dri")


@dataclass(frozen=True, slots=True)
class Encoder:
    """An H.264 encoder: its name, its quality options, and options that stand before the inputs."""

    name: str
    options: tuple[tuple[str, str], ...]
    pixel_format: str = "yuv420p"
    upload: bool = False
    device: tuple[str, ...] = ()

    @property
    def hardware(self) -> bool:
        """Whether it is a graphics card's."""
        return self.name != SOFTWARE

    @property
    def arguments(self) -> tuple[str, ...]:
        """The options as they stand on the command line."""
        listed = tuple(part for name, value in self.options for part in (f"-{name}", value))
        return ("-c:v", self.name, *listed)


def x264(crf: int = 17, preset: str = "veryfast") -> Encoder:
    """The software encoder every machine has."""
    return Encoder(SOFTWARE, (("preset", preset), ("crf", str(crf)), ("profile:v", "high")))


def hardware_encoders(crf: int) -> tuple[Encoder, ...]:
    """Encoders of graphics cards, the likelier first, at about the quality of x264's ``crf``."""
    level = str(crf + 2)
    return (
        Encoder("h264_nvenc", (("preset", "p4"), ("rc", "vbr"), ("cq", level), ("b:v", "0"))),
        Encoder("h264_amf", (("quality", "quality"), ("rc", "cqp"), ("qp_i", level), ("qp_p", level))),
        Encoder("h264_qsv", (("global_quality", level),), pixel_format="nv12"),
        Encoder("h264_videotoolbox", (("q:v", "65"),)),
        *(
            Encoder(
                "h264_vaapi", (("qp", level),), "nv12", upload=True, device=("-vaapi_device", str(device))
            )
            for device in sorted(VAAPI_DEVICES.glob("renderD*"))
        ),
    )


def choose_encoder(
    settings: Settings, *, hardware: bool = False, crf: int = 17, preset: str = "veryfast"
) -> Encoder:
    """The encoder to use: x264, or with ``hardware`` the first one of a graphics card that really encodes here."""
    if hardware:
        for encoder in hardware_encoders(crf):
            filters = f"format={encoder.pixel_format}" + (",hwupload" if encoder.upload else "")
            if encodes(settings, (*encoder.device, *encoder.arguments), filters):
                return encoder
    return x264(crf, preset)
