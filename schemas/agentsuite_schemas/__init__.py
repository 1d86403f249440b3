"""JSON Schemas of the AgentSuite documents, and the judge that reads them.

    >>> from agentsuite_schemas import validator
    >>> for error in validator("agentsuite/agent").errors({"id": "Writer"}):
    ...     print(error.path, error.message)

Two engines can judge. Where ``jsonschema_rs`` is installed it answers first and only a refusal is explained, by
``jsonschema``; where it is not, ``jsonschema`` does both. Neither can fetch anything.
"""

from agentsuite_schemas._explain import SchemaError
from agentsuite_schemas._meta import dialect, schema_errors
from agentsuite_schemas._store import load, names
from agentsuite_schemas._validator import MAX_ERRORS, Validator, authoring, validator

__all__ = [
    "MAX_ERRORS",
    "SchemaError",
    "Validator",
    "authoring",
    "dialect",
    "load",
    "names",
    "schema_errors",
    "validator",
]
