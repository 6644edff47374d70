"""English rules of the gate, as data. Rows are `(words, what, pattern)`, as in `gate_terms`, keyed by lower-case word.

The pattern is tried at the beginning of the word, without regard to case; an empty pattern means the word itself.
"""

from __future__ import annotations

Row = tuple[str, str, str]


def words(text: str) -> frozenset[str]:
    """Return the words of `text`, which white space separates, as a set."""
    return frozenset(text.split())


WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday"
MONTHS = "january february march april may june july august september october november december"
MONTHS_PATTERN = (
    "jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|"
    "oct(?:ober)?|nov(?:ember)?|dec(?:ember)?"
)
_WEEKDAY = f"(?:{WEEKDAYS.replace(' ', '|')})"
_MONTH = f"(?:{MONTHS.replace(' may ', ' ').replace(' ', '|')}|(?-i:May))"
_SEASON = "spring|summer|autumn|fall|winter|christmas|easter|thanksgiving"
_LONG = rf"weeks?|weekends?|fortnight|months?|quarters?|semesters?|terms?|sprints?|years?|decades?|century|{_SEASON}"
UNIT = rf"(?:seconds?|minutes?|hours?|days?|nights?|{_LONG})"
COUNT = (
    r"(?:\d{1,4}|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|half an?|"
    r"(?:a )?few|(?:a )?couple(?: of)?|several|many|some)"
)
_PERSON = (
    "guy|person|man|woman|customer|user|colleague|coworker|student|engineer|client|candidate|patient|lady|gentleman|"
    "kid|boy|girl|employee|fellow|speaker|friend"
)
_PLACE = (
    "place|group|channel|room|city|town|office|country|neighbou?rhood|restaurant|street|area|region|village|"
    "cafe|café|hotel|campus|island|chat|spot|apartment|house|shop|store|school|hospital|park|bar|gym|"
    "state|building|floor|station|venue|library|bakery|factory|warehouse"
)
_OFFICE = (
    "ceo|cto|cfo|coo|president|chairman|chairwoman|chair|director|head|owner|holder|minister|mayor|government|tenant|"
    "manager|employer|landlord|address|salary"
)
_FOLLOWS = (
    r"\s+(?:is|was|are|were|will|has|have|had|can|should|must|needs?|costs?|works?|who|said|and|or|"
    r"but|to|for|in|at|from|with)\b|\s*[.,;!?]|\s*$"
)
_NEXT_WORD = f"(?={_FOLLOWS})"
_VERB = (
    r"(?:is|was|will|has|had|does|did|means|makes|made|should|would|could|can|must|needs|caused|led|"
    r"happened|seems|looks|sounds|works)"
)

PRONOUN_WORDS = (
    "me my you your yours yourself yourselves he him his she her hers it its we us our ours ourselves myself they them "
    "their theirs y'all let's undersigned"
)
CONTRACTED = words("i you he she it we they")
ENDINGS = words("m re s ve ll d")
PAIRED_TIMES = frozenset(("today", "tomorrow", "yesterday"))
PAIRED = (frozenset(f"i {PRONOUN_WORDS} s".split()) | PAIRED_TIMES) - {"us", "it"}
TITLES_BEFORE_I = words(
    "type phase part chapter class level section volume tier stage war group grade title article act "
    "book figure table step category schedule appendix mark vol no calculus algebra physics chemistry "
    "statistics analysis biology history division elizabeth charles james henry william george francis "
    "napoleon peter nicholas alexander frederick philip leopold otto ramses wilhelm mary paul pius john "
    "constantine theodosius justinian apollo corps vitamin question"
)
WEEKDAY_NAMES = words(
    "black good cyber easter palm ash holy maundy super giving patch shrove fat casual girl man bloody "
    "freaky ruby bowl whit pancake spy manic blue ruby first second third fourth"
)

