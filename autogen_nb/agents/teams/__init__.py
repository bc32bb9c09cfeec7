"""Teams, as AgentChat names them: over the same flow, log and views as all chats."""
