"""What Drift Alerts asks the store: statements to compare, how far they reached agents, and where triage stands."""
