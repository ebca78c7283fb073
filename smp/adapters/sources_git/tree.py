"""The files of a git repository, by git itself: its ignore rules, its objects, its history.

The working tree is listed by `git ls-files -co --exclude-standard`, so that ignore rules hold at every level, in
`.git/info/exclude` and in the user's own file, exactly as git has them. Left out besides: the platform's own state,
dependency folders, links that lead outside, and files that are not source by look or size; those are named with a reason.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import stat
import subprocess
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from smp.adapters.sources_git.history import COMMIT_FORMAT, read_history
from smp.adapters.sources_git.lookout import Lookout
from smp.adapters.sources_git.remembered import Remembered, Seen, recall, remember
from smp.adapters.sources_git.unchanged import RACY_NS, Look, head_key, stamp_of, take_look, walk_folders
from smp.adapters.sources_git.watching import watching
from smp.domain.errors import Invalid, Unavailable
from smp.domain.ids import CommitSha, ContentHash, FilePath
from smp.domain.paths import MAX_FOLDERS
from smp.host_git import HostGit
from smp.ports.source_tree import CommitInfo, Listing, SkippedFile, SourceFile, SourceTree
from smp.settings import Settings

STATE_FOLDER = ".smp"
DEPENDENCY_FOLDERS = frozenset({"node_modules", "bower_components", "site-packages", "__pycache__"})
"""Never indexed, with or without a rule: what package managers and interpreters put there is not the project's."""
GENERATED_NAMES = re.compile(
    r"(\.min\.(js|mjs|cjs|css)|\.bundle\.js|\.map|[-.]lock|-lock\.(json|yaml|yml)|_pb2(_grpc)?\.pyi?|\.pb\.go|\.snap)$"
    r"|^(uv|poetry|cargo|composer|gemfile|pipfile|yarn|bun|flake|deno|mix)\.lock$"
    r"|^npm-shrinkwrap\.json$",
    re.IGNORECASE,
)
SNIFF_BYTES = 8192
"""A NUL among the first bytes makes a file binary, as git itself decides (it looks at 8,000)."""
MINIFIED_LINE = 5_000
"""A line of code this long is nobody's handwriting; looked for in files with code suffixes only."""
CODE_SUFFIXES = (".js", ".mjs", ".cjs", ".jsx", ".ts", ".tsx", ".mts", ".cts", ".css")
HISTORY_LIMIT = 10_000
GIT_TIMEOUT_S = 120
RULE_FILES = frozenset({".gitignore", ".gitattributes", ".gitmodules", ".git"})
"""Names whose coming, change or going may decide over other files."""
_RACY = (-1, -1, -1, -1)


