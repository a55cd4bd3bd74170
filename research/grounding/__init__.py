"""GC: a classifier of pairs, fine-tuned on the sentences that an altered answer changed.

The paper, section 5.4.
"""
