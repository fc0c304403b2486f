"""Layers by address: a kind and a key, and for a tenant's users and conversations the tenant as well.

    ("global", "")                      everyone
    ("tenant", "acme")                  the callers of a tenant
    ("user", "ada")                     a user without a tenant;     ("user", "ada", "acme")         one of a tenant
    ("conversation", "c1")              likewise;                    ("conversation", "c1", "acme")
    ("agent", "researcher")             the callers that say they are this agent

The tenant is part of the address because two tenants may have a user of the same name.
"""

from __future__ import annotations

from typing import TypeAlias

from toolcrib.call import Caller
from toolcrib.errors import SettingsError

Layer: TypeAlias = tuple[str, str] | tuple[str, str, str]

GLOBAL: Layer = ("global", "")
#: From far to near.
KINDS = ("global", "tenant", "user", "conversation", "agent")
_OF_A_TENANT = ("user", "conversation")


def addresses(caller: Caller) -> list[Layer]:
    """The layers a caller can see, far to near, whether anything is in them or not."""
    tenant = caller.tenant
    found: list[Layer] = [GLOBAL]
    if tenant:
        found.append(("tenant", tenant))
    if caller.user:
        found.append(("user", caller.user, tenant) if tenant else ("user", caller.user))
    if caller.conversation:
        found.append(("conversation", caller.conversation, tenant) if tenant else ("conversation", caller.conversation))
    if caller.agent:
        found.append(("agent", caller.agent))
    return found


def layer_of(kind: str, caller: Caller) -> Layer:
    """The address of the caller's own layer of a kind. Raises SettingsError where the caller has none."""
    for at in addresses(caller):
        if at[0] == kind:
            return at
    raise SettingsError(f"this caller has no {kind!r} layer; the kinds are {', '.join(KINDS)}")


def tenant_of(layer: Layer) -> str | None:
    """The tenant a layer belongs to."""
    if len(layer) == 3:
        return layer[2]
    return layer[1] if layer[0] == "tenant" else None


def address(layer: Layer) -> Layer:
    """The address as the catalog keeps it. Raises SettingsError where it is none."""
    parts = tuple(layer)
    texts = all(isinstance(part, str) for part in parts)
    if texts and parts == GLOBAL:
        return GLOBAL
    if parts and texts and all(parts) and parts[0] in KINDS[1:]:
        if len(parts) == 2:
            return (parts[0], parts[1])
        if len(parts) == 3 and parts[0] in _OF_A_TENANT:
            return (parts[0], parts[1], parts[2])
    raise SettingsError(
        f"{layer!r} names no layer; ('global', ''), ('tenant', key), ('user', key), ('conversation', key) and "
        "('agent', key) do, and ('user', key, tenant) or ('conversation', key, tenant) for a tenant's"
    )
