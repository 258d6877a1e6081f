"""FunASR's models from local folders: Paraformer and SenseVoice, with ct-punc where it is there."""
