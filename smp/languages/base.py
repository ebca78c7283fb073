"""What a language must supply; nothing above this layer names a language.

How to write one
----------------
1. **`analyse`**: bytes → `FileAnalysis`. Slice bytes and decode each name once; line numbers are those of the stored
   bytes. Make the File node (`file_node`), one node for *every* definition (`SummaryBuilder.define` hands out unique
   qualified names: `f`, `f~2` …), DEFINES edges from the enclosing definition, `Damage` for what did not parse.
2. **The summary** (`smp.domain.source`): walk each scope in execution order, keep `name → op last stored`, join
   branches with `PHI`, and write
   - an op for each expression that may hold a callable, class, instance, module, container (others: `NOTHING`);
   - a `Site` for each call, decorator, property access, protocol use (`with`, `for`, operators), and a `USE` site for
     each name or attribute that is used as a value (argument, stored, returned, in a container);
   - `STORE` for each write of a variable that other scopes (or `VAR`) may read; `STORE_ATTR`, `STORE_ITEM`;
   - functions with parameters, annotations (type expressions are ops too; `INSTANCE(type)` is a value of the type,
     strings are parsed), `returns`, `yields`; classes with bases and members; exports with their value at module exit.
   Scope rules are yours: linking sees no scopes. An unnamed function has `definition=NOTHING` and its sites belong to
   the nearest named definition. Default values and decorators are evaluated in the enclosing scope.
3. **`resolver`**: built once a link from the file list, configuration and summaries; `module` maps an `ImportDecl` to a
   file, a namespace, an external name, or nothing. It opens no file, and answers from what it was given only.
4. **`tables`**: what is known of the language's built-ins: constructor and call method names, results of well-known
   functions (`Transfer`), types whose elements are what their arguments say.

Where files share a name space (Go, Java, C#), `module` answers with a `package` of all its files, `scope` with the modules whose
names a file may use as they are; a package offers what any of its files exports, and what several export means all of them.
Names of the scope come before star imports and built-ins. Methods written outside their class (Go, Rust, C++) are members of
an `Extension` whose `cls` is a type op; `Function.extension` says to which one a function belongs. What an extension
implements also stands among the bases of the class, behind its own: default methods are found there.
Make the ops of definitions, types and extensions before any body is walked, as bodies change most: an op that keeps its
number wakes nobody.

Everything is a pure function of its arguments: no clock, environment, file system; sort before returning.
"""

from __future__ import annotations

import abc
from collections.abc import Mapping

from msgspec import Struct

from smp.domain.ids import FilePath
from smp.domain.source import Damage, FileAnalysis, FileSummary, ImportDecl
from smp.languages.nodes import not_in


class Module(Struct, frozen=True, kw_only=True):
    """Where an import leads.

    Attributes:
        kind: `file`, `namespace` (a folder that is a package without code), `package` (several files that offer their names
            as one: a Go or Java package, a C# namespace), `external` (a package or built-in module that is not in the
            repository), `missing` (a relative import of nothing, or the project's own package).
        path: The file; or the namespace's or package's dotted or slashed name, for `module` to look into.
        files: The files of a package, sorted.
        symbols: Kind `symbols`: what the imported name means, as exported names of files; the resolver has looked the name up itself,
            for languages whose names depend on inclusion and linkage. Without any, `dotted` names something external.
        dotted: External name (`os.path`, `react`).
        types: Further file that declares the types of `path` (`.pyi`, `.d.ts`).
        parents: Files that run before it (the `__init__.py` of its packages), outermost first.
    """

    kind: str
    path: FilePath = FilePath("")
    dotted: str = ""
    types: FilePath | None = None
    parents: tuple[FilePath, ...] = ()
    files: tuple[FilePath, ...] = ()
    symbols: tuple[tuple[FilePath, str], ...] = ()


