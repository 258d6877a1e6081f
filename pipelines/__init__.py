"""Dubwright's engines and flows, usable as a library: nothing here imports gradio or fastapi."""
