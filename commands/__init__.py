"""The command line: it makes the same JobSpecs as the page and runs them in the same store, with the same worker."""
