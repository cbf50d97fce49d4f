"""Who may do what: tokens, roles, and the record of who did what."""
