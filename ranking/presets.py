from ranking.budget import TokenBudget
from ranking.composite import Composite
from ranking.corroboration import Corroboration
from ranking.cross_encoder import CrossEncoder
from ranking.dedup import Dedup
from ranking.feedback import Feedback
from ranking.floor import Floor
from ranking.fusion import ReciprocalRankFusion
from ranking.memory_score import MemoryScore
from ranking.mmr import Mmr
from ranking.ranking import Stage
from ranking.reflection import Reflection
from ranking.relevance import Head, Relevance
from ranking.session_recency import SessionRecency
from ranking.session_support import SessionSupport
from ranking.temporal import Temporal

# 000 and 001: what orders live context injection today
LIVE: tuple[Stage, ...] = (
    Relevance(),
    Head(20),
    Feedback(),
    TokenBudget(500),
)

# 000: the same with the corroboration boost where the document wants it, between store score and weight
INTENDED: tuple[Stage, ...] = (
    Relevance(),
    Head(20),
    Corroboration(),
    Feedback(),
    TokenBudget(500),
)

# 002: eight routes by rank from 1, sessions first, a tenth of the memory score, four that differ
MEMSENSE: tuple[Stage, ...] = (
    ReciprocalRankFusion(k=15.0, first_rank=1),
    SessionSupport(),
    MemoryScore(),
    Mmr(k=4),
)

# 003: ranks from 0, the composite, nearness to the time asked for, one row per content
MEMINI: tuple[Stage, ...] = (
    ReciprocalRankFusion(k=5.0, first_rank=0),
    Composite(),
    Temporal(),
    Dedup(),
)

# 004: blend, reflections, floor (off unless set), what the session saw
AI_MEMORY: tuple[Stage, ...] = (
    Relevance(),
    CrossEncoder(),
    Reflection(),
    Floor(),
    SessionRecency(),
)

# one technique for each step, in the order in which the five documents would have them; Dedup, SessionSupport and
# ScoreFusion are other ways to take one of them
FULL: tuple[Stage, ...] = (
    ReciprocalRankFusion(k=15.0, first_rank=1),
    MemoryScore(),
    Corroboration(),
    Feedback(),
    Composite(),
    Temporal(),
    CrossEncoder(),
    Reflection(),
    Floor(),
    SessionRecency(),
    Mmr(k=20),
    TokenBudget(500),
)

PRESETS: dict[str, tuple[Stage, ...]] = {
    "LIVE": LIVE,
    "INTENDED": INTENDED,
    "MEMSENSE": MEMSENSE,
    "MEMINI": MEMINI,
    "AI_MEMORY": AI_MEMORY,
    "FULL": FULL,
}
