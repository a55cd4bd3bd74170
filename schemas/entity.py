"""`Entity`: what users subclass to say what to extract (SafePassage paper, Figure 2)."""

from typing import ClassVar

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from .hypothesis import entity_type_name


class Entity(BaseModel):
    """One kind of fact. Subclasses add payload fields; ``context`` is inherited.

    ::

        class Date(BaseModel):
            yyyy: int
            mm: int | None
            dd: int | None

        class DecisionDate(Entity):
            date: Date

        class Case(BaseModel):  # the schema given to the extractor
            decision_dates: list[DecisionDate]
            presiding_judge: PresidingJudge | None

    The entity type is the class name in words ("Decision Date") unless ``entity_type`` is set.
    """

    model_config = ConfigDict(
        json_schema_extra=lambda schema, model: schema.update(title=model.type_name())
    )

    entity_type: ClassVar[str | None] = None

    context: str = Field(
        description="A short snippet copied character by character from the document "
        "that shows both what kind of fact this is and its value."
    )

    @classmethod
    def type_name(cls) -> str:
        """The entity type as it appears on events and in hypotheses."""
        return cls.entity_type or entity_type_name(cls.__name__)

    def payload(self) -> JsonValue:
        """The extracted value: the only payload field's value, or an object of all of them."""
        fields = self.model_dump(mode="json", exclude={"context"})
        return next(iter(fields.values())) if len(fields) == 1 else fields
