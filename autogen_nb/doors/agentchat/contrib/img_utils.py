"""Functions for pictures in messages, under AutoGen 0.2's module name."""

from autogen_nb.agents.multimodal_agent import (
    convert_base64_to_data_uri,
    get_image_data,
    get_pil_image,
    gpt4v_formatter,
    pil_to_data_uri,
)

__all__ = ["convert_base64_to_data_uri", "get_image_data", "get_pil_image", "gpt4v_formatter", "pil_to_data_uri"]
