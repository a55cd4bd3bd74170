"""The prompts, a file a method. Written for this project: papers give the steps."""
