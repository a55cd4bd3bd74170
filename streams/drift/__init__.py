"""Whether what comes out now still looks like what came out before."""
