"""The engine ``wav2lip``: a network that draws the lower half of a face from 0.2 s of sound, 96 × 96 pixels at a time."""
