"""Which scorer decides: releases, promotion, the live scorer and the shadow beside it."""
