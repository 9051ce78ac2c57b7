"""Render: the ledger in the documents of `gradcli trace` and its relatives."""

from __future__ import annotations

from typing import Any

from ...recording.facts.ledger import BufferFact, EntryFact, LedgerFact, PassFact


def ledger_row(ledger: LedgerFact | None) -> dict[str, Any] | None:
    """The gradients' histories, the stale ones, the passes, what is alive at the end."""
    if ledger is None:
        return None
    return {
        "grads": [
            {
                "name": account.name,
                "line": account.line,
                "is_leaf": account.is_leaf,
                "count": account.total,
                "left_out": account.left_out,
                "entries": [_entry(entry) for entry in account.entries],
            }
            for account in ledger.accounts
        ],
        "stale": [fact._asdict() for fact in ledger.stale],
        "passes": [_pass(fact) for fact in ledger.passes],
        "alive": [_buffer(fact) for fact in ledger.alive],
    }


def _entry(entry: EntryFact) -> dict[str, Any]:
    return {
        "kind": entry.kind,
        "line": entry.line,
        "amount": entry.amount_value,
        "grad": entry.after_value,
    }


def _pass(fact: PassFact) -> dict[str, Any]:
    return {
        "line": fact.line,
        "call": "grad" if fact.captured else "backward",
        "retain_graph": fact.retained,
        "create_graph": fact.created,
        "failed": fact.failed,
        "nodes": fact.nodes,
        "freed_nodes": fact.freed,
        "saved_bytes": fact.bytes,
        "buffers": [_buffer(buffer) for buffer in fact.buffers],
    }


def _buffer(fact: BufferFact) -> dict[str, Any]:
    return {"line": fact.line, "nodes": fact.nodes, "names": fact.names, "bytes": fact.bytes}
