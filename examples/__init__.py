"""The media behind *Try it with an example*, and what makes it."""
