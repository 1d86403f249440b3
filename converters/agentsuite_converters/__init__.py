"""Converters between AgentSuite agents and the formats agents are written in elsewhere (BRICK, AIB, AIDIP, A2A).

Each format gets one module, found through the entry-point group ``agentsuite.converters``. None is included yet.
"""
