"""Speech to text while somebody speaks: sound comes in as a growing file, text goes out as one that is written anew.

``endpoint`` finds where an utterance begins and ends, ``flow`` hears it, in a worker process of its own.
"""
