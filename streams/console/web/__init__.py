"""The console as a reviewer sees it: pages, forms, sessions."""
