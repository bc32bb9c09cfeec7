"""Tools from workbenches: a static one of several kinds of tools, and one whose tools change."""

import os

from autogen_agentchat.agents import AssistantAgent
from autogen_core import CancellationToken
from autogen_core.tools import BaseTool, FunctionTool, StaticWorkbench, TextResultContent, ToolResult, Workbench
from autogen_ext.models.openai import OpenAIChatCompletionClient
from pydantic import BaseModel
from tests.parity.recorded import calls, told

SCRIPT = {
    "static": [
        calls(("1", "area", {"width": 2, "height": 3}), ("2", "shout", {"text": "hi"})),
        calls(("3", "area", {"width": "wide", "height": 1})),
        "Six.",
    ],
    "door": [calls(("1", "open", {})), calls(("2", "enter", {"room": "hall"})), "I am in."],
}


class Size(BaseModel):
    width: int
    height: int


class Area(BaseModel):
    value: int
    unit: str = "m2"


class AreaTool(BaseTool[Size, Area]):
    def __init__(self):
        super().__init__(args_type=Size, return_type=Area, name="area", description="The area.")

    async def run(self, args: Size, cancellation_token: CancellationToken) -> Area:
        return Area(value=args.width * args.height)


def shout(text: str) -> str:
    return text.upper()


class Door(Workbench):
    def __init__(self):
        self.is_open = False
        self.log = []

    async def list_tools(self):
        if not self.is_open:
            return [
                {
                    "name": "open",
                    "description": "Opens.",
                    "parameters": {"type": "object", "properties": {}, "required": []},
                }
            ]
        return [
            {
                "name": "enter",
                "description": "Enters.",
                "parameters": {"type": "object", "properties": {"room": {"type": "string"}}, "required": ["room"]},
            }
        ]

    async def call_tool(self, name, arguments=None, cancellation_token=None, call_id=None):
        self.is_open = True
        return ToolResult(
            name=name,
            result=[TextResultContent(content=f"{name} {dict(arguments or {})}"), TextResultContent(content="done")],
            is_error=name == "enter",
        )

    async def start(self):
        self.log.append("start")

    async def stop(self):
        self.log.append("stop")

    async def reset(self):
        pass

    async def save_state(self):
        return {}

    async def load_state(self, state):
        pass


async def main():
    def agent(who, workbench):
        client = OpenAIChatCompletionClient(model="gpt-4o", api_key=f"sk-{who}", base_url=os.environ["MODEL_URL"])
        return AssistantAgent(
            who, model_client=client, workbench=workbench, max_tool_iterations=4, system_message="Use the tools."
        )

    static = StaticWorkbench([AreaTool(), FunctionTool(shout, description="Shouts.", strict=True)])
    area = await static.call_tool("area", {"width": 4, "height": 5})
    direct = await AreaTool().run_json({"width": 1, "height": 1}, CancellationToken())
    out = {
        "static": told(await agent("static", static).run(task="What area?")),
        "area": [area.to_text(), area.is_error, direct.value],
    }
    schema = AreaTool().schema
    out["schema"] = [
        schema["name"],
        schema["description"],
        sorted(schema["parameters"]["properties"]),
        schema["parameters"]["required"],
    ]
    async with Door() as door:
        out["door"] = told(await agent("door", [door]).run(task="Go in."))
    return {**out, "log": door.log}
