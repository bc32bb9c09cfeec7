"""AgentChat's teams; their runs have the logs and the views of other chats."""
