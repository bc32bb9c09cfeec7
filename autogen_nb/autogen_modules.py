"""Re-exports under the module names of AutoGen 0.2 and AG2, such as `autogen_nb.agentchat`; and `install_as_autogen`.

AgentChat's modules are modules of this package, with the names that they have in ``autogen_agentchat``,
``autogen_core`` and ``autogen_ext``.
"""

import importlib
import sys
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, NoReturn, cast

from autogen_nb.errors import ConfigError

NAMES = ("autogen", "autogen_agentchat", "autogen_core", "autogen_ext")
"""AutoGen's packages that `install_as_autogen` makes this package."""

_PACKAGE = __name__.partition(".")[0]
_CONTRIB = "agentchat.contrib"

_CONFIG_LISTS = (
    ":config_list_from_dotenv,config_list_from_json,config_list_from_models,config_list_gpt4_gpt35,"
    "config_list_openai_aoai,filter_config,get_config_list"
)

_GROUP_CHATS = ":a_initiate_group_chat,a_run_group_chat,initiate_group_chat,run_group_chat"
_GROUP = (
    ":AgentNameTarget,AgentTarget,AskUserTarget,ContextExpression,ContextStr,ContextStrLLMCondition,ContextVariables,"
    "ExpressionAvailableCondition,ExpressionContextCondition,GroupChatConfig,GroupChatTarget,GroupManagerTarget,Handoffs,"
    "NestedChatTarget,OnCondition,OnContextCondition,RandomAgentTarget,ReplyResult,RevertToUserTarget,StayTarget,"
    "StringAvailableCondition,StringContextCondition,StringLLMCondition,TerminateTarget agents.parts.handoffs:"
    "GroupManagerSelectionMessageContextStr,GroupManagerSelectionMessageString,TransitionTarget"
)
_GROUP_MODULES = (
    *("available_condition", "context_condition", "context_expression", "context_str", "context_variables", "handoffs"),
    *("llm_condition", "on_condition", "on_context_condition", "reply_result", "targets", "targets.group_chat_target"),
    *("targets.group_manager_target", "targets.transition_target"),
)
_PATTERN_MODULES = ("", ".auto", ".manual", ".pattern", ".random", ".round_robin")
_PATTERNS = ":AutoPattern,DefaultPattern,ManualPattern,RandomPattern,RoundRobinPattern,Pattern=DefaultPattern"

_EXPORTS = {
    "agentchat": ":Agent,AssistantAgent,ChatResult,ConversableAgent,GroupChat,GroupChatManager,UserProxyAgent "
    ":a_initiate_chats,gather_usage_summary,initiate_chats,register_function "
    f":ContextVariables,ReplyResult,UpdateSystemMessage {_GROUP_CHATS}",
    "agentchat.agent": ":Agent",
    "agentchat.assistant_agent": ":AssistantAgent",
    "agentchat.chat": ":ChatResult,a_initiate_chats,initiate_chats",
    "agentchat.conversable_agent": ":ConversableAgent,UpdateSystemMessage,register_function",
    "agentchat.group": _GROUP,
    **{f"agentchat.group.{name}": _GROUP for name in _GROUP_MODULES},
    **{f"agentchat.group.patterns{name}": _PATTERNS for name in _PATTERN_MODULES},
    "agentchat.group.multi_agent_chat": _GROUP_CHATS,
    "agentchat.groupchat": ":GroupChat,GroupChatManager",
    "agentchat.user_proxy_agent": ":UserProxyAgent",
    "agentchat.utils": ":gather_usage_summary",
    ".capabilities": "agents.message_transforms:TransformMessages",
    ".capabilities.transform_messages": "agents.message_transforms:MessageTransform,TransformMessages",
    ".capabilities.transforms": (
        "agents.message_transforms:MessageHistoryLimiter,MessageTokenLimiter,MessageTransform,TextMessageContentName"
    ),
    ".img_utils": "agents.multimodal_agent:convert_base64_to_data_uri,get_image_data,get_pil_image,gpt4v_formatter,"
    "pil_to_data_uri",
    ".math_user_proxy_agent": "agents.math_user_proxy:MathUserProxyAgent",
    ".multimodal_conversable_agent": "agents.multimodal_agent:MultimodalConversableAgent",
    ".society_of_mind_agent": "agents.group_manager:SocietyOfMindAgent",
    "cache": ":Cache,AbstractCache=Cache",
    "cache.cache": ":Cache",
    "code_executor": ":Alias,CodeBlock,CodeExecutor,CodeResult,FunctionWithRequirements,ImportFromModule,"
    "with_requirements",
    "code_utils": "core.text.code_blocks:CODE_BLOCK_PATTERN,UNKNOWN,content_str,extract_code,infer_lang "
    "executors.execute_code:DEFAULT_TIMEOUT,create_virtual_env,execute_code",
    "exception_utils": (
        "errors:AgentNameConflict,InvalidCarryOverType,NoEligibleSpeaker,SenderRequired,UndefinedNextAgent,"
        "AgentNameConflictError=AgentNameConflict,InvalidCarryOverTypeError=InvalidCarryOverType,"
        "NoEligibleSpeakerError=NoEligibleSpeaker,SenderRequiredError=SenderRequired,"
        "UndefinedNextAgentError=UndefinedNextAgent"
    ),
    "formatting_utils": "run.surfaces:colored",
    "function_utils": "agents.parts.tool_use:get_function_schema,load_basemodels_if_needed=with_typed_arguments "
    "agents.parts.tool_use:serialize_to_str=result_text",
    "graph_utils": "agents.group_chat:check_graph_validity,invert_disallowed_to_allowed,"
    "visualize_speaker_transitions_dict",
    "io": "run.surfaces:IOConsole,IOStream,InputStream,OutputStream",
    "io.base": "run.surfaces:IOStream,InputStream,OutputStream",
    "io.console": "run.surfaces:IOConsole",
    "io.websockets": "run.surfaces:IOStream",
    "llm_config": ":LLMConfig",
    "math_utils": "agents.math_user_proxy:get_answer,is_equiv,is_equiv_chain_of_thought,last_boxed_only_string,"
    "remove_boxed",
    "oai": f":Cache,OpenAIWrapper {_CONFIG_LISTS}",
    "oai.client": ":OpenAIWrapper",
    "oai.openai_utils": _CONFIG_LISTS,
    "runtime_logging": "run.runtime_log:get_connection,log_chat_completion,log_event,log_function_use,log_new_agent,"
    "log_new_client,log_new_wrapper,logging_enabled,start,stop",
    "token_count_utils": "models.requests:count_token,get_max_token_limit,percentile_used,token_left",
    "types": "core.text.code_blocks:MessageContentType,UserMessageImageContentPart,UserMessageTextContentPart",
}
"""Maps each module to its names: "source:name,name=source_name", with spaces between sources; by default, the source is
this package. A leading dot of a module stands for `_CONTRIB`."""

