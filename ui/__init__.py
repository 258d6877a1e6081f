"""The page: Gradio on FastAPI, in a process without torch; all work is done by jobs."""

from __future__ import annotations

import os

# Gradio reads these when it is imported; only the exact text "True" turns its analytics on.
os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
