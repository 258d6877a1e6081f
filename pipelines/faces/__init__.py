"""Faces in a clip: found in every frame, followed through time, remembered by the clip's content."""
