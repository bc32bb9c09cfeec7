"""Stand-ins for AutoGen 0.2's retrieval from documents."""

from autogen_nb.agents.unavailable import create_vector_db_from_dir, query_vector_db, split_files_to_chunks

__all__ = ["create_vector_db_from_dir", "query_vector_db", "split_files_to_chunks"]
