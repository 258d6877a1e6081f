"""The tabs: one module each with ``build(services, demo)``; handlers are short methods that ask ``ui`` and ``pipelines``."""
