"""What is known of the documents of the partitions that a process holds: `DocumentValues` by id.

A temporary database, as that of the decisions is: bounded memory, as much disk as the documents
take. What is lost with the process is read again from the topic.
"""

from safepassage.schemas import DocumentValues
from safepassage.streams.runtime.local_database import TemporaryDatabase

_SCHEMA = "CREATE TABLE documents (id TEXT PRIMARY KEY, known BLOB NOT NULL) WITHOUT ROWID"


class ValuesStore(TemporaryDatabase):
    """The latest of each document. For one thread."""

    def __init__(self) -> None:
        super().__init__(_SCHEMA)

    def clear(self) -> None:
        """Forget every document."""
        self.connection.execute("DELETE FROM documents")

    def get(self, doc_id: str) -> DocumentValues:
        """What is known of a document; of an unknown one that is nothing."""
        row = self.one("SELECT known FROM documents WHERE id = ?", doc_id)
        return DocumentValues.model_validate_json(row[0]) if row else DocumentValues(doc_id=doc_id)

    def put(self, known: DocumentValues) -> None:
        """Replace what is known of its document."""
        self.connection.execute(
            "INSERT OR REPLACE INTO documents VALUES (?, ?)", (known.doc_id, known.to_json())
        )

    def forget(self, doc_id: str) -> None:
        """A tombstone was read: the document was erased."""
        self.connection.execute("DELETE FROM documents WHERE id = ?", (doc_id,))
