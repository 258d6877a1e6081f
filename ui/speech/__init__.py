"""The parts of the Voice cloning tab: the sample and what it is like, the voices kept, the text, and what is made."""
