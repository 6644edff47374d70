"""What happens to people and things: behind it, 三天后 counts from that event and not from the day of speaking."""

from __future__ import annotations

from typing import Final

from historian.patterns import lazy_pattern

EVENT_BEFORE: Final = lazy_pattern(
    r"(?:毕业|[结离]婚|手术|出生|开业|[入离]职|签收|上线|发布|开始|结束|事故|地震|[出住]院|比赛|考试|到期|生效|去世|[下上]班|"
    r"起飞|开会|开车|出发|收货|付款|购买|发货|注册|搬家|分手|怀孕|退休|服药|用药|[饭餐睡]|会议|之|其|发生|移植|术|产|到站|关闭)$"
)
"""An event at the end of a text (出生, 手术, 上线)."""
