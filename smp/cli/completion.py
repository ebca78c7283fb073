"""`smp completion`: the script that makes a shell complete commands, options and the protocol's methods."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

VARIABLE = "_SMP_COMPLETE"
"""Set by the script when it asks for completions."""


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the script that completes `smp` in SHELL.

    \b
    bash: echo 'eval "$(smp completion bash)"' >> ~/.bashrc
    zsh:  echo 'eval "$(smp completion zsh)"' >> ~/.zshrc
    fish: smp completion fish > ~/.config/fish/completions/smp.fish
    """
    kind = get_completion_class(shell)
    if kind is None:
        raise AssertionError("each choice has a class")
    click.echo(kind(context.find_root().command, {}, "smp", VARIABLE).source())


COMMANDS = (completion,)
