from __future__ import annotations
from dataclasses import dataclass
from safepassage.scoring_worker.memory.recall import Recall
class Memory:
    name=""
    def knows(self,*a): return False
    def recall(self,*a): return None
NO_MEMORY=Memory()