class Resolver(abc.ABC):
    """Stratum 0: modules, for one family of languages, over one state of the repository.

    Of the summaries it may read the `module_kind` only: while that, the list of files and the configuration are what they
    were, its answers count as unchanged.
    """

    @abc.abstractmethod
    def module(self, importer: FilePath, declaration: ImportDecl) -> Module:
        """The module that the declaration's module text names."""

    @abc.abstractmethod
    def submodule(self, parent: Module, name: str) -> Module | None:
        """The module `name` inside a package or namespace; None if there is none (or the language has no such thing)."""

    def root(self, importer: FilePath, declaration: ImportDecl) -> Module:
        """What `import a.b` binds when it binds `a` only."""
        return self.module(importer, declaration)

    def scope(self, path: FilePath) -> tuple[Module, ...]:
        """Modules whose names a file may use without an import, nearest first (its own package, what it includes)."""
        return ()

    def declaration_file(self, path: FilePath) -> FilePath | None:
        """A file that declares the types of this one (`x.d.ts` of `x.js`)."""
        return None

    def fixture_files(self, path: FilePath) -> tuple[FilePath, ...]:
        """Files whose `own_fixtures` the tests of this file may ask for, nearest first, beginning with itself."""
        return (path,)


class Transfer(Struct, frozen=True, kw_only=True):
    """What a well-known external function does with values.

    Attributes:
        result: `arg:N` (the N-th argument), `element:N` (elements of it), `container:N` (a new container of its
            elements), `pairs:N` (a container of (index, element) pairs), `zip`, `mapped` (a container of what calling argument 0
            returns), `instance:<dotted>`, `receiver`, `receiver_element`, `receiver_container`, `receiver_items`, `partial`,
            `attribute` (getattr), `computed` (getattr by a text), `module` (import by constant name), `awaited_all` (container of awaited arguments), `awaited_list:N` (container of its awaited elements),
            `identity` (a decorator that gives its argument back), `receiver_item` (by key), `receiver_pair`, `list_of:<dotted>`,
            `merged` (entries of mappings go into the receiver), `awaited:N`, `dict`,
            `defaulting` (a mapping of what calling argument 0 gives), `chain`, `property` (see `Tables.property_type`),
            `class_of` (the class of argument 0), `instance_of` (an instance of the class given), `call` (what calling argument 0 returns), empty.
        stores: Argument positions whose value becomes an element of the receiver.
        spreads: Argument positions whose elements become elements of the receiver.
        calls: Position of an argument that is called, else -1. with_elements: position whose elements (or the receiver's, at
            -2) it receives; -1: unknown arguments.
        protocol: Method names that run on argument 0 (`len` → `__len__`).
        hands_at: Position at which the called argument gets the elements.
        calls_keyword: Name of an argument that is called (`key`), likewise.

        passes: Position from which on the arguments go to the function at position 0, which somebody outside calls; -1: none.
        hands: What the called function gets at each position, as types in terms of the receiver's type arguments: `0`, `1`, or
            `java.util.Map.Entry[0,1]`.

    Further results: `values:K`, `entries:K` (a container of that kind of the values of argument 0, or of (key, value) pairs),
    `from_pairs:K` (of the second entries of its pairs), `flat` (the receiver's elements, and their elements), `folded` (what a
    function gives that is called with what it gave before), `kept`, `kept_element` (the receiver, an element of it, that a
    function lets pass), `mapped_from` (what argument 1 gives for elements of argument 0), `step:K` (a record with an element
    as `value`), `record:NAME` (a record with argument 0 under a name), `state` (a pair that begins with the last argument, or
    what it makes), `attribute:NAME` (of argument 0); `type:T` (a value of such a type), `made:T` (a container of that kind of what the called function returns),
    `flattened:T` (likewise, of the elements of what it returns); `receiver_call`, `receiver_apply` (what calling the receiver without the first argument returns, which
    is its `this`; with `apply` the second argument holds the arguments).
    """

    result: str = ""
    stores: tuple[int, ...] = ()
    spreads: tuple[int, ...] = ()
    calls: int = -1
    with_elements: int = -1
    protocol: tuple[str, ...] = ()
    hands_at: int = 0
    calls_keyword: str = ""
    hands: tuple[str, ...] = ()
    passes: int = -1


