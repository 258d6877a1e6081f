"""Knowing the machine: probe (what is there), policy (what we do with it), preflight (the doctor)."""
