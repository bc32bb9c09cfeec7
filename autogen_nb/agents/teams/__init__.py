"""AgentChat's teams, whose runs are logged and shown like other chats."""