class Tables(Struct, frozen=True, kw_only=True):
    """What a family of languages knows of itself.

    Attributes:
        constructors: Method names that run when a class is called, in the order looked for; all that exist count.
        call_method: Method that runs when an instance is called; empty: none.
        builtins: Names that are defined everywhere, with their dotted name (`len` → `builtins.len`).
        transfers: Dotted external name → what it does; `*.name`: any method of that name of which nothing else is known.
        transparent: Dotted names of decorators that leave the name holding the definition (or an equal of it).
        optional: Type constructors to be seen through (`typing.Optional` …): an instance of any argument.
        element_last: External generic types whose element is the last argument (`dict[K, V]` by value) …
        element_first: … or the first (iteration of a mapping yields keys).
        awaitables: External generic types that awaiting opens (last argument).
        class_types: `type[C]`: denotes the class itself.
        self_types: `typing.Self`: the receiver's class.
        ignored_bases: External bases that hide no method names a look-up might mean (`abc.ABC`, `typing.Generic`, `builtins.object`).
        members: External class → names it has, where known: a look-up may step over it for others.
        plain_types: External types (`builtins.str` …) whose attributes never lead back into the project.
        property_decorators: Dotted names of decorators that make a getter (for those not recognised syntactically).
        sequence_type, tuple_type, mapping_type, generator_type: What displays, rest parameters and transfers make.
        record_types: Containers whose attributes are their items (object literals).
        container_types: External types whose construction makes a container of that name (`Map`) …
        pair_types: … of which iterating yields (key, value) pairs.
        function_methods: Methods that every function has → dotted name in `transfers` (`call`, `apply`, `bind`).
        closed_types: External types of which `members` lists every name there is.
        module_names: Names under which a package from outside is imported as a whole (`default`).
        call_member: Name under which a function type keeps its signature as a member; empty: the language has none.
        awaited_methods: Methods of what an asynchronous function returns, likewise (`then`).
        callback_edges: A function handed to a `Transfer` that `calls` it is called by the site's function.
        computed_names: Texts that mappings hold may be names of attributes that are asked for by them.
        hands_to_many: Functions that are too many to be passed on get what calls of the place that holds them hand over.
        loose_receivers: A function without a class has as receiver what it is called on.
        tests_apart: What the tests of one file hand to the code that they test does not run in those of another.
        test_hooks: Names of methods that run with every test of their class.
        property_type: What a call that makes a property gives; property_keys: its getter, setter and deleter, in the order of its
            arguments, which are attributes of it too.
        contexts: External generic types that entering opens (first argument).
        overloads: Methods of a class and its bases that share a name are told apart by number and types of arguments, and what an
            unknown base may have does not hide what is known.
        supertypes: External type → those directly above it. widenings: primitive types, narrow to wide. boxes: primitive →
            its class. object_type: what every type is below.
        function_types: External function type → types of its parameters, as in `Transfer.hands`; `*`: each type argument is
            one, `*-1`: all but the last.
        factories: Names of methods of external classes that give an instance of the class (`valueOf`).
        properties: Attribute of an external generic type, dotted → its type, as in `Transfer`'s `type:`.
        iterator_methods: Methods that give the iterator of an instance. step_method: that of the iterator, whose result has the
            element as its `value`.
        type_functions: External generic type → what it computes (`smp.indexing.linking.type_functions`).
        infers: Calls give type parameters of functions and classes what their arguments say.
        prototype_member: Attribute of a class that is an instance as far as methods go. class_member: attribute of an instance
            that is its class. construct_member, item_member: names under which a type keeps what constructing it gives, and what
            any key gives.
        base_members: External member that subclasses inherit → position of the type argument of the base that it has.
        modules_by_path: Where imports lead follows from the paths of files, how each is a module, and configuration alone, so that
            another process can go on from what was linked.
        embedding: A base lends its members and no more: a value declared to be of a class is of no class below it unless it is an
            interface, and a member that a base in the project has is meant even behind a base from outside.
        structural: A class implements every interface whose methods it has.
        lenders: External types whose values have the members of what they hold besides their own (`members`).
        common_members: Name in `members` of what every value has where nothing else has it.
        rivals: Methods that several extensions of a class give under one name (`From<A>`, `From<B>`) are told apart by types that are
            not known here: candidates, no edge.
        opens_itself: Opening an instance that has no method for it (`?`, a pattern) gives the instance.
        plain_construction: Calling a class makes or converts a value and runs no code of the project: a use, no call.
        implicit_receiver: A bare name may be a member of the class around: what only a base of unknown content may have counts
            where nothing else has the name.
        kind_tests: Dotted function → what it says of its argument (`callable`, `function`, `method`, `class`, `coroutine function`).
        checked_calls: A call whose arguments a function does not take is an error, not a call.
        pointers: What points to a value is as the value: subscripting an instance that has no such method gives it back.
    """

    constructors: tuple[str, ...] = ()
    call_method: str = ""
    builtins: Mapping[str, str] = {}
    transfers: Mapping[str, Transfer] = {}
    transparent: frozenset[str] = frozenset()
    optional: frozenset[str] = frozenset()
    element_last: frozenset[str] = frozenset()
    element_first: frozenset[str] = frozenset()
    awaitables: frozenset[str] = frozenset()
    class_types: frozenset[str] = frozenset()
    self_types: frozenset[str] = frozenset()
    ignored_bases: frozenset[str] = frozenset()
    members: Mapping[str, frozenset[str]] = {}
    plain_types: frozenset[str] = frozenset()
    property_decorators: frozenset[str] = frozenset()
    test_hooks: tuple[str, ...] = ()
    modules_by_path: bool = False
    embedding: bool = False
    structural: bool = False
    plain_construction: bool = False
    lenders: frozenset[str] = frozenset()
    common_members: str = ""
    rivals: bool = False
    opens_itself: bool = False
    sequence_type: str = "builtins.list"
    tuple_type: str = "builtins.tuple"
    mapping_type: str = "builtins.dict"
    generator_type: str = "builtins.generator"
    record_types: frozenset[str] = frozenset()
    container_types: frozenset[str] = frozenset()
    pair_types: frozenset[str] = frozenset()
    function_methods: Mapping[str, str] = {}
    awaited_methods: Mapping[str, str] = {}
    callback_edges: bool = False
    computed_names: bool = False
    hands_to_many: bool = False
    loose_receivers: bool = False
    tests_apart: bool = False
    property_type: str = ""
    property_keys: tuple[str, ...] = ()
    contexts: frozenset[str] = frozenset()
    call_member: str = ""
    closed_types: frozenset[str] = frozenset()
    module_names: frozenset[str] = frozenset()
    overloads: bool = False
    supertypes: Mapping[str, tuple[str, ...]] = {}
    widenings: tuple[str, ...] = ()
    boxes: Mapping[str, str] = {}
    object_type: str = ""
    function_types: Mapping[str, tuple[str, ...]] = {}
    iterator_methods: tuple[str, ...] = ()
    step_method: str = ""
    type_functions: Mapping[str, str] = {}
    infers: bool = False
    prototype_member: str = ""
    class_member: str = ""
    construct_member: str = ""
    item_member: str = ""
    base_members: Mapping[str, int] = {}
    factories: frozenset[str] = frozenset()
    properties: Mapping[str, str] = {}
    implicit_receiver: bool = False
    kind_tests: Mapping[str, str] = {}
    checked_calls: bool = False
    pointers: bool = False


class Language(abc.ABC):
    """One language.

    Attributes:
        name: As on nodes (`python`). family: languages of one family import each other (`ecmascript`).
        suffixes: File name endings, with the dot, lower case.
        links: False for languages of which definitions are known and no calls; their analyses have no summary.
    """

    name: str
    family: str
    suffixes: tuple[str, ...]
    links: bool = True

    @abc.abstractmethod
    def analyse(self, path: FilePath, content: bytes) -> FileAnalysis:
        """Read one file. Never raises for bad content: what cannot be read is `damage`."""

    def undecodable(self, content: bytes) -> Damage | None:
        """The first place of a file that is not in the encoding its readers expect: UTF-8, but where the language says other."""
        return not_in(content, "utf-8")

    @abc.abstractmethod
    def wants_config(self, path: FilePath) -> bool:
        """Whether the content of this configuration file matters to `resolver`."""

    @abc.abstractmethod
    def resolver(self, files: Mapping[FilePath, FileSummary], configs: Mapping[FilePath, bytes]) -> Resolver:
        """Stratum 0 for the files of this family (the first language of a family in the registry is asked)."""

    @abc.abstractmethod
    def tables(self) -> Tables:
        """Constant tables of the family."""
