"""Words that say nothing about what a sentence is about, English and French."""

_ENGLISH = """
a about after all also an and any are as at be because been before being both but by can could
did do does each for from had has have he her here him his how i if in into is it its may me
might more most must my no nor not of on once only or other our out over own s shall she should
so some such t than that the their them then there these they this those through to too under
until up very was we were what when where which while who whom whose why will with would you
your
"""
_FRENCH = """
au aux avec ce ces cette dans de des du elle elles en est et été être il ils je la le les leur
leurs lui mais mes mon ne nos notre nous on ont ou où par pas plus pour que qui sa se ses son
sont sur un une vos votre vous y à
"""

FUNCTION_WORDS = frozenset(_ENGLISH.split() + _FRENCH.split())
