"""Deterministic tar and gzip out, hostile tar and gzip in, streaming both ways (specification 5.2)."""
