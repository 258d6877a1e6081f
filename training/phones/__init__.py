"""The network behind ``pipelines.phones``: speech is generated with our own voice engine, whose phone times are known."""
