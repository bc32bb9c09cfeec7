"""For the programs: what a run said, as JSON, and a model's reply that calls tools."""

import json


def calls(*each, content=None):
    return {"content": content, "tool_calls": [{"id": i, "name": n, "arguments": json.dumps(a)} for i, n, a in each]}


def arguments(text):
    try:
        return json.loads(text)
    except ValueError:
        return text


def part(x):
    if hasattr(x, "arguments"):
        return {"call": x.name, "arguments": arguments(x.arguments)}
    if hasattr(x, "call_id"):
        return {"result of": x.name, "content": x.content, "is_error": bool(x.is_error)}
    if hasattr(x, "mime_type"):
        return {"memory": x.content, "type": getattr(x.mime_type, "value", x.mime_type)}
    return x.model_dump(mode="json") if hasattr(x, "model_dump") else x


def message(m):
    return [
        type(m).__name__,
        m.source,
        [part(x) for x in m.content] if isinstance(m.content, list) else part(m.content),
    ]


def told(result):
    return [message(m) for m in result.messages]


def asked(body):
    """A request: of each message the role, the text, the calls; names of tools; the kind of structured output."""
    out = {"messages": []}
    for m in body["messages"]:
        c = m.get("content")
        one = {
            "role": m["role"],
            "content": "\n".join(x.get("text", x["type"]) for x in c) if isinstance(c, list) else c or "",
        }
        if m.get("name") and m["role"] != "assistant":
            one["name"] = m["name"]
        if m.get("tool_calls"):
            one["calls"] = [
                [t["id"], t["function"]["name"], arguments(t["function"]["arguments"])] for t in m["tool_calls"]
            ]
        if m.get("tool_call_id"):
            one["answers"] = m["tool_call_id"]
        out["messages"].append(one)
    if body.get("tools"):
        out["tools"] = sorted(t["function"]["name"] for t in body["tools"])
    if body.get("response_format"):
        out["format"] = body["response_format"]["type"]
    return out
