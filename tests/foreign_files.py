"""Small files of other systems' memories, in the shapes that those systems write."""

from __future__ import annotations

import json

GRPO_STATE = json.dumps(
    {"G0": "Unit check: Convert all lengths to metres first.", "G1": "Sanity: Redo it by hand."}
)
GRPO_LINES = """Solve the problem. Read these experiences:
[G0]. Unit check: Convert all lengths
to metres first.
[G1]. Sanity: Redo it by hand.

Answer in one line.
"""
GRPO_YAML = """agent:
  name: measurer
  instructions: "Solve the problem.\\n[G0]. Unit check: Convert all lengths\\
    \\ to metres first.\\n[G1]. Sanity: Redo it by hand.\\n\\nAnswer in one line."
"""
GRPO_OPTIONS = json.dumps([
    {"option": "add", "experience": "Draw the figure before the algebra."},
    {"option": "modify", "experience": "Convert every length to metres.", "modified_from": "G0"},
    {"option": "merge", "experience": "Convert to metres, then redo it by hand.",
     "merged_from": ["G0", "G1"]},
])  # fmt: skip
GRPO_OPERATIONS = json.dumps([
    {"operation": "ADD", "id": None, "content": "Draw the figure before the algebra."},
    {"operation": "UPDATE", "id": "G0", "content": "Convert every length to metres."},
    {"operation": "DELETE", "id": "G1", "content": "", "reason": "too general"},
    {"operation": "NONE", "id": "G0", "content": "Sanity"},
])  # fmt: skip
ACE = """## STRATEGIES & INSIGHTS
[shr-00001] helpful=3 harmful=1 :: Ask for the order number before the name.
- [shr-00002] helpful=0 harmful=0 :: Confirm the refund
  in one sentence.

## APIS TO USE
[api-00003] helpful=1 harmful=0 :: Use search_orders with status=open.

## OTHERS
[misc-00004] :: Never promise a date.
"""
KAYBA = json.dumps({
    "skills": {
        "opening-00001": {
            "id": "opening-00001", "section": "opening", "content": "Greet in under 20 words.",
            "justification": "Short openings end sooner.", "evidence": "Runs 3 and 7.",
            "helpful": 2, "harmful": 1, "neutral": 4, "created_at": "2026-01-01", "updated_at": "",
            "embedding": [0.5], "status": "active", "sources": [],
        },
        "closing-00002": {
            "id": "closing-00002", "section": "closing", "content": "Say goodbye twice.",
            "helpful": 0, "harmful": 5, "status": "invalid",
        },
    },
    "sections": {"opening": ["opening-00001"], "closing": ["closing-00002"]},
    "next_id": 2, "similarity_decisions": {},
})  # fmt: skip
KAYBA_PROMPT = """The strategies below were learned.

skills[2\t]{id\tsection\tcontent\thelpful\tharmful\tneutral}:
  opening-00001\topening\t"Greet, in under 20 words."\t2\t1\t0
  closing-00002\tclosing\tSay goodbye once.\t0\t0\t0

Use them well.
"""
MUSE_STRATEGIC = json.dumps({"A form rejects the date": "Type it as YYYY-MM-DD and press Tab."})
MUSE_PROCEDURAL = json.dumps({
    "Mattermost": {
        "Find a channel": {"preconditions": "Logged in", "steps": ["Open Browse", "Type a name"],
                           "notes": "Archived ones are hidden."},
        "Leave a channel": "Open its menu\nPress Leave",
    }
})  # fmt: skip
MUSE_TOOL = json.dumps(
    {"browser_click": {"tool_description": "Clicks an element by its index.",
                       "tool_instruction": "Take a fresh snapshot first."}}
)  # fmt: skip
MEM0 = json.dumps({"results": [
    {"id": "m-1", "memory": "The build needs Node 20.", "hash": "x", "created_at": "2026-01-01",
     "updated_at": None, "metadata": {"category": "build", "score": 0.5}, "user_id": "anna"},
]})  # fmt: skip
REME = "\n".join([
    json.dumps({"workspace_id": "support", "memory_id": "r1", "memory_type": "task",
                "when_to_use": "A refund is asked for", "content": "Check the order's age first.",
                "score": 0.8, "time_created": "2026-01-01", "author": "qwen", "metadata": {}}),
    json.dumps({"workspace_id": "support", "memory_id": "r2", "memory_type": "tool",
                "when_to_use": "Searching", "content": "search_orders wants lower case.",
                "score": 0.1, "time_created": "2026-01-01", "author": "", "metadata": {}}),
])  # fmt: skip
MCP = "\n".join([
    json.dumps({"type": "entity", "name": "deploy script", "entityType": "tool",
                "observations": ["Needs the staging key.", "The deploy script logs to stderr."]}),
    json.dumps({"type": "entity", "name": "Anna", "entityType": "person", "observations": []}),
    json.dumps({"type": "relation", "from": "Anna", "to": "deploy script",
                "relationType": "maintains"}),
])  # fmt: skip
PAM = json.dumps({
    "schema": "portable-ai-memory", "schema_version": "1.0", "owner": {"id": "someone"},
    "memories": [
        {"id": "mem-1", "type": "instruction", "status": "active",
         "content": "Answer in metric units.", "content_hash": "sha256:0", "tags": ["units"],
         "summary": "Metric", "confidence": {"initial": 1.0, "current": 0.8},
         "temporal": {"created_at": "2026-01-01T00:00:00Z"},
         "provenance": {"platform": "claude"}, "metadata": {"domain": "Physics"}},
        {"id": "mem-2", "type": "fact", "status": "superseded", "content": "Old.",
         "content_hash": "sha256:0", "temporal": {"created_at": "2026-01-01T00:00:00Z"},
         "provenance": {"platform": "claude"}},
    ],
})  # fmt: skip
LETTA = json.dumps({
    "agents": [{"name": "a", "block_ids": ["b-0"], "messages": []}], "tools": [],
    "blocks": [{"id": "b-0", "label": "human", "limit": 2000, "value":
                "What I know:\n\n- Works in Utrecht.\nAge: ?\n---\nPrefers tables to prose."}],
})  # fmt: skip
MEMENTO = "\n".join([
    json.dumps({"question": "Who wrote it first?", "plan":
                '{"plan": [{"id": 1, "description": "Find both dates."}, {"id": 2, '
                '"description": "Compare them."}]}', "reward": 1}),
    json.dumps({"case": "Where was it built?", "plan": "Look up the yard.", "case_label":
                "negative"}),
])  # fmt: skip
REASONING_BANK = json.dumps({
    "task_id": "web-12", "query": "Find the cheapest flight", "status": "fail",
    "memory_items": [
        "# Memory Item 1\n## Title Sort first\n## Description Sorting\n"
        "## Content Sort by price before you open a row.",
        {"title": "Check the date", "description": "d", "content": "Read the date twice."},
        "Close the banner first.",
    ],
})  # fmt: skip

FILES: dict[str, list[tuple[str, str]]] = {
    "grpo": [("state.json", GRPO_STATE), ("prompt.txt", GRPO_LINES), ("agent.yaml", GRPO_YAML)],
    "grpo-options": [("ops.json", GRPO_OPTIONS)],
    "grpo-operations": [("ops.json", GRPO_OPERATIONS)],
    "ace": [("playbook.txt", ACE)],
    "kayba": [("skillbook.json", KAYBA)],
    "kayba-prompt": [("prompt.txt", KAYBA_PROMPT)],
    "muse-strategic": [("strategic.json", MUSE_STRATEGIC)],
    "muse-procedural": [("procedural.json", MUSE_PROCEDURAL)],
    "muse-tool": [("tool.json", MUSE_TOOL)],
    "mem0": [("mem0.json", MEM0)],
    "reme": [("reme.jsonl", REME)],
    "mcp": [("memory.json", MCP)],
    "pam": [("pam.json", PAM)],
    "letta": [("agent.af", LETTA)],
    "memento": [("memo.jsonl", MEMENTO)],
    "reasoning-bank": [("bank.jsonl", REASONING_BANK)],
}
"""Files by the key of their format."""
