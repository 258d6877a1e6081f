"""Whisper computed by torch: the same weights as CTranslate2's, on every device torch has (ROCm and Apple chips too)."""
