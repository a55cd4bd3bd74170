"""Every table of the documentation that is made from a measured file, by its block's name."""

from tools import bench_tables, detector_tables, paper_tables, quality_tables, run_tables
from tools.blocks import Makers

MEASURED_TABLES: Makers = {
    "alignment-in-short": run_tables.alignment_in_short,
    "alignment-ocr": run_tables.alignment_ocr,
    "alignment-speed": run_tables.alignment_speed,
    "bench": bench_tables.growth,
    "bench-plan": bench_tables.plan,
    "claim-thresholds": detector_tables.claim_thresholds,
    "demo": run_tables.demo,
    "faults-in-short": run_tables.faults,
    "figure4": quality_tables.figure4,
    "figure4-encoder": quality_tables.figure4_encoder,
    "figure5": quality_tables.figure5,
    "files": run_tables.files,
    "general": quality_tables.general,
    "general-in-short": quality_tables.general_in_short,
    "general-kinds": quality_tables.general_kinds,
    "general-wanted": quality_tables.general_wanted,
    "groundedness": detector_tables.groundedness,
    "groundedness-all": detector_tables.groundedness_all,
    "hallugraph": detector_tables.hallugraph,
    "memory": quality_tables.memory,
    "papers": paper_tables.components,
    "real-model": run_tables.real_model,
    "reviews": quality_tables.reviews,
    "reviews-in-short": quality_tables.reviews_in_short,
    "risk": quality_tables.risk,
    "scale": run_tables.scale,
    "scoring-speed": run_tables.scoring_speed,
    "strict": quality_tables.strict,
    "substitutions": detector_tables.substitutions,
    "table1": quality_tables.table1,
    "triples": detector_tables.triples,
}
