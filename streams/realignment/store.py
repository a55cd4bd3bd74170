"""What is known of the documents of the partitions that a process holds."""

from safepassage.schemas import DocumentValues
from safepassage.streams.kafka.topic_table import TopicTable
from safepassage.streams.topics import DOCUMENT_VALUES


class ValuesStore(TopicTable[DocumentValues]):
    """The latest of each document, by its id."""

    topic = DOCUMENT_VALUES
    model = DocumentValues

    def key_of(self, event: DocumentValues) -> str:
        return event.doc_id

    def takes(self, event: DocumentValues) -> bool:
        """A member that was taken for dead may write once more, behind its successor."""
        return sum(event.reach) >= sum(self.of(event.doc_id).reach)

    def of(self, doc_id: str) -> DocumentValues:
        """What is known of a document; of an unknown one that is nothing."""
        return self.get(doc_id) or DocumentValues(doc_id=doc_id)
