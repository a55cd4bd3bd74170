"""Who may come in: the three ways of login, the roles they give, and who is shut out."""
