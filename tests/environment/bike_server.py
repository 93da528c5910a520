"""Harbour Bikes as an MCP server written by hand: it starts fast, and misbehaves when asked to.
The usual way to write one is shown by examples/own_environment/server.py.
"""

import json
import os
import sys
import time
from dataclasses import asdict, is_dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "examples" / "own_environment"))

import tools

DAY = {"type": "string", "enum": ["friday", "saturday", "sunday"]}
KIND = {"type": "string", "enum": ["city", "child", "tandem", "cargo"]}
TEXT, NUMBER = {"type": "string"}, {"type": "integer"}
TOOLS = {
    "begin": {"state": {"type": "object"}},
    "find_bikes": {"kind": KIND, "day": DAY},
    "rent_bike": {"bike": TEXT, "day": DAY, "name": TEXT},
    "change_day": {"rental": NUMBER, "day": DAY},
    "cancel_rental": {"rental": NUMBER},
    "report_damage": {"bike": TEXT, "damage": TEXT},
    "misbehave": {"how": TEXT},
}
RAW = {  # what `misbehave` answers with instead of a result
    "picture": {"content": [{"type": "image", "data": "aGk=", "mimeType": "image/png"}]},
    "object": {"content": [{"type": "text", "text": '{"free": [1, 2]}'}]},
    "words": {"content": [{"type": "text", "text": "two words"}]},
    "wrapped": {"content": [], "structuredContent": {"result": [1]}},
    "malformed": {"content": "no list"},
    "silent error": {"content": [], "isError": True},
}


class Server:
    def __init__(self) -> None:
        self.desk = tools.initial_state(None)

    def answer(self, method: str, params: dict) -> dict:
        if method == "initialize":
            version, capabilities = params["protocolVersion"], {"tools": {}}
            info = {"name": "bikes", "version": "1"}
            return {"protocolVersion": version, "capabilities": capabilities, "serverInfo": info}
        if method == "tools/list":
            return {"tools": [_described(name) for name in TOOLS]}
        if method == "tools/call":
            return self.call(params["name"], params.get("arguments") or {})
        raise LookupError(method)

    def call(self, name: str, arguments: dict) -> dict:
        if name == "misbehave":
            return misbehave(arguments["how"])
        try:
            if name == "begin":
                self.desk = tools.initial_state(arguments["state"])
                return {"content": []}
            value = vars(tools)[name](self.desk, **arguments)
        except Exception as error:
            return {"content": [{"type": "text", "text": str(error)}], "isError": True}
        plain = asdict(value) if is_dataclass(value) else value
        return {"content": [{"type": "text", "text": json.dumps(plain)}]}


def misbehave(how: str) -> dict:
    if how == "die":
        print("the harbour is flooded", file=sys.stderr, flush=True)
        os._exit(3)
    if how == "hang":
        time.sleep(600)
    if how == "dawdle":
        time.sleep(1)
        return RAW["words"]
    if how == "garbage":
        print("this is not JSON", flush=True)
        return RAW["words"]
    if how == "dice":
        return {"content": [{"type": "text", "text": str(os.getpid())}]}
    return RAW[str(how)]


def _described(name: str) -> dict:
    properties = TOOLS[name]
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    return {"name": name, "description": f"The desk's {name}.", "inputSchema": schema}


def main() -> None:
    server = Server()
    for line in sys.stdin:
        request = json.loads(line)
        if "id" not in request:
            continue
        answer = {"jsonrpc": "2.0", "id": request["id"]}
        try:
            answer["result"] = server.answer(request["method"], request.get("params") or {})
        except LookupError as error:
            answer["error"] = {"code": -32601, "message": f"no method {error}"}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
