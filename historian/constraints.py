"""Lines that matter whatever is asked: allergies, illnesses, diets, and what somebody must not eat."""

from __future__ import annotations

from historian.patterns import lazy_pattern

_LASTING = lazy_pattern(
    r"过敏|不耐(?:受|症)|忌口|忌食|戒口|(?:不|没法|无法|不敢)(?:能|可以)?[吃喝碰沾](?![了饭完下得太惯])"
    r"|吃[全纯]?素|素食|清真|犹太洁食|糖尿病|高血压|高血脂|低血糖|哮喘|癫痫|心脏病|痛风|慢性病|怀孕|孕期|哺乳期|备孕|起搏器|抗凝药"
    r"|\b(?:allerg(?:y|ies|ic)|intoleran(?:t|ce)|vegetarian|vegan|pescatarian|halal|kosher|gluten[- ]free|dairy[- ]free"
    r"|coeliac|celiac|diabet(?:es|ic)|asthma(?:tic)?|epilep(?:sy|tic)|hypertension|high blood pressure|anaphyla\w+|gout"
    r"|pregnan(?:t|cy)|breastfeeding|pacemaker|anticoagulants?|blood thinners?"
    r"|(?:can(?:no|['’])t|can not|must not|mustn['’]t|do(?:es)?(?: not|n['’]t)|never|no longer) (?:eats?|drinks?))\b"
)


def is_lasting_constraint(line: str) -> bool:
    """Say whether a line tells what health, or a diet, asks of everybody who does something for a person."""
    return _LASTING.search(line.lower()) is not None
