"""Every table of the documentation that is made from a measured file, by its block's name."""

from tools import paper_tables, quality_tables, run_tables
from tools.blocks import Makers

MEASURED_TABLES: Makers = {
    "alignment-in-short": run_tables.alignment_in_short,
    "alignment-ocr": run_tables.alignment_ocr,
    "alignment-speed": run_tables.alignment_speed,
    "faults-in-short": run_tables.faults,
    "figure4": quality_tables.figure4,
    "figure5": quality_tables.figure5,
    "files": run_tables.files,
    "general": quality_tables.general,
    "general-in-short": quality_tables.general_in_short,
    "general-kinds": quality_tables.general_kinds,
    "general-wanted": quality_tables.general_wanted,
    "groundedness": quality_tables.groundedness,
    "hallugraph": quality_tables.hallugraph,
    "memory": quality_tables.memory,
    "papers": paper_tables.components,
    "risk": quality_tables.risk,
    "scale": run_tables.scale,
    "scoring-speed": run_tables.scoring_speed,
    "table1": quality_tables.table1,
}
