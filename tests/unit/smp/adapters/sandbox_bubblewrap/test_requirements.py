"""What a checkout's tests need is read from its files; nothing chooses a server, a path or code to run."""

from __future__ import annotations

from pathlib import Path

from smp.adapters.sandbox_bubblewrap.requirements import read_requirements


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def test_an_empty_checkout_gets_the_tools_that_every_box_has(tmp_path: Path) -> None:
    assert read_requirements(tmp_path, ()).lines == ("coverage", "pytest")


def test_a_pin_of_such_a_tool_wins(tmp_path: Path) -> None:
    write(tmp_path, {"requirements.txt": "PyTest==8.0\n"})
    assert read_requirements(tmp_path, ()).lines == ("PyTest==8.0", "coverage")


def test_settings_replace_the_files(tmp_path: Path) -> None:
    write(tmp_path, {"requirements.txt": "flask\n"})
    assert read_requirements(tmp_path, ("django>=5",)).lines == ("coverage", "django>=5", "pytest")


def test_files_are_followed_and_cleaned(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "requirements-dev.txt": "-r base.txt\n-c requirements/limits.txt\nattrs ; python_version > '3.8'  # why\n",
            "base.txt": "\n# comment\nflask>=2 \\\n    --hash=sha256:abc\n-r base.txt\n",
            "requirements/limits.txt": "click<9\n",
        },
    )
    found = read_requirements(tmp_path, ())
    assert found.lines == ("attrs ; python_version > '3.8'", "click<9", "coverage", "flask>=2", "pytest")
    assert found.left_out == ()


def test_servers_paths_and_urls_are_left_out_and_named(tmp_path: Path) -> None:
    lines = [
        "--index-url https://evil.example/simple", "-e .", "./local", "local/pkg.whl", "git+https://example.com/x.git",
        "pkg @ https://example.com/pkg.whl", "https://example.com/pkg.whl", "--no-binary :all:",
    ]  # fmt: skip
    write(tmp_path, {"requirements.txt": "\n".join(lines)})
    found = read_requirements(tmp_path, ())
    assert found.lines == ("coverage", "pytest")
    assert list(found.left_out) == lines


def test_an_include_does_not_leave_the_checkout(tmp_path: Path) -> None:
    write(tmp_path, {"outside.txt": "secret-package\n", "repo/requirements.txt": "-r ../outside.txt\nflask\n"})
    (tmp_path / "repo/requirements-dev.txt").symlink_to(tmp_path / "outside.txt")
    assert read_requirements(tmp_path / "repo", ()).lines == ("coverage", "flask", "pytest")


def test_a_project_table_counts_with_its_test_groups(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "pyproject.toml": """
[project]
name = "Shop"
dependencies = ["flask>=2"]
[project.optional-dependencies]
test = ["hypothesis", "shop[extra]"]
docs = ["sphinx"]
[dependency-groups]
dev = ["mypy", {include-group = "test"}]
"""
        },
    )
    assert read_requirements(tmp_path, ()).lines == ("coverage", "flask>=2", "hypothesis", "mypy", "pytest")


def test_a_broken_project_table_is_passed_over(tmp_path: Path) -> None:
    write(tmp_path, {"pyproject.toml": "[project\n"})
    assert read_requirements(tmp_path, ()).lines == ("coverage", "pytest")
