"""What was said in a session, turn by turn, and the session's own summary of it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from jobs.demo.grammar import one_of, readable, say
from jobs.demo.vocabulary import phrases, topics
from jobs.demo.writing import Memory, sentences

if TYPE_CHECKING:
    from random import Random

    from jobs.demo.timeline import Session
    from jobs.demo.writing import Voice

TURNS = 3


def conversation(voice: Voice, session: Session, random: Random) -> list[Memory]:
    """The turns of a session in order, each with its routes, its summary last; nothing for a planted subject."""
    component = next((c for c in voice.project.parts if c.name == session.task.about), None)
    topic = next((topic for topic in topics() if topic.name == session.task.topic), None)
    if component is None or topic is None:
        return []
    words = voice.words(component, random)
    asked = [say(one_of(topic.ask, random), random, words)]
    asked += [say(follow, random, words) for follow in random.sample(phrases().follow, TURNS - 1)]
    facts = random.sample(range(len(topic.what)), TURNS)
    said = [sentences(topic, random, words, fact) for fact in facts]
    answered = [f"{part['what']} {part['do']}" if n else part["what"] for n, part in enumerate(said)]
    first = Memory("", voice.project.id, component.name, topic.name, "", topic.tags, granularity="turn")
    turns = []
    for number, (question, answer) in enumerate(zip(asked, answered, strict=True)):
        routes = [("user", question), ("assistant", answer)]
        # the next question is written onto this turn when it arrives
        routes += [("next_user", asked[number + 1])] if number + 1 < TURNS else []
        text = f"User: {question} Assistant: {answer}"
        turns.append(replace(first, key=f"{session.id}/turn/{number}", text=text, routes=tuple(routes)))
    return [turn for turn in turns if readable(turn.text)] + [_summary(voice, session, random, said[0], topic.tags)]


def _summary(voice: Voice, session: Session, random: Random, said: dict[str, str], tags: tuple[str, ...]) -> Memory:
    said = said | {part: say(one_of(getattr(phrases(), part), random), random, said) for part in ("work", "next")}
    said["work"] = said["work"][:1].lower() + said["work"][1:]
    said["next"] = said["next"][:1].lower() + said["next"][1:]
    said["person"] = one_of(voice.people, random)
    while True:
        text = say(one_of(phrases().summary, random), random, said)
        if readable(text):
            break
    return Memory(
        f"{session.id}/summary", voice.project.id, session.task.about, session.task.topic, text, tags,
        title=f"Summary of {session.id}", granularity="session",
        routes=(("events", said["work"]), ("preferences", said["do"]), ("personal_info", said["person"])),
    )  # fmt: skip
