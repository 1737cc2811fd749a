"""Everything the store knows about one observation, each question asked inside the observation's own organization."""
