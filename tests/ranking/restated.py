"""One statement in three spellings, which hash alike."""

SAME = [
    "Use async/await for database calls.",
    "use async await for database calls",
    "USE async: await, for database calls",
]
