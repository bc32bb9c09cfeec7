"""Safe access to files and folders that other code or other users may change."""
