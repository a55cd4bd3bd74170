"""The pack ``legal``: roles of hearings, refugee parties, kinds of bodies, Canadian places."""
