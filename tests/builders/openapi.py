"""An OpenAPI 3.0 description as a judge of requests: path, method, parameters, body."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from jsonschema import Draft4Validator

METHODS = ("get", "post", "put", "patch", "delete")


class Description:
    """Holds a document whose references all lead into itself."""

    def __init__(self, document: dict[str, Any]) -> None:
        self._document = document
        self._patterns = [(_pattern(template), template) for template in document["paths"]]

    def example(self, name: str) -> dict[str, Any]:
        """A published answer."""
        found = self._document["components"]["examples"][name]["value"]
        assert isinstance(found, dict)
        return found

    def problems(self, method: str, target: str, body: object) -> list[str]:
        """What is wrong with a request; body is None where there is none."""
        parts = urlsplit(target)
        # A template without parameters is more particular than one with them.
        fits = [(found, template) for pattern, template in self._patterns if (found := pattern.fullmatch(parts.path))]
        operations = [(found, self._document["paths"][template]) for found, template in fits]
        known = [(found, item) for found, item in operations if method.lower() in item]
        if not known:
            return [f"no operation {method} {parts.path}"]
        found, item = min(known, key=lambda one: len(one[0].groups()))
        operation = item[method.lower()]
        given = [self._meant(one) for one in [*item.get("parameters", []), *operation.get("parameters", [])]]
        query = parse_qs(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query))
        names = {one["name"] for one in given if one["in"] == "query"}
        wrong = [f"unknown query parameter {name!r}" for name in query if name not in names]
        for one in given:
            values = _values(one, found, query)
            if one.get("required") and not values:
                wrong.append(f"parameter {one['name']!r} is missing")
            wrong += [problem for value in values for problem in self._misfits(one["schema"], value, one["name"])]
        return wrong + self._body_problems(operation.get("requestBody"), body)

    def _body_problems(self, described: dict[str, Any] | None, body: object) -> list[str]:
        if described is None:
            return [] if body is None else ["a body that is not described"]
        if body is None:
            return ["the body is missing"] if self._meant(described).get("required") else []
        schema = self._meant(self._meant(described)["content"]["application/json"]["schema"])
        wrong = [f"body: {error.message}" for error in self._validator(schema).iter_errors(body)]
        properties = schema.get("properties", {})
        return wrong + [
            f"unknown field {name!r}" for name in (body if isinstance(body, dict) else {}) if name not in properties
        ]

    def _misfits(self, schema: dict[str, Any], text: str, name: str) -> list[str]:
        meant = self._meant(schema)
        value = int(text) if meant.get("type") == "integer" and text.isdecimal() else text
        return [f"{name}: {error.message}" for error in self._validator(meant).iter_errors(value)]

    def _validator(self, schema: dict[str, Any]) -> Draft4Validator:
        return Draft4Validator({**schema, "components": self._document.get("components", {})})

    def _meant(self, item: dict[str, Any]) -> dict[str, Any]:
        while "$ref" in item:
            found: Any = self._document
            for step in item["$ref"].removeprefix("#/").split("/"):
                found = found[step.replace("~1", "/").replace("~0", "~")]
            item = found
        return item


def _pattern(template: str) -> re.Pattern[str]:
    """`{name}` is one segment, encoded; its group has the parameter's name."""
    parts = re.split(r"\{([^}]+)\}", template)
    text = "".join(f"(?P<{_group(part)}>[^/]+)" if index % 2 else re.escape(part) for index, part in enumerate(parts))
    return re.compile(text)


def _group(parameter: str) -> str:
    return parameter.replace("-", "_")


def _values(parameter: dict[str, Any], found: re.Match[str], query: dict[str, list[str]]) -> list[str]:
    if parameter["in"] == "path":
        return [unquote(found[_group(parameter["name"])])]
    return query.get(parameter["name"], []) if parameter["in"] == "query" else []
