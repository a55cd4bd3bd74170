"""The contracts: one model per topic, what users subclass, and the decision rule."""

from .alignment import (
    AlignedExtraction,
    AlignedRival,
    Alignment,
    Occurrence,
    Route,
    Span,
    Surroundings,
)
from .base import Contract, Event
from .chat_completion import ChatCompletion
from .claim import Claim, Part, Response, claim_id
from .decision_rule import Assessment, judge, reject, undetermined, verdict_id
from .document import Coordinates, Document, DocumentRef
from .entity import Entity
from .erasure import Erasure, KeyNode, document_id
from .extraction import (
    Extraction,
    ExtractionManifest,
    ExtractorTrail,
    LabelledExtraction,
    Rival,
    Usage,
    extraction_id,
)
from .finding import CONTRADICTIONS, Finding, FindingCode
from .former import FormerVerdict
from .hypothesis import CLAIM_TYPE, entity_type_name, hypothesis, render_value
from .ids import canonical_json, stable_id, strict_json, text_digest
from .jsonl import BadLine, read_jsonl, validation_summary
from .layout import Box, Layout, Omission, Original, PageSize, Region
from .learning import LearningEvent
from .memory import MemorySnapshot
from .realignment import DocumentValues, DocumentVersion, Realignment
from .reason import Reason
from .redrive import Redrive
from .report import (
    AuditBlock,
    AuditEntry,
    DeadLetter,
    DocumentReport,
    DriftWarning,
    ScorerRelease,
    Stage,
)
from .review import Draw, Review, ReviewDecision, ReviewerLogin, StandingDecision
from .schema_field import SchemaField
from .verdict import Conflict, Decision, ReviewTrail, ScorerTrail, Verdict
