"""What says whether memory is in good order: counts per organization, one question per figure."""
