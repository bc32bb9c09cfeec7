"""AgentChat's teams, with the flow, log and views of all chats."""
