"""Stand-ins for what AutoGen 0.2 has and this package does not: they import, and their use raises one line."""

import sys
from importlib import import_module
from types import ModuleType
from typing import Any

from autogen_nb.errors import ConfigError

_RETRIEVAL = "give the agent a function tool that searches your documents, with register_function"
_SHORTER = "shorten messages with transforms.MessageTokenLimiter, or with a transform of your own"

_CONTRIB = {
    _RETRIEVAL: (
        "llamaindex_conversable_agent:LLamaIndexConversableAgent retrieve_user_proxy_agent:RetrieveUserProxyAgent "
        "qdrant_retrieve_user_proxy_agent:QdrantRetrieveUserProxyAgent,create_qdrant_from_dir,query_qdrant "
        "vectordb.base:Document,VectorDB,VectorDBFactory vectordb.chromadb:ChromaVectorDB"
    ),
    _SHORTER: "capabilities.text_compressors:LLMLingua,TextCompressor",
    "use a MultimodalConversableAgent whose model accepts images": (
        "llava_agent:LLaVAAgent,llava_call capabilities.vision_capability:VisionCapability"
    ),
    "ask an AssistantAgent to criticise and grade, with the criteria in its system message": (
        "agent_eval.agent_eval:generate_criteria,quantify_criteria agent_eval.criterion:Criterion agent_eval.task:Task"
    ),
    "give the agent a function tool that makes the picture, with register_function": (
        "capabilities.generate_images:DalleImageGenerator,ImageGeneration,ImageGenerator"
    ),
    "keep the facts in a file, and add them to the agent's system_message with update_system_message": (
        "capabilities.teachability:MemoStore,Teachability"
    ),
    "give the agent a function tool that fetches a page, with register_function": "web_surfer:WebSurferAgent",
    "create the agents yourself and put them into a GroupChat": "agent_builder:AgentBuilder",
    "register the functions yourself with register_function": "agent_optimizer:AgentOptimizer",
    "use an AssistantAgent with tools, or with code execution": "gpt_assistant_agent:GPTAssistantAgent",
    "use an AssistantAgent": "retrieve_assistant_agent:RetrieveAssistantAgent",
    "ask an AssistantAgent, with the text in the message": "text_analyzer_agent:TextAnalyzerAgent",
}
"""What to use instead of the names of the modules of ``autogen.agentchat.contrib``."""


def stand_in(name: str, advice: str) -> type:
    """A class that cannot be created; AutoGen's functions are stood in for by a class, too."""

    def fail(*_args: Any, **_kwargs: Any) -> None:
        raise ConfigError(f"{name} is not available in autogen_nb; {advice}")

    return type(name, (), {"__init__": fail, "__doc__": f"Not available; {advice}."})


TextMessageCompressor = stand_in("TextMessageCompressor", _SHORTER)
create_vector_db_from_dir, query_vector_db, split_files_to_chunks = (
    stand_in(name, _RETRIEVAL) for name in ("create_vector_db_from_dir", "query_vector_db", "split_files_to_chunks")
)


def add_modules(package: str) -> None:
    """Adds the modules of the table below this package, with their stand-ins."""
    import_module(f"{package}.capabilities")  # the only package that exists
    for advice, modules in _CONTRIB.items():
        for module, names in (each.split(":") for each in modules.split()):
            vars(_module(f"{package}.{module}")).update((name, stand_in(name, advice)) for name in names.split(","))


def _module(name: str) -> ModuleType:
    if name not in sys.modules:
        sys.modules[name] = ModuleType(name)
        sys.modules[name].__path__ = []
        parent, _, child = name.rpartition(".")
        setattr(_module(parent), child, sys.modules[name])
    return sys.modules[name]
