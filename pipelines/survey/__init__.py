"""What a dropped video is like, from samples of it: faces, speech, language, music; within seconds, whatever its length."""

from pipelines.survey.flow import Survey, run

__all__ = ["Survey", "run"]