class GitSourceTree(SourceTree):
    """A working tree and its repository.

    Args:
        settings: `repo` is the root of the working tree; files over `index.max_file_bytes` are listed as `too_large`.

    Raises:
        Invalid: The folder is no git repository, or only a part of one.
    """

    def __init__(self, settings: Settings) -> None:
        self._root = Path(os.path.realpath(settings.repo))
        self._prefix = str(self._root) + os.sep
        self._git = HostGit(self._root)
        self._limit = settings.index.max_file_bytes
        self._data_dir = settings.data_dir
        self._seen: dict[FilePath, Seen] = {}
        self._lock = threading.RLock()
        """Held while the tree is listed: who asks meanwhile gets what was found after the change that he asks about."""
        self._lookout = Lookout(str(self._root))
        self._listed: Listing | None = None
        self._recalled = False
        self._kept: tuple[Listing, tuple[FilePath, ...] | None] | None = None
        self._commit: tuple[bytes, CommitSha | None] | None = None
        self._rules: tuple[str, ...] | None = None
        self._dirty: tuple[Listing, CommitSha | None, tuple[FilePath, ...]] | None = None
        self._git_dir, self._common_dir = self._require_repository()

    def _require_repository(self) -> tuple[Path, Path]:
        """The folder of this working tree's git files, and that of the whole repository's."""
        names = ("--absolute-git-dir", "--git-common-dir", "--show-toplevel")
        done = self._run("rev-parse", *names, check=False)
        if done.returncode != 0:
            raise Invalid(self._why_none(done.stderr.decode("utf-8", "replace").strip()), path="repo")
        answers = done.stdout.rstrip(b"\n").split(b"\n")
        if len(answers) != len(names):  # a line break in a path
            answers = [self._run("rev-parse", name).stdout.rstrip(b"\n") for name in names]
        git_dir, common_dir, top = map(os.fsdecode, answers)
        if os.path.realpath(top) != str(self._root):
            raise Invalid(
                f"{str(self._root)!r} is a folder inside the git repository {os.path.realpath(top)!r}; name that one",
                path="repo",
            )
        return self._root / git_dir, self._root / common_dir

    def _why_none(self, said: str) -> str:
        """Why git takes the folder for no working tree: its advice to `git init` would be wrong for most reasons."""
        name = repr(str(self._root))
        if "must be run in a work tree" in said:
            return f"{name} has no working tree (a bare repository, or a .git folder); name a clone of it"
        if "dubious ownership" in said:
            return (
                f"{name} belongs to another user, so git refuses it; run it as its owner, or allow it with: "
                f"git config --global --add safe.directory {name}"
            )
        if os.path.lexists(self._root / ".git"):
            return f"git cannot use the repository {name}: {said.removeprefix('fatal: ')}; git fsck in it says more"
        return f"{name} is no git repository; run `git init` in it first"

    def head(self) -> CommitSha | None:
        key = head_key(self._git_dir, self._common_dir)
        known = self._commit
        if key is not None and known is None:
            self._recall()
            known = self._commit
        if key is not None and known is not None and known[0] == key:
            return known[1]
        self._require_repository()
        done = self._run("rev-parse", "--verify", "--quiet", "HEAD^{commit}", check=False)
        commit = CommitSha(done.stdout.decode("ascii").strip()) if done.returncode == 0 else None
        if key is not None and key == head_key(self._git_dir, self._common_dir):
            self._commit = (key, commit)
        return commit

    def resolve(self, revision: str) -> CommitSha:
        if re.fullmatch(r"[0-9a-fA-F]{4,64}", revision):
            done = self._run("rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}", check=False)
            if done.returncode == 0:
                return CommitSha(done.stdout.decode("ascii").strip())
        raise Invalid(f"no commit {revision!r} in this repository; git log lists them", path="commit_sha")

    def dirty(self, listing: Listing | None = None) -> tuple[FilePath, ...]:
        listing, commit = self.list() if listing is None else listing, self.head()
        known = self._dirty
        if known is not None and known[0] is listing and known[1] == commit:
            return known[2]
        found = self._status()
        with self._lock:
            self._dirty = (listing, commit, found)
            self._remember()
        return found

    def _status(self) -> tuple[FilePath, ...]:
        raw = self._run("status", "--porcelain=v1", "-z", "--untracked-files=all", "--no-renames").stdout
        names = {os.fsdecode(entry[3:]) for entry in raw.split(b"\0") if entry}
        return tuple(sorted(FilePath(name) for name in names if _encodable(name) and not _left_out(name)))

    def list(self, known: dict[FilePath, ContentHash] | None = None) -> Listing:
        with self._lock:
            self._recall()
            changed = self._lookout.changes()
            if self._listed is None or changed is None:
                self._listed = self._list_anew()
            elif changed:
                self._listed = self._list_again(self._listed, changed)
            self._remember()
            return self._listed

    def _list_anew(self) -> Listing:
        self._lookout.forget()
        began = time.time_ns()
        beside = self._beside()
        folders, rules = walk_folders(str(self._root), [""], self._skipper(), self._lookout.watch_folder)
        paths = self._paths()
        files, skipped, self._seen = self._seen_of(paths)
        look = take_look((self._prefix + path for path in paths), folders, rules, beside, began=began)
        self._lookout.keep(look)
        return Listing(files=files, skipped=skipped)

    def _list_again(self, before: Listing, places: frozenset[str]) -> Listing:
        """A listing with what has changed at some places; the same object where that is nothing that is listed."""
        look = self._lookout.look
        changed = [FilePath(place.removeprefix(self._prefix)) for place in sorted(places)]
        if look is None or any(self._decides_over_others(path, look) for path in changed):
            return self._list_anew()
        self._lookout.forget()
        wanted = [path for path in changed if not _left_out(path)]
        found = [path for path in wanted if os.path.isdir(self._prefix + path)]
        skipped = self._skipper(found) if found else _left_out
        start = [path for path in found if not skipped(path)]
        folders, _ = walk_folders(str(self._root), start, skipped, self._lookout.watch_folder)
        paths = self._paths(wanted) if wanted else ()
        if not all(_plain(self._prefix + path) for path in paths):
            return self._list_anew()
        part, named, fresh = self._seen_of(paths)
        look.look_again(places, (self._prefix + path for path in paths), folders)
        self._lookout.keep(look, covered=True)
        return self._replaced(before, wanted, Listing(files=part, skipped=named), fresh)

    def _replaced(self, before: Listing, at: Sequence[FilePath], part: Listing, fresh: dict[FilePath, Seen]) -> Listing:
        """A listing in which what lies at or below some paths is as a listing of these says."""
        exact, below = frozenset(at), tuple(f"{path}/" for path in at)
        gone = {p for p in (*before.files, *(s.path for s in before.skipped)) if p in exact or p.startswith(below)}
        if not gone and not fresh:
            return before
        self._seen = {path: seen for path, seen in self._seen.items() if path not in gone} | fresh
        files = {path: digest for path, digest in before.files.items() if path not in gone} | part.files
        skipped = [*(one for one in before.skipped if one.path not in gone), *part.skipped]
        return Listing(files={path: files[path] for path in sorted(files)}, skipped=_sorted(skipped))

    def _decides_over_others(self, path: FilePath, look: Look) -> bool:
        """Whether what happened there may concern files elsewhere: rules, links and what is behind them, the root itself."""
        full = self._prefix + path
        return (
            path.rpartition("/")[2] in RULE_FILES
            or os.path.isabs(path)
            or not _encodable(path)
            or full in look.apart
            or os.path.islink(full)
        )

    def _recall(self) -> None:
        """Take over, once, what the process before has left."""
        with self._lock:
            if self._recalled:
                return
            self._recalled = True
            left = recall(self._data_dir, self._key())
            if left is None:
                return
            self._seen, self._commit, self._listed = left.seen, left.head, left.listing
            self._lookout.keep(left.look)
            if left.head is not None and left.dirty is not None:
                self._dirty = (left.listing, left.head[1], left.dirty)
            self._kept = (left.listing, left.dirty)

    def _remember(self) -> None:
        """Leave it to the next process; once for each listing, and once more when it is known what is dirty."""
        look, listing = self._lookout.look, self._listed
        if look is None or listing is None or not look.trusted:
            return
        known = self._dirty
        dirty = known[2] if known is not None and known[0] is listing and self._is_head(known[1]) else None
        new = self._kept is None or self._kept[0] is not listing
        if new or (dirty is not None and self._kept != (listing, dirty)):
            self._kept = (listing, dirty)
            remember(self._data_dir, Remembered(self._key(), look, listing, self._seen, self._commit, dirty))

    def _is_head(self, commit: CommitSha | None) -> bool:
        return self._commit is not None and self._commit[1] == commit

    def _key(self) -> str:
        """By which rules, of whom and where this process lists."""
        names = (GENERATED_NAMES.pattern, CODE_SUFFIXES, sorted(DEPENDENCY_FOLDERS), MAX_FOLDERS, STATE_FOLDER)
        bounds = (self._limit, SNIFF_BYTES, MINIFIED_LINE)
        user = (os.geteuid(), str(Path.home()), os.environ.get("XDG_CONFIG_HOME", ""))
        return repr((str(self._root), str(self._git_dir), str(self._common_dir), user, bounds, names))

    def _skipper(self, below: Iterable[FilePath] = ()) -> Callable[[str], bool]:
        """Which folders hold nothing that git would list: those that it ignores whole, and ours."""
        listing = ("ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory", "--")
        raw = self._run(*listing, *(f":(literal){path}" for path in below)).stdout
        ignored = {os.fsdecode(name[:-1]) for name in raw.split(b"\0") if name.endswith(b"/")}
        return lambda folder: folder in ignored or _left_out(folder)

    def _beside(self) -> tuple[str, ...]:
        """What git's list of files rests on beside the tree."""
        if self._rules is None:
            done = self._run("config", "--path", "--get", "core.excludesFile", check=False)
            home = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
            named = os.fsdecode(done.stdout.rstrip(b"\n")) or str(home / "git" / "ignore")
            files = (self._git_dir / "index", self._common_dir / "info" / "exclude", self._common_dir / "config")
            settings = ("/etc/gitconfig", str(Path.home() / ".gitconfig"), str(home / "git" / "config"))
            self._rules = (*map(str, files), named, *settings)
        return self._rules

    def list_below(self, paths: Iterable[FilePath]) -> Listing:
        wanted = sorted(set(paths))
        if not wanted:
            return Listing(files={})
        files, skipped, fresh = self._seen_of(self._paths(wanted))
        with self._lock:
            self._seen = self._seen | fresh
        return Listing(files=files, skipped=skipped)

    def _seen_of(
        self, paths: Iterable[FilePath]
    ) -> tuple[dict[FilePath, ContentHash], tuple[SkippedFile, ...], dict[FilePath, Seen]]:
        files: dict[FilePath, ContentHash] = {}
        skipped: list[SkippedFile] = []
        fresh: dict[FilePath, Seen] = {}
        for path in paths:
            if not _encodable(path):
                skipped.append(SkippedFile(path=FilePath(_shown(path)), reason="name_not_utf8"))
                continue
            if path.count("/") > MAX_FOLDERS:
                skipped.append(SkippedFile(path=path, reason="too_deep"))
                continue
            seen = self._look(path)
            if seen is None:
                continue
            fresh[path] = seen
            if seen.hash is not None:
                files[path] = seen.hash
            elif seen.reason:
                skipped.append(SkippedFile(path=FilePath(path.rstrip("/")), reason=seen.reason))
        return files, _sorted(skipped), fresh

    def _paths(self, below: Iterable[FilePath] = ()) -> tuple[FilePath, ...]:
        wanted = tuple(below)
        literal = [f":(literal){path}" for path in wanted]
        listing = ("ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *literal)
        done = self._run(*listing, check=not wanted)
        if done.returncode != 0:  # git looks behind no link
            return tuple(path for path in self._paths() if _covers_any(wanted, path))
        raw = done.stdout
        names = {os.fsdecode(name) for name in raw.split(b"\0") if name}
        return tuple(sorted(FilePath(name) for name in names if not _left_out(name)))

    def _look(self, path: FilePath) -> Seen | None:
        """The state of a file, from memory while its stamp is the same; None when it is not there (any more)."""
        full = self._prefix + path
        try:
            status = os.lstat(full)
            if stat.S_ISLNK(status.st_mode):
                target = os.path.realpath(full)
                if not (target + os.sep).startswith(self._prefix):
                    return Seen((0, 0, 0, 0), None, "link_outside")
                if not os.path.lexists(target):
                    return Seen((0, 0, 0, 0), None, "link_broken")
                status = os.stat(full)
            if not stat.S_ISREG(status.st_mode):
                return _no_file(Path(full), status.st_mode)
            stamp = stamp_of(status)
            known = self._seen.get(path)
            if known is not None and known.stamp == stamp:
                return known
            seen = self._read_state(path, Path(full), stamp)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except PermissionError:
            return Seen((0, 0, 0, 0), None, "unreadable")
        except OSError as error:
            if error.errno == errno.ELOOP:
                return Seen((0, 0, 0, 0), None, "link_loop")
            raise Unavailable(
                f"cannot read {path!r}: {error.strerror}; check its permissions", backend="files"
            ) from error
        racy = time.time_ns() - max(status.st_mtime_ns, status.st_ctime_ns) < RACY_NS
        return Seen(_RACY, seen.hash, seen.reason) if racy else seen

    def _read_state(self, path: FilePath, full: Path, stamp: tuple[int, int, int, int]) -> Seen:
        name = path.rpartition("/")[2]
        with full.open("rb") as stream:
            head = stream.read(SNIFF_BYTES)
            if b"\0" in head:
                return Seen(stamp, None, "binary")
            if stamp[0] > self._limit:
                return Seen(stamp, None, "too_large")
            content = head + stream.read()
        if GENERATED_NAMES.search(name) or (name.lower().endswith(CODE_SUFFIXES) and _minified(content)):
            return Seen(stamp, None, "generated")
        return Seen(stamp, ContentHash(hashlib.sha256(content).hexdigest()), None)

    def read(self, paths: Iterable[FilePath]) -> tuple[SourceFile, ...]:
        found: list[SourceFile] = []
        for path in sorted(set(paths)):
            full = self._root / path
            if os.path.isabs(path) or not _inside(os.path.realpath(full), str(self._root)):
                raise Invalid(f"{path!r} leaves the repository; give a path relative to its root", path="file_path")
            try:
                found.append(_source(path, full.read_bytes()))
            except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
                continue
            except OSError as error:
                raise Unavailable(
                    f"cannot read {path!r}: {error.strerror}; check its permissions", backend="files"
                ) from error
        return tuple(found)

    def read_at(self, commit: CommitSha, paths: Iterable[FilePath]) -> tuple[SourceFile, ...]:
        wanted = sorted(set(paths))
        request = b"".join(
            f"{commit}:{path}\n".encode("utf-8", "surrogateescape") for path in wanted if "\n" not in path
        )
        answer = self._run("cat-file", "--batch", stdin=request).stdout
        return tuple(_blobs(answer, [path for path in wanted if "\n" not in path]))

    def history(self, *, since_days: int) -> tuple[CommitInfo, ...]:
        if self.head() is None:
            return ()
        arguments = ["log", "-p", "-U0", "--no-merges", "--no-renames", "--no-color", "--no-ext-diff", "--no-textconv"]
        arguments += [f"--since={since_days}.days", f"--max-count={HISTORY_LIMIT}", f"--format={COMMIT_FORMAT}"]
        process = subprocess.Popen(
            ["git", *arguments],
            cwd=self._root,
            env=self._git.environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        # read as it comes: the text of a quarter's diffs may be far larger than what is kept of it
        with process:
            assert process.stdout is not None
            found = tuple(read_history(process.stdout))
        if process.returncode != 0:
            raise Unavailable("git log failed; git fsck may say why", backend="git")
        return found

    def watch(self, on_change: Callable[[frozenset[FilePath]], None]) -> AbstractContextManager[None]:
        git_dir = os.fsdecode(self._run("rev-parse", "--absolute-git-dir").stdout.rstrip(b"\n"))
        return watching(
            self._root,
            Path(git_dir),
            watched=lambda path: not _left_out(path),
            ignored=self._ignored,
            on_change=on_change,
        )

    def _ignored(self, paths: frozenset[FilePath]) -> frozenset[FilePath]:
        """Those that git ignores; tracked files never are."""
        if not paths:
            return paths
        request = b"".join(os.fsencode(path) + b"\0" for path in sorted(paths))
        done = self._run("check-ignore", "-z", "--stdin", stdin=request, check=False)
        return frozenset(FilePath(os.fsdecode(name)) for name in done.stdout.split(b"\0") if name)

    def _run(self, *arguments: str, stdin: bytes = b"", check: bool = True) -> subprocess.CompletedProcess[bytes]:
        try:
            done = self._git.run(*arguments, stdin=stdin, timeout_s=GIT_TIMEOUT_S)
        except subprocess.TimeoutExpired as error:
            raise Unavailable(
                f"git {arguments[0]} took more than {GIT_TIMEOUT_S} s; repeat the call", backend="git"
            ) from error
        if check and done.returncode != 0:
            said = done.stderr.decode("utf-8", "replace").strip()
            raise Unavailable(f"git {arguments[0]} failed: {said}", backend="git")
        return done


def _no_file(full: Path, mode: int) -> Seen | None:
    """What git lists and is no file; a folder in a file's place is listed by what it holds."""
    reason: str | None = "not_a_file"
    if stat.S_ISDIR(mode):
        linked = full.is_symlink()
        reason = "link_folder" if linked else "repository" if os.path.lexists(full / ".git") else None
    return None if reason is None else Seen((0, 0, 0, 0), None, reason)


def _left_out(path: str) -> bool:
    parts = path.split("/")
    return parts[0] in (STATE_FOLDER, ".git") or not DEPENDENCY_FOLDERS.isdisjoint(parts) or ".git" in parts


def _covers_any(folders: Iterable[str], path: str) -> bool:
    """Whether a path is one of these, or lies below one."""
    return any(path == folder or path.startswith(folder + "/") for folder in folders)


def _sorted(skipped: Iterable[SkippedFile]) -> tuple[SkippedFile, ...]:
    return tuple(sorted(skipped, key=lambda one: one.path))


def _plain(place: str) -> bool:
    """Whether a place is a file of one name, or nothing."""
    try:
        status = os.lstat(place)
    except OSError:
        return True
    return stat.S_ISREG(status.st_mode) and status.st_nlink == 1


def _encodable(name: str) -> bool:
    """Names that are no UTF-8 have no place in JSON; git lists them, clients could not ask for them."""
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _shown(name: str) -> str:
    """A name that is no UTF-8, with its odd bytes written out (\\xff)."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def _minified(content: bytes) -> bool:
    return any(len(line) > MINIFIED_LINE for line in content.split(b"\n"))


def _inside(path: str, root: str) -> bool:
    return path.startswith(root + os.sep)


def _source(path: FilePath, content: bytes) -> SourceFile:
    return SourceFile(path=path, content=content, hash=ContentHash(hashlib.sha256(content).hexdigest()))


def _blobs(answer: bytes, paths: Sequence[FilePath]) -> Iterator[SourceFile]:
    """Read `git cat-file --batch`: `<sha> blob <size>\\n<content>\\n`, or `<name> missing\\n`, in order of the request."""
    at = 0
    for path in paths:
        end = answer.index(b"\n", at)
        header = answer[at:end]
        at = end + 1
        fields = header.rsplit(b" ", 2)
        if header.endswith((b" missing", b" ambiguous")) or len(fields) != 3 or not fields[2].isdigit():
            continue
        size = int(fields[2])
        content = answer[at : at + size]
        at += size + 1
        if fields[1] == b"blob":
            yield _source(path, content)
