"""``python -m hatch_agentsuite``: the command line, where scripts are not on the path."""

from hatch_agentsuite.cli import main

main(prog_name="agentsuite")
