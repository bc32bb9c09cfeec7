"""AgentChat's teams, which share the log and the views of chats between agents."""
