from autogen_nb import ApprovalRequest as ApprovalRequest
from autogen_nb import ApprovalResponse as ApprovalResponse
from autogen_nb import AssistantAgent as AssistantAgent
from autogen_nb import BaseChatAgent as BaseChatAgent
from autogen_nb import CodeExecutorAgent as CodeExecutorAgent
from autogen_nb import ConversableAgent as ConversableAgent
from autogen_nb import FunctionAgent as FunctionAgent
from autogen_nb import UserProxyAgent as UserProxyAgent
