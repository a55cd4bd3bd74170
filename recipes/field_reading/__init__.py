"""One reading of a passage for all fields of a schema: model, examples, corpus, training, trial.

The reader sees the names of up to `examples.MAX_FIELDS` fields, each closed by a separator, and
after them a stretch of the document. For every field and every token of the stretch it gives a
logit that the token is part of an answer to the field. A value is judged by the mean over its
tokens, and by the same mean for the other fields and for *none of these*: fields compete. Values
that are not in the quote, and sentences of answers, are statements in the place of the fields.
"""
