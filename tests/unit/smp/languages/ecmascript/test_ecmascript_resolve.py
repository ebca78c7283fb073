"""Where module specifiers lead, rule by rule, over lists of paths: no file is ever opened."""

from __future__ import annotations

import json
from typing import Any

import pytest

from smp.languages.ecmascript.resolve import ModuleResolver, Outcome


def resolver(files: str, **configs: Any) -> ModuleResolver:
    """A repository of the given paths; configurations by path with `/` and `.` written as `__` and `_`-free keys."""
    contents = {
        path: value if isinstance(value, bytes) else json.dumps(value).encode() for path, value in configs.items()
    }
    return ModuleResolver(frozenset(files.split()) | contents.keys(), contents)


@pytest.mark.parametrize(
    ("files", "importer", "specifier", "expected"),
    [
        ("a.ts b.ts", "a.ts", "./b", "b.ts"),
        ("a.ts b.tsx", "a.ts", "./b", "b.tsx"),
        ("a.ts b.ts b.js", "a.ts", "./b", "b.ts"),
        ("a.js b.ts b.js", "a.js", "./b", "b.js"),
        ("a.ts b.ts", "a.ts", "./b.js", "b.ts"),
        ("a.ts b.tsx", "a.ts", "./b.js", "b.tsx"),
        ("a.ts b.mts", "a.ts", "./b.mjs", "b.mts"),
        ("a.js b.js b.ts", "a.js", "./b.js", "b.js"),
        ("a.ts lib/index.ts", "a.ts", "./lib", "lib/index.ts"),
        ("a.ts lib.ts lib/index.ts", "a.ts", "./lib", "lib.ts"),
        ("src/a.ts src/index.ts", "src/a.ts", ".", "src/index.ts"),
        ("src/x/a.ts src/index.ts", "src/x/a.ts", "..", "src/index.ts"),
        ("a.ts foo.bar.ts", "a.ts", "./foo.bar", "foo.bar.ts"),
        ("a.ts data.json", "a.ts", "./data.json", "data.json"),
        ("a.ts b.ts", "a.ts", "./b?worker", "b.ts"),
        ("a.ts b.ts", "a.ts", "./b.ts", "b.ts"),
    ],
)
def test_relative_specifiers_follow_suffix_and_index_rules(
    files: str, importer: str, specifier: str, expected: str
) -> None:
    assert resolver(files).resolve(importer, specifier).path == expected


def test_a_relative_specifier_without_a_file_is_missing_and_never_external() -> None:
    assert resolver("src/a.ts").resolve("src/a.ts", "./nope").outcome is Outcome.MISSING
    assert resolver("src/a.ts").resolve("src/a.ts", "../../outside").outcome is Outcome.MISSING


def test_a_declaration_beside_javascript_gives_types_and_the_javascript_runs() -> None:
    found = resolver("a.ts b.js b.d.ts").resolve("a.ts", "./b")
    assert (found.path, found.types) == ("b.js", "b.d.ts")
    assert resolver("a.ts b.d.ts").resolve("a.ts", "./b").path == "b.d.ts"


def test_paths_take_the_longest_prefix_and_the_first_target_that_exists() -> None:
    modules = resolver(
        "src/a.ts src/lib/x.ts gen/y.ts src/only.ts src/deep/z.ts",
        **{
            "tsconfig.json": b"""{ // comment
          "compilerOptions": { "baseUrl": ".", "paths": {
            "@/*": ["missing/*", "src/*", "gen/*"], "@/deep/*": ["src/deep/*"], "exact": ["src/only"], } } }"""
        },
    )
    assert modules.resolve("src/a.ts", "@/lib/x").path == "src/lib/x.ts"
    assert modules.resolve("src/a.ts", "@/y").path == "gen/y.ts"
    assert modules.resolve("src/a.ts", "@/deep/z").path == "src/deep/z.ts"
    assert modules.resolve("src/a.ts", "exact").path == "src/only.ts"
    assert modules.resolve("src/a.ts", "exactly").outcome is Outcome.EXTERNAL


def test_base_url_makes_bare_specifiers_local() -> None:
    modules = resolver("src/a.ts src/lib/x.ts", **{"tsconfig.json": {"compilerOptions": {"baseUrl": "src"}}})
    assert modules.resolve("src/a.ts", "lib/x").path == "src/lib/x.ts"


def test_the_nearest_configuration_governs_and_inherits_what_it_does_not_say() -> None:
    modules = resolver(
        "app/a.ts app/core/x.ts shared/x.ts other/b.ts",
        **{
            "tsconfig.json": {"compilerOptions": {"paths": {"~/*": ["./shared/*"]}}},
            "config/base.tsconfig.json": {"compilerOptions": {"baseUrl": "../app", "paths": {"~/*": ["core/*"]}}},
            "app/tsconfig.json": {"extends": "../config/base.tsconfig"},
        },
    )
    assert modules.resolve("app/a.ts", "~/x").path == "app/core/x.ts"
    assert modules.resolve("other/b.ts", "~/x").path == "shared/x.ts"


def test_a_solution_file_hands_over_to_the_reference_that_holds_the_file() -> None:
    modules = resolver(
        "src/a.ts src/x.ts e2e/b.ts e2e/x.ts",
        **{
            "tsconfig.json": {
                "files": [],
                "references": [{"path": "./tsconfig.app.json"}, {"path": "./tsconfig.e2e.json"}],
            },
            "tsconfig.app.json": {"include": ["src"], "compilerOptions": {"paths": {"@/*": ["./src/*"]}}},
            "tsconfig.e2e.json": {"include": ["e2e/**/*.ts"], "compilerOptions": {"paths": {"@/*": ["./e2e/*"]}}},
        },
    )
    assert modules.resolve("src/a.ts", "@/x").path == "src/x.ts"
    assert modules.resolve("e2e/b.ts", "@/x").path == "e2e/x.ts"


