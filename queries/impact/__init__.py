"""What feedback did to the retrievals of a scope: one question per figure or picture of the Feedback Impact page."""
