from enum import StrEnum


class Option(StrEnum):
    """A choice a stage may hold: it prints as code, so that a pipeline's repr can be pasted back."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}.{self.name}"
