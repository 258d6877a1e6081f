"""The flows a job can ask for, by kind: each is ``run(folder, options, context, report) -> result``.

``folder`` is the job's own (artifacts go there), ``options`` the JobSpec's JSON options, ``context`` an
``EngineContext``; the returned dict is JSON. Only the worker imports these modules; the page never does.
"""

from __future__ import annotations

FLOWS: dict[str, str] = {
    "dub": "pipelines.dub:run",
    "transcribe": "pipelines.transcribe:run",
    "caption": "pipelines.caption:run",
    "enrol": "pipelines.enrol:run",
    "sample": "pipelines.sample:run",
    "survey": "pipelines.survey:run",
    "people": "pipelines.people:run",
    "speak": "pipelines.speak:run",
    "script": "pipelines.speak.recital:run",
    "sync": "pipelines.sync:run",
    "weights": "pipelines.fetch:run",
    "proxy": "pipelines.media.proxy:run",
}
