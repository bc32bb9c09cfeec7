"""AG2's handoffs: who speaks next in a group, by conditions and by the results of tools."""