_MISSING = {
    "use register_function to give the agent a function tool that searches your documents": (
        ".llamaindex_conversable_agent:LLamaIndexConversableAgent .retrieve_user_proxy_agent:RetrieveUserProxyAgent "
        ".qdrant_retrieve_user_proxy_agent:QdrantRetrieveUserProxyAgent,create_qdrant_from_dir,query_qdrant "
        ".vectordb.base:Document,VectorDB,VectorDBFactory .vectordb.chromadb:ChromaVectorDB "
        ".graph_rag.document:Document,DocumentType .graph_rag.falkor_graph_query_engine:FalkorGraphQueryEngine "
        ".graph_rag.falkor_graph_rag_capability:FalkorGraphRagCapability "
        "retrieve_utils:TEXT_FORMATS,create_vector_db_from_dir,query_vector_db,split_files_to_chunks"
    ),
    "shorten messages with transforms.MessageTokenLimiter, or with a transform of your own": (
        ".capabilities.text_compressors:LLMLingua,TextCompressor "
        ".capabilities.transforms:LLMLingua,TextMessageCompressor"
    ),
    "use a MultimodalConversableAgent whose model accepts images": (
        ".llava_agent:LLaVAAgent,llava_call .capabilities.vision_capability:VisionCapability"
    ),
    "ask an AssistantAgent to criticise and grade, with the criteria in its system message": (
        ".agent_eval.agent_eval:generate_criteria,quantify_criteria .agent_eval.criterion:Criterion "
        ".agent_eval.task:Task"
    ),
    "use register_function to give the agent a function tool that makes the picture": (
        ".capabilities.generate_images:DalleImageGenerator,ImageGeneration,ImageGenerator"
    ),
    "keep the facts in a file, and add them to the agent's system_message with update_system_message": (
        ".capabilities.teachability:MemoStore,Teachability"
    ),
    "give the function to an agent as a tool that returns a ReplyResult with a target": (
        "agentchat.group:FunctionTarget,FunctionTargetResult "
        "agentchat.group.targets.function_target:FunctionTarget,FunctionTargetResult"
    ),
    "give RegexGuardrail's pattern to is_termination_msg, or hand over by an OnContextCondition": (
        "agentchat.group.guardrails:LLMGuardrail,RegexGuardrail"
    ),
    "limit the speakers with allowed_or_disallowed_speaker_transitions of a GroupChat": (
        "agentchat:AgentDescriptionGuard,AgentEligibilityPolicy,SelectionContext"
    ),
    "iterate over the events of run_group_chat(...)": "agentchat:a_run_group_chat_iter,run_group_chat_iter",
    "give plain functions to an agent as functions=[...]": "interop:Interoperability",
    "give LLMConfig a dict for each model": "llm_config:LLMConfigEntry oai:OpenAILLMConfigEntry",
    "use register_function to give the agent a function tool that fetches a page": ".web_surfer:WebSurferAgent",
    "create the agents yourself and put them into a GroupChat": ".agent_builder:AgentBuilder",
    "register the functions yourself with register_function": ".agent_optimizer:AgentOptimizer",
    "use an AssistantAgent with tools, or with code execution": ".gpt_assistant_agent:GPTAssistantAgent",
    "use a subclass of IOStream, which prints to and reads from the connection, with IOStream.set_default": (
        "io:IOWebsockets io.websockets:IOWebsockets"
    ),
    "use Cache.disk(cache_seed=42)": "cache.in_memory_cache:InMemoryCache",
    "give the base_url of the server in the config_list": "oai.cerebras:CerebrasClient,calculate_cerebras_cost",
    "use an AssistantAgent": ".retrieve_assistant_agent:RetrieveAssistantAgent",
    "ask an AssistantAgent, with the text in the message": ".text_analyzer_agent:TextAnalyzerAgent",
}
"""Maps advice for users to "module:name,name" for the names that only AutoGen or AG2 has."""


