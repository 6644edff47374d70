"""Where prompts are read from: this package, and a folder of the operator whose same-named files come first."""

from __future__ import annotations

import threading
from dataclasses import replace
from importlib import resources
from pathlib import Path

from prompts.prompt import PromptError
from prompts.template import Template, parse_template

LANGUAGES = ("zh", "en")


class PromptLibrary:
    """Reads templates once each. Thread-safe. A change of a file needs a restart."""

    def __init__(self, directory: Path | None = None) -> None:
        self._directory = directory
        self._lock = threading.Lock()
        self._loaded: dict[tuple[str, str], Template] = {}

    def load(self, name: str, language: str) -> Template:
        """Return the template `name` in Chinese where `language` begins with zh, else in English.

        Raises:
            PromptError: there is no such prompt, or the operator's file is wrong.
        """
        known = "zh" if language.lower().startswith("zh") else "en"
        with self._lock:
            found = self._loaded.get((name, known))
            if found is None:
                found = self._loaded[name, known] = self._read(name, known)
            return found

    def check(self) -> None:
        """Read every file of the operator's folder.

        Raises:
            PromptError: one is wrong, or replaces no prompt; the sentence names the file.
        """
        if self._directory is None:
            return
        if not self._directory.is_dir():
            raise PromptError("The folder of prompts does not exist; correct the setting prompts.dir.")
        for path in sorted(self._directory.glob("*.md")):
            name, _, language = path.stem.rpartition(".")
            if language in LANGUAGES:
                self.load(name, language)
            elif path.stem.partition(".")[0].lower() in {known.partition(".")[0] for known in shipped_names()}:
                raise _unknown(path.name)

    def _read(self, name: str, language: str) -> Template:
        file = f"{name}.{language}.md"
        shipped = resources.files("prompts").joinpath(file)
        if not shipped.is_file():
            raise _unknown(file)
        own = parse_template(file, language, shipped.read_text(encoding="utf-8"))
        if self._directory is None or not (self._directory / file).is_file():
            return own
        try:
            source = (self._directory / file).read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError):
            raise PromptError(f"The prompt {file} in prompts.dir cannot be read as UTF-8 text.") from None
        return _replaced(own, parse_template(file, language, source))


def load(name: str, language: str) -> Template:
    """Return a template as it is shipped. Raises PromptError where there is none."""
    return PromptLibrary().load(name, language)


def shipped_names() -> list[str]:
    """Return the file names of the shipped prompts."""
    return sorted(
        entry.name
        for entry in resources.files("prompts").iterdir()
        if entry.name.endswith(tuple(f".{language}.md" for language in LANGUAGES))
    )


def _unknown(file: str) -> PromptError:
    return PromptError(f"There is no prompt {file}; the names are {', '.join(shipped_names())}.")


def _replaced(own: Template, given: Template) -> Template:
    """The program fills the variables that it knows; a replacement may leave some out but has no others.

    It must end as the shipped one does, and show what it is about, or the model would be asked nothing.
    """
    for name, kind in given.variables.items():
        if own.variables.get(name) != kind:
            known = ", ".join(f"{one}: {own.variables[one]}" for one in own.variables)
            raise PromptError(f"The prompt {own.name} in prompts.dir may only have these variables: {known}.")
    if given.turns[-1].role != own.turns[-1].role:
        raise PromptError(f"The prompt {own.name} in prompts.dir must end with a part under '# {own.turns[-1].role}'.")
    for name in sorted(own.subjects - given.holes):
        raise PromptError(f"The prompt {own.name} in prompts.dir must show {{{{{name}}}}}, which it is about.")
    return replace(given, variables=own.variables)
