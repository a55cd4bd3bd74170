"""What is wrong with claims that were stopped: six types of error, as evidence for people.

The paper, section 8. Typing comes after the decision and changes none; where it fails, a verdict
is as it was.
"""
