"""Settings come from the file, the environment and flags, and a wrong one is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from smp.domain.errors import Invalid
from smp.settings import load_settings


def test_defaults_live_in_the_repository(tmp_path: Path) -> None:
    settings = load_settings(tmp_path, environ={})
    assert (settings.data_dir, settings.serve.port, settings.token) == (tmp_path / ".smp", 8420, "")


def test_environment_overrides_the_file(tmp_path: Path) -> None:
    (tmp_path / "smp.toml").write_text("[serve]\nport = 1\nmax_batch = 7\n")
    settings = load_settings(tmp_path, environ={"SMP_SERVE_PORT": "2", "SMP_TOKEN": "t"})
    assert (settings.serve.port, settings.serve.max_batch, settings.token) == (2, 7, "t")


def test_data_dir_is_chosen_by_flag_then_environment(tmp_path: Path) -> None:
    environ = {"SMP_DATA_DIR": str(tmp_path / "env")}
    assert load_settings(tmp_path, environ=environ).data_dir == tmp_path / "env"
    assert load_settings(tmp_path, data_dir=tmp_path / "flag", environ=environ).data_dir == tmp_path / "flag"


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("[serve]\nprot = 1\n", "prot"),
        ("[serve]\nport = 'x'\n", "serve.port"),
        ("[nonsense]\n", "nonsense"),
        ("=", "parse"),
    ],
)
def test_a_wrong_option_is_named(tmp_path: Path, text: str, named: str) -> None:
    (tmp_path / "smp.toml").write_text(text)
    with pytest.raises(Invalid, match=named):
        load_settings(tmp_path, environ={})


def test_a_missing_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match="no folder"):
        load_settings(tmp_path / "nowhere", environ={})


def test_a_settings_file_that_cannot_be_read_is_said(tmp_path: Path) -> None:
    (tmp_path / "smp.toml").mkdir()
    with pytest.raises(Invalid, match=r"cannot read .*smp\.toml"):
        load_settings(tmp_path, environ={})


def test_the_profile_names_the_stores_and_each_can_be_named_alone(tmp_path: Path) -> None:
    def stores(environ: dict[str, str]) -> tuple[bool, bool, bool]:
        settings = load_settings(tmp_path, environ=environ)
        return settings.graph_in_neo4j, settings.vectors_in_weaviate, settings.sessions_in_neo4j

    assert stores({}) == (False, False, False)
    assert stores({"SMP_PROFILE": "server"}) == (True, True, True)
    assert stores({"SMP_PROFILE": "server", "SMP_VECTORS_STORE": "embedded"}) == (True, False, True)
    (tmp_path / "smp.toml").write_text('[graph]\nstore = "neo4j"\n')
    assert stores({}) == (True, False, False)


@pytest.mark.parametrize(
    ("text", "variable"),
    [
        ('[graph]\nurl = "bolt://elsewhere:7687"\n', "SMP_GRAPH_URL"),
        ('[graph]\nrepository = "that-of-another"\n', "SMP_GRAPH_REPOSITORY"),
        ('[graph]\npassword = "x"\n', "SMP_GRAPH_PASSWORD"),
        ('[vectors]\nurl = "https://elsewhere"\n', "SMP_VECTORS_URL"),
        ('[vectors]\napi_key = "x"\n', "SMP_VECTORS_API_KEY"),
    ],
)
def test_a_repository_does_not_say_on_which_server_under_whose_name_it_is_kept(
    tmp_path: Path, text: str, variable: str
) -> None:
    (tmp_path / "smp.toml").write_text(text)
    with pytest.raises(Invalid, match=variable):
        load_settings(tmp_path, environ={})


def test_servers_of_this_machine_may_stand_in_the_file(tmp_path: Path) -> None:
    (tmp_path / "smp.toml").write_text('[graph]\nurl = "bolt://localhost:7000"\n')
    assert load_settings(tmp_path, environ={}).graph.url == "bolt://localhost:7000"
