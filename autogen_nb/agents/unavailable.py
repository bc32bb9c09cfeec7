"""Stand-ins for what AutoGen 0.2 has and this package does not: they import, and their use raises one line."""

import sys
from types import ModuleType
from typing import Any

from autogen_nb.errors import ConfigError

_RETRIEVAL = "give the agent a function tool that searches your documents, with register_function"
_SHORTER = "shorten messages with transforms.MessageTokenLimiter, or with a transform of your own"
_IMAGES = "send pictures as image_url parts of a message to an agent whose model accepts images"
_EVALUATION = "ask an AssistantAgent to criticise and grade, with the criteria in its system message"

_CONTRIB = {
    "agent_builder": ("AgentBuilder", "create the agents yourself and put them into a GroupChat"),
    "agent_eval.agent_eval": ("generate_criteria quantify_criteria", _EVALUATION),
    "agent_eval.criterion": ("Criterion", _EVALUATION),
    "agent_eval.task": ("Task", _EVALUATION),
    "agent_optimizer": ("AgentOptimizer", "register the functions yourself with register_function"),
    "capabilities.generate_images": (
        "DalleImageGenerator ImageGeneration ImageGenerator",
        "give the agent a function tool that makes the picture, with register_function",
    ),
    "capabilities.teachability": (
        "MemoStore Teachability",
        "keep the facts in a file, and add them to the agent's system_message with update_system_message",
    ),
    "capabilities.text_compressors": (
        "LLMLingua TextCompressor",
        _SHORTER,
    ),
    "capabilities.vision_capability": ("VisionCapability", _IMAGES),
    "gpt_assistant_agent": ("GPTAssistantAgent", "use an AssistantAgent with tools, or with code execution"),
    "img_utils": ("get_image_data get_pil_image gpt4v_formatter pil_to_data_uri", _IMAGES),
    "llamaindex_conversable_agent": ("LLamaIndexConversableAgent", _RETRIEVAL),
    "llava_agent": ("LLaVAAgent llava_call", _IMAGES),
    "math_user_proxy_agent": (
        "MathUserProxyAgent",
        "use a UserProxyAgent that runs code, and ask for Python with sympy in the message",
    ),
    "multimodal_conversable_agent": ("MultimodalConversableAgent", _IMAGES),
    "qdrant_retrieve_user_proxy_agent": (
        "QdrantRetrieveUserProxyAgent create_qdrant_from_dir query_qdrant",
        _RETRIEVAL,
    ),
    "retrieve_assistant_agent": ("RetrieveAssistantAgent", "use an AssistantAgent"),
    "retrieve_user_proxy_agent": ("RetrieveUserProxyAgent", _RETRIEVAL),
    "text_analyzer_agent": ("TextAnalyzerAgent", "ask an AssistantAgent, with the text in the message"),
    "vectordb.base": ("Document VectorDB VectorDBFactory", _RETRIEVAL),
    "vectordb.chromadb": ("ChromaVectorDB", _RETRIEVAL),
    "web_surfer": ("WebSurferAgent", "give the agent a function tool that fetches a page, with register_function"),
}
"""By module of ``autogen.agentchat.contrib``: its names, and what to use instead."""


def stand_in(module: str, name: str, advice: str) -> type:
    """A class that cannot be created; AutoGen's functions are stood in for by a class, too."""

    def fail(_self: Any, *_args: Any, **_kwargs: Any) -> None:
        raise ConfigError(f"{name} is not available in autogen_nb; {advice}")

    return type(name, (), {"__init__": fail, "__module__": module, "__doc__": f"Not available; {advice}."})


TextMessageCompressor = stand_in(
    "autogen_nb.agentchat.contrib.capabilities.transforms", "TextMessageCompressor", _SHORTER
)

create_vector_db_from_dir, query_vector_db, split_files_to_chunks = (
    stand_in("autogen_nb.retrieve_utils", name, _RETRIEVAL)
    for name in ("create_vector_db_from_dir", "query_vector_db", "split_files_to_chunks")
)


def add_modules(package: str) -> None:
    """Adds the modules of the table below this package, with their stand-ins."""
    for name, (exports, advice) in _CONTRIB.items():
        parent, _, child = f"{package}.{name}".rpartition(".")
        if parent not in sys.modules and "capabilities" not in parent:
            _add(parent)
        _add(f"{parent}.{child}", {each: stand_in(f"{parent}.{child}", each, advice) for each in exports.split()})


def _add(name: str, exports: dict[str, type] | None = None) -> None:
    module = sys.modules[name] = ModuleType(name)
    vars(module).update(exports or {}, __path__=[])
    parent, _, child = name.rpartition(".")
    if parent in sys.modules:
        setattr(sys.modules[parent], child, module)
