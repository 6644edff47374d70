"""Texts for models, and the loader that reads them."""

from prompts.library import PromptLibrary, load
from prompts.prompt import Prompt, PromptError, Turn
from prompts.template import Template

__all__ = ["Prompt", "PromptError", "PromptLibrary", "Template", "Turn", "load"]
