"""Formats in which agents are written elsewhere: BRICK, AIB and AIDIP, each judged by its own text.

Each format is a package with a ``FORMAT``, found through the entry-point group ``agentsuite.converters``.
"""
