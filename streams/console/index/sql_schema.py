"""The tables of the console's index, and why each is there."""

LAYOUT = 2
"""Grows with every change of what rows are made from the same records. A kept index of another
layout is built anew."""

SCHEMA = """
BEGIN;
-- What the index was made by (`made`), and what is known of the verdicts as a whole.
CREATE TABLE state (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
-- Up to where each partition was read: the first and the last record, and when that was written.
CREATE TABLE positions (
    topic TEXT NOT NULL, partition INTEGER NOT NULL,
    first INTEGER NOT NULL, last INTEGER NOT NULL, timestamp INTEGER NOT NULL,
    PRIMARY KEY (topic, partition)
) WITHOUT ROWID;

-- Every extraction that got a verdict, accepted ones too: they are the other half of the rates.
CREATE TABLE cases (
    id TEXT PRIMARY KEY,
    at INTEGER NOT NULL,
    decision TEXT NOT NULL,
    entity_type TEXT NOT NULL,
    model TEXT NOT NULL,
    prompt TEXT NOT NULL,
    doc_id TEXT NOT NULL,
    reasons TEXT NOT NULL,
    error_types TEXT NOT NULL,
    score REAL,
    margin REAL NOT NULL,
    lot REAL NOT NULL,
    revision TEXT NOT NULL,
    pool TEXT,
    settled INTEGER NOT NULL,  -- whether somebody judged it
    waiting INTEGER NOT NULL DEFAULT 0,  -- whether it then waits for another person
    place TEXT NOT NULL  -- partition:offset on its topic, "" where that is not known
) WITHOUT ROWID;

-- What a reviewer may be shown, compressed.
CREATE TABLE bodies (case_id TEXT PRIMARY KEY, verdict BLOB NOT NULL);
CREATE TABLE reviews (
    id TEXT PRIMARY KEY,
    case_id TEXT NOT NULL,
    person TEXT NOT NULL,
    at INTEGER NOT NULL,
    review BLOB NOT NULL
);
-- The reviews that propose a better description of their field.
CREATE TABLE proposals (id TEXT PRIMARY KEY, case_id TEXT NOT NULL, at INTEGER NOT NULL);
-- What the reviews of a case led to, the latest for each scorer's verdict they were applied to.
CREATE TABLE published (
    case_id TEXT NOT NULL, judged TEXT NOT NULL, at INTEGER NOT NULL, verdict BLOB NOT NULL,
    doc_id TEXT NOT NULL,
    PRIMARY KEY (case_id, judged)
);
-- The reviews whose effect is out, however long ago: the verdicts themselves may have expired.
CREATE TABLE decisions (
    case_id TEXT PRIMARY KEY, review_id TEXT NOT NULL, judged TEXT NOT NULL, doc_id TEXT NOT NULL,
    decision TEXT
);

-- The cases whose decisions have to be carried out, when (seconds since the epoch), how often that
-- was said, and with which error the broker refused it.
CREATE TABLE due (
    case_id TEXT PRIMARY KEY, at REAL NOT NULL, said INTEGER NOT NULL DEFAULT 1,
    refused TEXT NOT NULL DEFAULT ''
) WITHOUT ROWID;

-- Derived from the reviews of a case whenever one is added.
CREATE TABLE opinions (
    case_id TEXT NOT NULL, person TEXT NOT NULL, judged INTEGER NOT NULL,
    PRIMARY KEY (case_id, person)
) WITHOUT ROWID;
-- What two people said who did not see each other's decision: 1 supported, 0 not.
CREATE TABLE agreement (
    case_id TEXT PRIMARY KEY, entity_type TEXT NOT NULL, first INTEGER NOT NULL,
    second INTEGER NOT NULL
) WITHOUT ROWID;
-- What people decided that a scorer had judged. `drawn` is NULL where a person chose the case, else
-- the draw as JSON, '' of spot checks from before draws were recorded.
CREATE TABLE labelled (
    case_id TEXT PRIMARY KEY, revision TEXT NOT NULL, entity_type TEXT NOT NULL,
    alike TEXT NOT NULL, accepted INTEGER NOT NULL, wrong INTEGER NOT NULL,
    score REAL, threshold REAL, drawn TEXT
);
CREATE INDEX labelled_of_type ON labelled (entity_type, alike);
CREATE INDEX labelled_by ON labelled (revision, accepted);

CREATE INDEX by_margin ON cases (pool, settled, margin, id);
CREATE INDEX by_age ON cases (pool, settled, at, id);
CREATE INDEX by_lot ON cases (pool, settled, lot, id);
CREATE INDEX by_waiting ON cases (lot, id) WHERE waiting = 1;
CREATE INDEX by_type ON cases (pool, settled, entity_type);
CREATE INDEX by_model ON cases (pool, settled, model);
CREATE INDEX by_document ON cases (doc_id, pool, settled);
CREATE INDEX by_revision ON cases (revision, entity_type, decision);
CREATE INDEX by_extractor ON cases (model, prompt, decision);
CREATE INDEX reviews_of_case ON reviews (case_id, at, id);
CREATE INDEX reviews_by_person ON reviews (person, at);
CREATE INDEX opinions_of_person ON opinions (person, judged, case_id);
CREATE INDEX published_of_document ON published (doc_id);
CREATE INDEX decisions_of_document ON decisions (doc_id);
CREATE INDEX due_at ON due (at);
COMMIT;
"""
