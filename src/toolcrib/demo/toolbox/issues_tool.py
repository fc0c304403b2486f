"""A tool that changes something. It declares no effects, so it runs alone and is never repeated."""

from pathlib import Path

from toolcrib import Call, Injected, tool

_FILE = Path("issues.md")


@tool(name="updateIssueList")
def update_issue_list(call: Injected[Call]) -> str:
    """Write the list of open issues to issues.md in the working folder."""
    _FILE.write_text(f"- 1 open issue\n\nwritten by call {call.id} of user {call.caller.user}\n", encoding="utf-8")
    return f"{_FILE} is up to date"