class _Module(ModuleType):
    """Imports each of its names on first use."""

    def __init__(self, name: str) -> None:
        super().__init__(name, "Re-exports under AutoGen 0.2's module name.")
        self.__spec__, self.__path__ = ModuleSpec(name, None, is_package=True), []
        self.sources: dict[str, tuple[str, str]] = {}
        self.__all__: list[str] = []

    def __dir__(self) -> list[str]:
        return [*vars(self), *self.__all__]

    def __getattr__(self, name: str) -> Any:
        if name not in self.sources:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        source, source_name = self.sources[name]
        setattr(self, name, getattr(importlib.import_module(source), source_name))
        return vars(self)[name]


def add_modules() -> None:
    for module_name, exports in _EXPORTS.items():
        module = _module(module_name)
        for source, names in (each.split(":") for each in exports.split()):
            for name, _, source_name in (each.partition("=") for each in names.split(",")):
                module.sources[name] = f"{_PACKAGE}.{source}".rstrip("."), source_name or name
                module.__all__.append(name)
    for advice, modules in _MISSING.items():
        for module_name, names in (each.split(":") for each in modules.split()):
            module = _module(module_name)
            for name in names.split(","):
                text = f"{name} is not available in autogen_nb; {advice}"
                setattr(module, name, StandIn(name, (), {"__doc__": text, "advice": text}))
            module.__all__ += names.split(",")


def _module(name: str) -> Any:
    full_name = f"{_PACKAGE}.{_CONTRIB if name.startswith('.') else ''}{name}"
    if full_name not in sys.modules:
        sys.modules[full_name] = _Module(full_name)
        parent, _, child = full_name.rpartition(".")
        owner = sys.modules[_PACKAGE] if parent == _PACKAGE else _module(parent.removeprefix(f"{_PACKAGE}."))
        setattr(owner, child, sys.modules[full_name])
    return sys.modules[full_name]


class StandIn(type):
    """Stands for a class or function that only AutoGen has; each use of it or of a subclass raises `advice`."""

    advice: str

    def __call__(cls, *_args: Any, **_kwargs: Any) -> NoReturn:
        raise ConfigError(cls.advice)

    def __getattr__(cls, _name: str) -> NoReturn:
        raise AttributeError(cls.advice)


def own_module(name: str) -> ModuleType:
    """Imports the module here that has the name of a module of AutoGen, such as ``autogen_core.models``."""
    try:
        return importlib.import_module(".".join((_PACKAGE, *name.split(".")[1:])))
    except ModuleNotFoundError as error:
        if error.name is None or not error.name.startswith(_PACKAGE):
            raise
        raise ModuleNotFoundError(f"autogen_nb has no module {name!r}", name=name) from None


class _AliasFinder:
    def find_spec(self, fullname: str, path: Any, target: Any = None) -> ModuleSpec | None:
        del path, target
        # A subclass of importlib.abc.Loader would need no cast, but importlib.abc loads large modules.
        return ModuleSpec(fullname, cast("Any", self)) if fullname.partition(".")[0] in NAMES else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = own_module(spec.name)
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        # The import system replaced the module's own spec with the spec of the alias.
        assert module.__spec__ is not None
        module.__spec__ = module.__spec__.loader_state


def install_as_autogen() -> None:
    """Makes imports of AutoGen's packages import this package and its submodules, in the current process.

    The packages are ``autogen`` (AutoGen 0.2 and AG2), and ``autogen_agentchat``, ``autogen_core`` and ``autogen_ext``
    of AgentChat.

    Raises
    ------
    ConfigError
        If another package of these names is already imported.
    """
    for name in NAMES:
        if sys.modules.get(name, package := sys.modules[_PACKAGE]) is not package:
            raise ConfigError(f"another {name} is already imported; restart Python and call install_as_autogen() first")
    if not any(isinstance(finder, _AliasFinder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _AliasFinder())
