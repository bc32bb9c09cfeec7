"""Tools from workbenches: a static one of several kinds of tools, and one whose tools change."""

from autogen_core import CancellationToken
from autogen_core.tools import BaseTool, FunctionTool, StaticWorkbench, TextResultContent, ToolResult, Workbench
from pydantic import BaseModel
from tests.parity.agentchat import agent
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
            nothing = {"type": "object", "properties": {}, "required": []}
            return [{"name": "open", "description": "Opens.", "parameters": nothing}]
        room = {"type": "object", "properties": {"room": {"type": "string"}}, "required": ["room"]}
        return [{"name": "enter", "description": "Enters.", "parameters": room}]

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
    def user(who, workbench):
        return agent(who, "Use the tools.", workbench=workbench, max_tool_iterations=4)

    static = StaticWorkbench([AreaTool(), FunctionTool(shout, description="Shouts.", strict=True)])
    area = await static.call_tool("area", {"width": 4, "height": 5})
    direct = await AreaTool().run_json({"width": 1, "height": 1}, CancellationToken())
    out = {
        "static": told(await user("static", static).run(task="What area?")),
        "area": [area.to_text(), area.is_error, direct.value],
    }
    schema = AreaTool().schema
    needed, offered = schema["parameters"]["required"], sorted(schema["parameters"]["properties"])
    out["schema"] = [schema["name"], schema["description"], offered, needed]
    async with Door() as door:
        out["door"] = told(await user("door", [door]).run(task="Go in."))
    return {**out, "log": door.log}
