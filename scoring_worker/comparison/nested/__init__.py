"""Lists and objects: values of several parts, and whether the parts belong together."""
