"""Model clients behind one protocol; none of them knows another."""
