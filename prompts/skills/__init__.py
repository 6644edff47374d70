"""Agent Skills that are shipped, and what reads and checks them."""

from prompts.skills.checking import check_skill
from prompts.skills.shipped import Skill, shipped_skills

__all__ = ["Skill", "check_skill", "shipped_skills"]
