"""HalluGraph: is every entity of an answer, and every relation between them, in its passages?"""
