"""How the networks that lie in this repository were made."""
