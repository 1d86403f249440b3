"""The suite validator: one module for each requirement of section 15.1, one registry, one report.

    report = validate(Path("dist/newsroom-1.0.0.agentsuite"))
    report.ok, report.findings, report.summary

Offline: nothing is executed, no link is followed out, no URL is opened.
"""

from hatch_agentsuite.validation.report import Report, Summary
from hatch_agentsuite.validation.validator import validate

__all__ = ["Report", "Summary", "validate"]
