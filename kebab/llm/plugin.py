"""Runs the language model of a plugin in this process; `kebab.plugins` finds it."""

import sys
from contextlib import redirect_stdout
from typing import Any

import msgspec

from kebab.config.settings import Settings
from kebab.core.answers import Completion
from kebab.errors.catalog import ConfigInvalid, ModelProtocol
from kebab.errors.signal import Signal
from kebab.plugins import OWN_PROVIDERS, PROVIDERS, describe_fault, drop_output, find_plugins

_PROVIDER_SETTING = "models.llm.provider"


class PluginModel:
    """A language model of a plugin; whatever it raises becomes a signal."""

    def __init__(self, settings: Settings, name: str, operation: str) -> None:
        """Import the plugin and build its model.

        Raises:
            ConfigInvalid: No plugin has the provider of the settings, or it cannot be used.
        """
        llm = settings.models.llm
        found = [
            one for one in find_plugins(settings.plugins, PROVIDERS) if one.name == llm.provider
        ]
        if not found:
            off = "" if settings.plugins.enabled else "; plugins are off"
            cause = f"no provider `{llm.provider}`: {', '.join(OWN_PROVIDERS)}, or a plugin{off}"
            raise ConfigInvalid(path=_PROVIDER_SETTING, cause=cause)
        plugin = found[0]
        self.label, self._operation = plugin.label, operation
        try:
            with drop_output():
                self._model: Any = plugin.load()(llm, name)
            self.name, self.context_tokens = name, int(self._model.context_tokens)
        except (Exception, SystemExit) as fault:
            if isinstance(fault, Signal):
                raise
            cause = f"{plugin.label}: {describe_fault(fault)}"
            raise ConfigInvalid(path=_PROVIDER_SETTING, cause=cause) from fault

    def chat(self, *arguments: Any, **options: Any) -> Completion:
        """Return the answer of the model.

        Raises:
            ModelProtocol: The plugin failed.
        """
        own = list[BaseException]()
        on_text, stdout = options["on_text"], sys.stdout

        def relay(text: str) -> None:
            try:
                with redirect_stdout(stdout):  # the text may be shown there
                    on_text(_replace_surrogates(text))
            except BaseException as fault:
                own.append(fault)
                raise

        try:
            with drop_output():
                completion = self._model.chat(*arguments, **{**options, "on_text": relay})
            found = msgspec.convert(msgspec.to_builtins(completion), Completion)
        except (Exception, SystemExit) as fault:
            if own:  # the caller cannot go on, for example because its reader is gone
                raise own[0] from None
            if isinstance(fault, Signal):
                raise
            cause = describe_fault(fault)
            raise build_provider_failure(self.label, self._operation, cause) from fault
        return msgspec.structs.replace(found, text=_replace_surrogates(found.text))


def _replace_surrogates(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def build_provider_failure(provider: str, operation: str, cause: str) -> ModelProtocol:
    """Return the error of a model of a plugin."""
    return ModelProtocol(endpoint=provider, operation=operation, cause=cause)