ROWS: tuple[Row, ...] = (
    (
        "our her his your my",
        "pass",
        r"(?-i:[A-Z][a-z]+ (?:Lady|Lord|Majesty|Holiness|Royal|Excellency|Honou?r|Highness))\b",
    ),
    ("thank", "pass", r"thank you (?:note|card|letter|e-?mail|message|gift|speech)s?\b"),
    ("he she you", "pass", r"(?-i:(?:He|She|You) [A-Z][a-z]+(?<!ed)\b)"),
    ("she", "pass", r"She (?:people|language|minority|ethnic)\b"),
    (PRONOUN_WORDS, "pronoun", ""),
    ("i", "pass", r"(?-i:I, [A-Z][a-z]+\b)(?!,)"),
    ("i", "pronoun:i", ""),
    (
        "u",
        "pronoun",
        r"(?-i:u)(?= (?:are|were|have|had|can|could|should|will|need|know|want|said|told|owe|guys|get|got|did|do)\b)",
    ),
    ("ur", "pronoun", r"(?-i:ur)(?= [a-z])"),
    (
        "mine",
        "pronoun",
        r"(?:(?<=is )|(?<=was )|(?<=are )|(?<=of )|(?<=than )|(?<=like )|(?<=as )|(?<=not )|(?<=with ))mine\b"
        r"(?!\s+(?:worker|shaft|safety|site|field|operator))",
    ),
    ("mine", "pronoun:start", r"mine\s+(?:is|was|are|were)\b"),
    ("former latter", "pronoun", rf"(?<=the )(?:former|latter){_NEXT_WORD}"),
    (
        "this that",
        "pronoun",
        r"th(?:is|at) (?:(?!our|some|every|all|the|each|no|any|my|his|her|an?|one)\w+ "
        rf")?(?:{_PERSON})\b(?=['’]s|{_FOLLOWS})",
    ),
    (
        "this that",
        "pronoun",
        r"th(?:is|at) (?:guy|person|man|woman|lady|gentleman|kid|boy|girl|fellow)(?= [a-z])(?! (?:cave|group|"
        r"scouts?|band|hours?|days?|months?|power|page)\b)",
    ),
    (
        "user",
        "pronoun",
        r"(?:(?<=^the )|(?<=\.\sthe ))user (?:also |really |now )?(?:prefers|likes|dislikes|loves|hates|enjoys|lives|"
        r"is (?:allergic|married|vegetarian|vegan|based|from)|works|wants|said|told|mentioned|moved|thinks|feels)\b",
    ),
    (
        "these those",
        "pronoun",
        r"(?:these|those)\s+(?:people|men|women|children|folks|two|kids|guys|students|customers|users|"
        r"friends|colleagues|girls|boys)\b",
    ),
    ("this that", "pronoun:start", rf"(?:this|that)(?:['’]s|['’]ll|\s+{_VERB})\b"),
    (
        "these those",
        "pronoun:start",
        r"(?:these|those)\s+(?:are|were|will|have|had|should|would|could|can|must|need)\b",
    ),
    ("that's", "pronoun:start", ""),
    (
        "every each",
        "pass",
        rf"(?:every|each)(?:\s(?:other|second|third|single|last|first))?\s{_WEEKDAY}(?:(?:,?\s(?:and|or)\s|"
        rf",\s){_WEEKDAY})*",
    ),
    (WEEKDAYS, "pass", rf"{_WEEKDAY}\s?(?:to|through|thru|–|-|—)\s?{_WEEKDAY}"),
    (
        WEEKDAYS,
        "pass",
        rf"{_WEEKDAY}\s(?:mornings|afternoons|evenings|nights|the 13th|addams|times|school|night live|night fever|"
        r"prayers?|roast|(?-i:Island|Club|Group|Market|Review|Street|Road|Lane|Post|Mail)|"
        r"stand-?ups?|newsletter|class|classes|routine|of (?:each|every|the month|the year|"
        rf"{_MONTH}))\b",
    ),
    (WEEKDAYS, "pass", rf"(?<=the ){_WEEKDAY}(?-i: [A-Z][a-z]+)"),
    (WEEKDAYS, "time:weekday", rf"{_WEEKDAY}(?:\s(?:morning|afternoon|evening|night))?\b"),
    ("mon tue tues wed thu thurs fri", "time:dated", r"(?<=on )(?:mon|tues?|wed|thu(?:rs)?|fri)\b"),
    (
        "yesterday today tomorrow tmrw tmr",
        "time",
        r"(?:yesterday|today|tomorrow|tmrw?)(?:\s(?:morning|afternoon|evening|night))?\b",
    ),
    ("day", "time", r"day (?:before yesterday|after tomorrow)\b"),
    ("tonight nowadays currently presently lately momentarily tonite yesterday's today's tomorrow's", "time", ""),
    ("now", "pass", r"now and (?:then|again)\b"),
    ("now", "time", ""),
    (
        "right just from until till by for as",
        "time",
        r"(?:right|just|from|until|till|by|for|as of) (?-i:now|NOW)(?: on)?\b(?!\()",
    ),
    ("recently", "time", r"(?<!least )(?<!most )(?<!more )recently"),
    ("recent", "time", rf"recent (?:{UNIT})"),
    ("soon", "time", r"(?<!as )(?<!too )(?<!how )(?<!so )soon(?!\s(?:after|as)\b)"),
    ("ago", "time:ago", ""),
    ("last", "pass", rf"last (?:{UNIT}|{_WEEKDAY}|time) (?:of|in (?:{_MONTH}|\d{{4}}))\b"),
    (
        "last",
        "time",
        rf"(?<!the )(?<!['’]s )(?<!s['’] )last (?:hours?|night|evening|{_LONG}|{_WEEKDAY}|{_MONTH}|time)\b",
    ),
    ("last past", "time", rf"(?:last|past) {COUNT} (?:\w+ )?{UNIT}\b"),
    ("last past", "time", rf"(?<=the )last (?:hour|{_LONG})\b(?! (?:of|in|before|at|when)\b)"),
    ("last past", "time", rf"(?<=the )past (?:hour|{_LONG})\b(?! of\b)"),
    ("next", "time", rf"(?<!the )(?<!['’]s )(?<!s['’] )next (?:{_LONG}|{_WEEKDAY}|{_MONTH}|time)\b"),
    ("next", "time", rf"next {COUNT} (?:\w+ )?{UNIT}\b"),
    (
        "next",
        "time",
        r"(?:(?<=over the )|(?<=in the )|(?<=within the )|(?<=for the )|(?<=during the ))next "
        rf"(?:{UNIT})\b",
    ),
    ("coming upcoming", "time", rf"(?:up)?coming (?:few |{COUNT} )?(?:{UNIT}|{_WEEKDAY})\b"),
    (
        "this",
        "time",
        rf"this (?:coming |past |very )?(?:morning|afternoon|evening|{_LONG}|{_WEEKDAY}|{_MONTH})\b(?<!terms)(?! of\b)",
    ),
    ("that", "time:start", r"that (?:day|night|week|weekend|month|year|morning|afternoon|evening)\b"),
    ("these", "time", r"these days\b|these past\b"),
    ("back", "time", r"back then\b|back in the day\b"),
    ("other", "time", r"(?<=the )other (?:day|night|week|month|morning|evening)\b(?!\sof)"),
    ("in", "time:future", rf"in (?:about |around |just |less than |under |another )?{COUNT} (?:more )?{UNIT}\b"),
    ("later", "time:later", r"later(?=\s*[.!?]|\s*$|\s+(?:in|on in) the (?:day|week|month|year)\b)"),
    ("earlier", "time", r"earlier in the (?:day|week|month|year)\b"),
    ("shortly", "time", r"shortly(?!\s+(?:after|before|there|following|prior))"),
    ("to", "time:start", r"to date(?=,)"),
    (
        "night week weekend month year",
        "time",
        r"(?<=the )(?:night|week|weekend|month|year) (?:before last|after next)\b",
    ),
    ("moment", "time", r"(?:(?<=at the )|(?<=at this ))moment\b(?!\s(?:of|when|that))"),
    ("present", "time", rf"(?<=the )present (?:{_OFFICE})\b"),
    ("present", "time", r"(?<=at )present\b(?!ation|s)"),
    ("future", "time", r"(?<=in the )future\b(?!\s(?:tense|of))"),
    ("near foreseeable distant", "time", r"(?<=in the )(?:near|foreseeable|distant) future\b"),
    ("while", "time", r"(?<=a )while back\b"),
    ("days weeks months years", "time", r"(?:days|weeks|months|years) back\b(?!\s(?:up|to|in))"),
    (
        "just",
        "time:just",
        r"just (?:now|(?:been )?(?:(?!(?:need|feed|indeed|speed|want|stay|us|bas|rest|watch|suppos|mean|"
        r"allow|assum|hop|decid|hard|talent)(?:ed)?\b)\w{2,}ed|got|gotten|left|bought|began|begun|came|"
        r"went|gone|had|made|met|sent|sold|"
        r"told|took|taken|won|wrote|written|built|found|became|become|gave|given|lost|paid|quit|read|said|saw|seen|"
        r"spoke|broke|broken|chose|ate|eaten|flew|heard|hired|woke))\b",
    ),
    (
        "end beginning start middle",
        "time:habit",
        r"(?:end|beginning|start|middle) of (?:the |this |next |last )?(?:week|month|year|quarter|"
        r"semester)\b(?! of)",
    ),
    ("end", "time:habit", r"(?<=by )end of (?:the )?day\b|(?<=by the )end of (?:the )?day\b"),
    (
        "weekend",
        "time:habit",
        r"(?:(?<=over the )|(?<=for the )|(?<=after the )|(?<=before the )|(?<=until the )|(?<=by the )|"
        r"(?<=during the ))weekend\b",
    ),
    (
        "current",
        "time",
        r"current (?:job|employer|role|company|address|plan|salary|project|team|position|apartment|"
        r"situation|boss|manager|"
        r"city|title|landlord|girlfriend|boyfriend|week|month|year|quarter|sprint|semester|priority|goal|"
        r"rent|weight)s?\b",
    ),
    (
        "so",
        "time",
        r"so far\b(?! (?:away|from|as|that|apart|ahead|behind|above|below|out|off|north|south|east|west|up|down|"
        r"back)\b)",
    ),
    (
        "following",
        "time:sequel",
        r"(?<=the )following (?:day|night|week|weekend|month|year|morning|afternoon|evening)\b",
    ),
    ("next", "time:sequel", r"(?<=the )next (?:day|morning|afternoon|evening)\b"),
    ("here", "pass", r"(?-i:Here (?:Maps|Technologies|WeGo))\b"),
    ("here here's", "pass", r"here (?:and there|to stay)\b|(?<=neither )here nor there\b"),
    ("here", "pass", r"(?-i:Here (?:Comes?|We|I|You|They|Is|Are|Lies|Be)\b)"),
    ("over out back up down in around near right", "pass", r"(?-i:[A-Z][a-z]+ (?:Here|There))\b"),
    ("hang", "pass", r"hang in there"),
    (
        "over out back up down in around near right",
        "place",
        r"(?:over|out|back|up|down|in|around|near|right) (?:here|there)\b(?!\s(?:is|are|was|"
        r"were)\b)(?!['’]s)",
    ),
    ("here here's here're", "place", ""),
    (
        "there",
        "pass",
        r"there (?:is|are|was|were|will|has|have|had|must|may|might|could|should|can|would|seems?|seemed|"
        r"exists?|existed|"
        r"remains?|remained|isn['’]t|aren['’]t|wasn['’]t|weren['’]t|won['’]t|used to|appears?|goes|came|"
        r"comes|needs|still|also|"
        r"currently|were|cannot|can['’]t|never|no longer)\b",
    ),
    (
        "there",
        "pass",
        r"(?:(?<=is )|(?<=are )|(?<=was )|(?<=were )|(?<=hi )|(?<=hello )|(?<=hey ))there(?=\s(?:an?|any|"
        r"enough|no|more|some|still)\b|,|!)",
    ),
    ("there", "pass", r"(?-i:(?<=Is )|(?<=Are )|(?<=Was )|(?<=Were ))there(?=\s\w)"),
    ("there", "pass", r"(?<=then and )there|(?<=here and )there|(?<=hang in )there"),
    ("there", "place", ""),
    ("nearby yonder hereabouts", "place", ""),
    ("locally", "place", r"(?:(?<=lives )|(?<=live )|(?<=works )|(?<=shops )|(?<=lived ))locally"),
    ("this that", "pass", r"(?-i:Th(?:is|at) [A-Z][a-z]+)\b"),
    ("this that", "place", rf"(?:this|that) (?:{_PLACE})\b(?!\s(?:of affairs|that))"),
    ("these those", "place", r"(?:these|those) parts\b"),
    ("next", "place", r"next door\b(?!\sto\b)"),
    ("across", "place", r"across the (?:street|road|hall|hallway)\b(?!\s(?:from|to|of)\b)"),
    ("around round", "place", r"(?<!just )(?:around|round) the corner\b(?!\s(?:from|of)\b)"),
)
