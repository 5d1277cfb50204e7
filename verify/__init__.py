"""The referee: measures, searches, proves, judges, draws and reports; owns the command line."""
