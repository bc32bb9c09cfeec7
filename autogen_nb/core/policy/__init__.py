"""What code may do: effects, scopes, permissions, rules. Pure decisions."""
