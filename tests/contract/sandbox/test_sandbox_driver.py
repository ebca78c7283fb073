"""What every sandbox driver promises about files, commands and the life of a box (smp/ports/sandbox_driver.py)."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from smp.domain.errors import Invalid, SandboxFailed, SandboxNotFound
from smp.domain.ids import CommitSha, FilePath, SandboxId
from smp.domain.sandboxes import ChangedFile, Execution, Limits, Sandbox, TracerName
from smp.ports.sandbox_driver import SandboxDriver

pytestmark = pytest.mark.sandbox

Spawn = Callable[..., Sandbox]
Run = Callable[..., Execution]


def text(path: str, content: str | None, *, mode: int = 0o644) -> ChangedFile:
    return ChangedFile(path=FilePath(path), content=None if content is None else content.encode(), mode=mode)


def test_capabilities_are_found_by_trying(driver: SandboxDriver) -> None:
    found = driver.capabilities()
    assert (found.available, found.copy_on_write, found.missing) == (True, True, ())
    assert found.egress in ("ebpf", "seccomp-notify")
    assert found.tracers == ("monitoring",)


def test_a_box_has_the_files_of_the_commit_and_runs_its_tests(run: Run) -> None:
    done = run("cat README.md && ./run.sh && python -m pytest -q")
    assert done.exit_code == 0, done.stdout + done.stderr
    assert done.stdout.startswith("read me\nran\n")
    assert "1 passed" in done.stdout


def test_exit_code_and_both_streams_come_back_apart(run: Run) -> None:
    done = run("echo out; echo err >&2; exit 3")
    assert (done.exit_code, done.stdout, done.stderr) == (3, "out\n", "err\n")
    assert run("no_such_command_here").exit_code == 127
    assert run("kill -TERM $$").exit_code == 128 + 15


def test_output_that_is_not_utf8_is_replaced(run: Run) -> None:
    assert run("printf 'gr\\303\\266sse \\377\\n'").stdout == "grösse \ufffd\n"


def test_writes_are_seen_by_the_next_command_and_by_nobody_else(run: Run, spawn: Spawn, repo: Path) -> None:
    other = spawn()
    assert run("echo changed > README.md && rm -r docs && mkdir new && echo x > new/file").exit_code == 0
    assert run("cat README.md new/file; ls docs").stdout == "changed\nx\n"
    assert run("cat README.md; ls docs/a; test -e new || echo absent", on=other).stdout == (
        "read me\none.txt\ntwo.txt\nabsent\n"
    )
    assert (repo / "README.md").read_text() == "read me\n"


def test_a_repository_is_the_same_to_the_last_byte_afterwards(run: Run, repo: Path) -> None:
    def state() -> dict[str, bytes]:
        return {str(path): path.read_bytes() for path in sorted((repo / ".git").rglob("*")) if path.is_file()}

    before = state()
    done = run(
        "git config core.hooksPath /work/hooks; mkdir hooks; printf '#!/bin/sh\\ntouch /work/hooked' > hooks/pre-commit; "
        "git add -A && git commit -qm 'from the box' && git gc -q && git log --format=%s"
    )
    assert done.stdout == "from the box\n1\n"
    assert state() == before


def test_git_works_in_a_box(run: Run) -> None:
    assert run("git status --porcelain && git rev-parse --abbrev-ref HEAD").stdout == "box\n"
    done = run(
        "echo more >> README.md && git diff --stat && git stash -q && cat README.md && git stash pop -q && git fsck"
    )
    assert done.exit_code == 0, done.stderr
    assert "README.md | 1 +" in done.stdout


def test_packages_of_node_are_lent_and_never_those_that_a_link_leads_to(run: Run, repo: Path, tmp_path: Path) -> None:
    assert run("ls /node_modules").exit_code != 0
    (repo / "node_modules" / "left-pad").mkdir(parents=True)
    (repo / "node_modules" / "left-pad" / "index.js").write_text("lent\n")
    assert run("cat /node_modules/left-pad/index.js").stdout == "lent\n"
    assert run("echo x > /node_modules/left-pad/index.js").exit_code != 0
    (repo / "node_modules").rename(tmp_path / "elsewhere")
    (repo / "node_modules").symlink_to(tmp_path / "elsewhere")
    assert run("ls /node_modules").exit_code != 0


def test_an_older_commit_is_checked_out(repo: Path, head: CommitSha, spawn: Spawn, run: Run) -> None:
    (repo / "README.md").write_text("second\n")
    subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@t", "commit", "-qam2"], cwd=repo, check=True)
    (repo / "README.md").write_text("not committed\n")
    second = subprocess.run(["git", "rev-parse", "HEAD"], cwd=repo, check=True, capture_output=True, text=True)
    assert run("cat README.md", on=spawn(head)).stdout == "read me\n"
    assert run("cat README.md", on=spawn(CommitSha(second.stdout.strip()))).stdout == "second\n"


def test_changes_are_files_links_and_deletions_against_the_commit(
    run: Run, driver: SandboxDriver, box: Sandbox
) -> None:
    run(
        "echo changed > README.md; rm docs/a/one.txt; ln -s README.md link; chmod +x src/shop/money.py; "
        "touch src/shop/__init__.py; mkdir empty; echo log > x.log; mkdir build __pycache__; "
        "touch build/b __pycache__/m.pyc; printf '#!/bin/sh\\n' > new.sh; chmod +x new.sh"
    )
    found = {change.path: (change.content, change.mode, change.link) for change in driver.changes(box)}
    assert found == {
        "README.md": (b"changed\n", 0o644, None),
        "docs/a/one.txt": (None, 0o644, None),
        "link": (b"README.md", 0o120000, "README.md"),
        "new.sh": (b"#!/bin/sh\n", 0o755, None),
        "src/shop/money.py": (b"def double(x):\n    return 2 * x\n", 0o755, None),
    }
    assert list(found) == sorted(found)


def test_a_folder_that_was_removed_or_replaced_deletes_all_below_it(
    run: Run, driver: SandboxDriver, box: Sandbox
) -> None:
    run("rm -r docs && mkdir -p docs/a && echo again > docs/a/two.txt && rm -r tests && echo file > tests")
    found = {change.path: change.content for change in driver.changes(box)}
    assert found == {
        "docs/a/one.txt": None,
        "docs/a/two.txt": b"again\n",
        "tests": b"file\n",
        "tests/test_money.py": None,
    }


def test_an_ignored_file_that_the_commit_has_is_still_a_change(run: Run, driver: SandboxDriver, box: Sandbox) -> None:
    run("echo '*.md' >> .gitignore; echo changed > README.md; echo new > NEW.md")
    assert [change.path for change in driver.changes(box)] == [".gitignore", "README.md"]


def test_writing_from_outside_is_seen_inside_and_read_back(run: Run, driver: SandboxDriver, box: Sandbox) -> None:
    wanted = (
        text("README.md", "written\n"),
        text("deep/er/new.py", "x = 1\n"),
        text("run2.sh", "#!/bin/sh\necho two\n", mode=0o755),
        text("docs/a/one.txt", None),
        text("never/was", None),
    )
    for _ in range(2):  # repeating is harmless
        driver.write(box, wanted)
    done = run("cat README.md deep/er/new.py && ./run2.sh && ls docs/a && echo more >> deep/er/new.py && ls")
    assert done.stdout.startswith("written\nx = 1\ntwo\ntwo.txt\n"), done.stderr
    read = driver.read(box, [FilePath("deep/er/new.py"), FilePath("docs/a/one.txt"), FilePath("docs/a/two.txt")])
    assert [file.content for file in read] == [b"x = 1\nmore\n", None, b"two\n"]
    assert [change.path for change in driver.changes(box)] == [
        "README.md", "deep/er/new.py", "docs/a/one.txt", "run2.sh",
    ]  # fmt: skip


def test_writing_into_a_folder_that_the_box_removed_does_not_bring_the_rest_back(
    run: Run, driver: SandboxDriver, box: Sandbox
) -> None:
    run("rm -r docs")
    driver.write(box, [text("docs/a/two.txt", "only\n")])
    assert run("find docs -type f").stdout == "docs/a/two.txt\n"
    assert [change.content for change in driver.read(box, [FilePath("docs/a/one.txt")])] == [None]


def test_a_link_that_the_box_planted_leads_nowhere(
    run: Run, driver: SandboxDriver, box: Sandbox, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir(mode=0o777)
    (outside / "secret").write_text("secret")
    run(f"ln -s {outside} way; ln -s {outside}/secret file; rm README.md; ln -s {outside}/secret README.md")
    with pytest.raises(Invalid):
        driver.write(box, [text("way/x", "x")])
    driver.write(box, [text("README.md", "mine\n")])
    assert (outside / "secret").read_text() == "secret"
    assert os.listdir(outside) == ["secret"]
    read = driver.read(box, [FilePath("way/secret"), FilePath("file"), FilePath("README.md")])
    assert [file.content for file in read] == [None, os.fsencode(outside / "secret"), b"mine\n"]
    assert all(change.content != b"secret" for change in driver.changes(box))


@pytest.mark.parametrize("path", ["/etc/passwd", "../x", "a/../../x", ".git/config", "", "a//b"])
def test_a_path_outside_the_checkout_is_refused(driver: SandboxDriver, box: Sandbox, path: str) -> None:
    with pytest.raises(Invalid):
        driver.write(box, [text("README.md", "changed"), text(path, "x")])
    assert driver.changes(box) == ()  # all or nothing


def test_files_in_the_output_folder_come_back_and_links_do_not(run: Run) -> None:
    done = run(
        "mkdir $SMP_OUT/sub; echo 1 > $SMP_OUT/a; echo 2 > $SMP_OUT/sub/b; ln -s /etc/passwd $SMP_OUT/c; mkfifo $SMP_OUT/d"
    )
    assert done.outputs == {"a": b"1\n", "sub/b": b"2\n"}
    assert run("ls $SMP_OUT").stdout == ""


def test_spawning_again_finds_the_box(driver: SandboxDriver, box: Sandbox, run: Run) -> None:
    run("echo kept > kept")
    assert driver.spawn(box.spec) == box
    assert run("cat kept").stdout == "kept\n"


def test_a_destroyed_box_is_gone(driver: SandboxDriver, box: Sandbox) -> None:
    assert driver.destroy(box) > 0
    assert not Path(box.state_dir).exists()
    assert driver.destroy(box) == 0
    with pytest.raises(SandboxNotFound):
        driver.execute(box, "true", limits=Limits())
    with pytest.raises(SandboxNotFound):
        driver.changes(box)


def test_a_folder_without_rights_is_removed_as_well(driver: SandboxDriver, box: Sandbox, run: Run) -> None:
    run("mkdir -p locked/deep && touch locked/deep/x && chmod 000 locked/deep locked")
    driver.destroy(box)
    assert not Path(box.state_dir).exists()


@pytest.mark.parametrize(
    "wrong",
    [{"image": "python:3.12"}, {"services": ("postgres:17",)}, {"tracer": TracerName.EBPF}],
)
def test_what_cannot_be_honoured_is_refused(driver: SandboxDriver, box: Sandbox, wrong: dict[str, object]) -> None:
    spec = replace(box.spec, sandbox_id=SandboxId("box_refused00000"), **wrong)
    with pytest.raises(SandboxFailed):
        driver.spawn(spec)


def test_an_exception_of_the_heartbeat_ends_the_command(driver: SandboxDriver, box: Sandbox, run: Run) -> None:
    class Stop(BaseException):
        pass

    beats = []

    def beat() -> None:
        beats.append(1)
        if len(beats) == 2:
            raise Stop

    with pytest.raises(Stop):
        driver.execute(box, "touch begun; sleep 300", limits=Limits(), heartbeat=beat)
    assert run("ls begun; ps -e 2>/dev/null | grep -c sleep").stdout.startswith("begun\n")


def test_the_lower_checkout_is_made_once_and_keeps_modes_and_links(
    commit_files: Callable[[dict[str, str]], Path], driver: SandboxDriver, head: CommitSha, box: Sandbox, run: Run
) -> None:
    lower = Path(driver.lower(head))
    before = lower.stat()
    run("echo x > README.md; rm run.sh")
    assert driver.lower(head) == str(lower)
    assert (lower.stat().st_ino, (lower / "README.md").read_text()) == (before.st_ino, "read me\n")
    assert (lower / "run.sh").stat().st_mode & 0o777 == 0o755
    assert not (lower / ".git").exists()
