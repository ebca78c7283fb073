"""The part of GitLab's REST API that is used here, by its documentation: https://docs.gitlab.com/api/merge_requests/.

Parameters of listing, creating and updating merge requests, with their types, as an OpenAPI 3.0 document.
"""

from __future__ import annotations

from typing import Any


def _named(place: str, schemas: dict[str, dict[str, Any]], required: tuple[str, ...] = ()) -> list[dict[str, Any]]:
    return [
        {"name": name, "in": place, "required": place == "path" or name in required, "schema": schema}
        for name, schema in schemas.items()
    ]


def _body(properties: dict[str, dict[str, Any]], required: tuple[str, ...] = ()) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    if required:
        schema["required"] = list(required)
    return {"required": True, "content": {"application/json": {"schema": schema}}}


_TEXT: dict[str, Any] = {"type": "string"}
_NUMBER: dict[str, Any] = {"type": "integer", "minimum": 1}
_FLAG: dict[str, Any] = {"type": "boolean"}
_PROJECT = _named("path", {"id": {"type": "string", "pattern": "^[^/]+(/[^/]+)+$"}})
_SHARED: dict[str, dict[str, Any]] = {
    "allow_collaboration": _FLAG,
    "assignee_id": {"type": "integer"},
    "assignee_ids": {"type": "array", "items": {"type": "integer"}},
    "description": {"type": "string", "maxLength": 1_048_576},
    "labels": _TEXT,
    "milestone_id": {"type": "integer"},
    "remove_source_branch": _FLAG,
    "reviewer_ids": {"type": "array", "items": {"type": "integer"}},
    "squash": _FLAG,
    "target_branch": _TEXT,
    "title": {"type": "string", "maxLength": 255},
}

GITLAB: dict[str, Any] = {
    "paths": {
        "/projects/{id}/merge_requests": {
            "get": {
                "parameters": [
                    *_PROJECT,
                    *_named(
                        "query",
                        {
                            "state": {"type": "string", "enum": ["all", "opened", "closed", "locked", "merged"]},
                            "source_branch": _TEXT,
                            "target_branch": _TEXT,
                            "order_by": _TEXT,
                            "sort": {"type": "string", "enum": ["asc", "desc"]},
                            "page": _NUMBER,
                            "per_page": {**_NUMBER, "maximum": 100},
                        },
                    ),
                ]
            },
            "post": {
                "parameters": _PROJECT,
                "requestBody": _body(
                    {**_SHARED, "source_branch": _TEXT, "target_project_id": {"type": "integer"}},
                    ("source_branch", "target_branch", "title"),
                ),
            },
        },
        "/projects/{id}/merge_requests/{merge_request_iid}": {
            "put": {
                "parameters": [*_PROJECT, *_named("path", {"merge_request_iid": _NUMBER})],
                "requestBody": _body(
                    {
                        **_SHARED,
                        "discussion_locked": _FLAG,
                        "state_event": {"type": "string", "enum": ["close", "reopen"]},
                    }
                ),
            }
        },
    }
}
