"""Safe access to files and folders that other programs or users may change."""
