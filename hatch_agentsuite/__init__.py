"""AgentSuites: packed from a source tree, carried as OCI artifacts, judged offline."""
