from ranking.contradictions.word_lists import in_order, words


def _numbered(*names: str) -> dict[str, int]:
    """Each of the names of one thing → the place of that thing."""
    return {name: place for place, same in enumerate(names) for name in same.split()}


WEEKDAYS = _numbered(
    "monday mon", "tuesday tue tues", "wednesday wed", "thursday thu thurs", "friday fri", "saturday", "sunday"
)
# without May, which is a verb far more often
MONTHS = _numbered(
    "january jan",
    "february feb",
    "march",
    "april apr",
    "june jun",
    "july jul",
    "august aug",
    "september sept sep",
    "october oct",
    "november nov",
    "december dec",
)

SCALES: dict[str, float] = {
    "hundred": 100,
    "thousand": 1000,
    "million": 10**6,
    "billion": 10**9,
    "k": 1000,
    "dozen": 12,
}
NUMBERS: dict[str, float] = {
    **{word: number for number, word in enumerate(in_order("numbers"))},
    **{word: 10 * number for number, word in enumerate(in_order("tens"), 2)},
    **{word: SCALES[word] for word in ("dozen", "hundred", "thousand", "million")},
    "once": 1,
    "twice": 2,
    "half": 0.5,
}

# unit → dimension and size in its base
UNITS = {
    name: (dimension, size)
    for dimension, size, names in (
        ("duration", 1e-6, "us microsecond microseconds µs"),
        ("duration", 1e-3, "ms msec millisecond milliseconds millis"),
        ("duration", 1.0, "s sec secs second seconds"),
        ("duration", 60.0, "min mins minute minutes"),
        ("duration", 3600.0, "h hr hrs hour hours"),
        ("duration", 86400.0, "day days"),
        ("duration", 604800.0, "week weeks wk"),
        ("months", 1.0, "month months"),
        ("months", 3.0, "quarter quarters"),
        ("months", 12.0, "year years yr yrs"),
        ("size", 1.0, "byte bytes"),
        ("size", 1e3, "kb kilobyte kilobytes kib"),
        ("size", 1e6, "mb megabyte megabytes mib meg megs"),
        ("size", 1e9, "gb gigabyte gigabytes gib gig gigs"),
        ("size", 1e12, "tb terabyte terabytes tib"),
        ("percent", 1.0, "% percent pct"),
        ("money", 1.0, "dollar dollars usd $"),
        ("euro", 1.0, "euro euros eur €"),
        ("pound", 1.0, "gbp £"),
        ("length", 1.0, "meter meters metre metres"),
        ("length", 1e3, "km kilometer kilometers kilometre kilometres"),
        ("length", 1609.34, "mile miles"),
        ("weight", 1.0, "kg kilogram kilograms kilos"),
        ("weight", 0.453592, "lb lbs pound pounds"),
        ("weight", 0.0283495, "oz ounce ounces"),
        ("rate", 1.0, "rps qps tps"),
        # these are compared with themselves only
        *((unit, 1.0, unit) for unit in words("lone_units")),
    )
    for name in names.split()
}

# seconds between two times
FREQUENCIES = {
    "secondly": 1.0,
    "minutely": 60.0,
    "hourly": 3600.0,
    "daily": 86400.0,
    "nightly": 86400.0,
    "weekly": 604800.0,
    "biweekly": 1209600.0,
    "fortnightly": 1209600.0,
    "monthly": 2592000.0,
    "quarterly": 7776000.0,
    "yearly": 31536000.0,
    "annually": 31536000.0,
}