def test_root_dirs_are_one_folder() -> None:
    modules = resolver(
        "src/ui/a.ts gen/ui/b.ts", **{"tsconfig.json": {"compilerOptions": {"rootDirs": ["src", "gen"]}}}
    )
    assert modules.resolve("src/ui/a.ts", "./b").path == "gen/ui/b.ts"


def test_an_endless_extends_chain_ends() -> None:
    modules = resolver(
        "a.ts b.ts",
        **{"tsconfig.json": {"extends": "./tsconfig.b.json"}, "tsconfig.b.json": {"extends": "./tsconfig.json"}},
    )
    assert modules.resolve("a.ts", "./b").path == "b.ts"


WORKSPACE = {"package.json": {"workspaces": ["packages/*", "!packages/old"]}}


def test_a_workspace_package_resolves_to_the_source_of_its_build() -> None:
    modules = resolver(
        "packages/app/src/a.ts packages/core/src/index.ts packages/core/src/date.ts packages/core/dist/index.js",
        **WORKSPACE,
        **{
            "packages/core/package.json": {
                "name": "@acme/core",
                "exports": {
                    ".": {"types": "./dist/index.d.ts", "import": "./dist/index.js"},
                    "./*": "./dist/*.js",
                    "./secret": None,
                },
            },
            "packages/app/package.json": {"name": "@acme/app"},
        },
    )
    importer = "packages/app/src/a.ts"
    assert modules.resolve(importer, "@acme/core").path == "packages/core/src/index.ts"
    assert modules.resolve(importer, "@acme/core/date").path == "packages/core/src/date.ts"
    assert modules.resolve(importer, "@acme/core/secret").outcome is Outcome.MISSING
    assert modules.resolve(importer, "@acme/other").package == "@acme/other"


def test_output_folders_of_the_compiler_map_back_to_its_sources() -> None:
    modules = resolver(
        "packages/app/a.ts packages/core/code/main.ts",
        **WORKSPACE,
        **{
            "packages/core/package.json": {"name": "core", "main": "target/main.js"},
            "packages/core/tsconfig.json": {"compilerOptions": {"outDir": "target", "rootDir": "code"}},
        },
    )
    assert modules.resolve("packages/app/a.ts", "core").path == "packages/core/code/main.ts"


def test_a_package_outside_the_workspace_is_external_even_if_its_name_is_in_the_repository() -> None:
    manifest = {"name": "left-pad", "main": "index.js"}
    modules = resolver(
        "a.js fixtures/left-pad/index.js packages/old/index.js",
        **WORKSPACE,
        **{"fixtures/left-pad/package.json": manifest, "packages/old/package.json": {"name": "old"}},
    )
    assert modules.resolve("a.js", "left-pad").outcome is Outcome.EXTERNAL
    assert modules.resolve("a.js", "old").outcome is Outcome.EXTERNAL


def test_pnpm_workspaces_folder_dependencies_and_self_reference() -> None:
    modules = resolver(
        "libs/a/index.js libs/b/main.js tool/index.js libs/a/x.js",
        **{
            "pnpm-workspace.yaml": b"packages:\n  - 'libs/*'\n",
            "libs/a/package.json": {"name": "a", "dependencies": {"tool": "file:../../tool"}},
            "libs/b/package.json": {"name": "b", "main": "./main.js"},
            "tool/package.json": {"name": "tool"},
        },
    )
    assert modules.resolve("libs/a/index.js", "b").path == "libs/b/main.js"
    assert modules.resolve("libs/a/index.js", "tool").path == "tool/index.js"
    assert modules.resolve("libs/b/main.js", "tool").outcome is Outcome.EXTERNAL
    assert modules.resolve("libs/a/index.js", "a/x").path == "libs/a/x.js"


def test_private_names_follow_the_imports_of_their_own_package() -> None:
    modules = resolver(
        "src/a.js src/db.js src/deep/x.js",
        **{
            "package.json": {"imports": {"#db": {"node": "./src/db.js"}, "#deep/*": "./src/deep/*.js", "#ext": "chalk"}}
        },
    )
    assert modules.resolve("src/a.js", "#db").path == "src/db.js"
    assert modules.resolve("src/a.js", "#deep/x").path == "src/deep/x.js"
    assert modules.resolve("src/a.js", "#ext").package == "chalk"
    assert modules.resolve("src/a.js", "#nope").outcome is not Outcome.FILE


def test_platform_modules_are_external_with_one_spelling() -> None:
    modules = resolver("a.ts fs.ts")
    assert modules.resolve("a.ts", "node:fs").package == "node:fs"
    assert modules.resolve("a.ts", "fs").package == "node:fs"
    assert modules.resolve("a.ts", "./fs").path == "fs.ts"


def test_module_kind_comes_from_suffix_then_nearest_manifest() -> None:
    modules = resolver(
        "a.js b.mjs c.cjs old/d.js", **{"package.json": {"type": "module"}, "old/package.json": {"type": "commonjs"}}
    )
    assert [modules.module_type(path) for path in ("a.js", "b.mjs", "c.cjs", "old/d.js")] == [
        "module",
        "module",
        "commonjs",
        "commonjs",
    ]
    assert resolver("a.js").module_type("a.js") == ""


def test_a_damaged_configuration_counts_as_absent() -> None:
    modules = resolver(
        "a.ts b.ts", **{"tsconfig.json": b"{ broken", "package.json": b"[1]", "pnpm-workspace.yaml": b"a: ["}
    )
    assert modules.resolve("a.ts", "./b").path == "b.ts"
