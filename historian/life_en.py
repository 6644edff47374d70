"""What somebody tells in English of their own life: what happened, what they do, what is so with those close to them.

Frames of a subject, a verb and a thing that lasts. Each reads one clause from its beginning.
"""

from __future__ import annotations

from typing import Final

from historian.life_words import (
    BODY_EN,
    DEVICE_EN,
    PASTIME_EN,
    PERSON_EN,
    PET_EN,
    RACE_EN,
    SHOP_EN,
    THING_EN,
    WORK_EN,
)

_DAY: Final = r"(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day"
_OPENING: Final = (
    r"(?:\A|[,;，；。]\s?|\s(?:and|but|because|since|so|as|after)\s|[\u4e00-\u9fff])"
    r"(?i:(?:so|and|but|well|oh|hey|hi|hello|also|btw|by\sthe\sway|actually|unfortunately|sadly|luckily|finally|recently|today|yesterday|"
    r"good\snews|bad\snews|sad\snews|big\snews|guess\swhat|fyi|(?:last|this)\s(?:week|month|year|night|morning|weekend|spring|summer|autumn|winter|\w+day)|"
    rf"on\s{_DAY}|in\s(?:19|20)\d\d|in\s[A-Z]\w{{2,8}}|(?:a|two|three|four|five|\d+)\s(?:days?|weeks?|months?|years?)\sago),?:?\s){{0,3}}"
)
_ADVERB: Final = (
    r"(?:\s(?:just|finally|recently|also|already|now|still|even|actually"
    r"|really|usually|always|both|sadly|accidentally|officially)){0,2}"
)
_DONE: Final = rf"(?:['’]ve|\shave|\shad)?{_ADVERB}"
_I: Final = rf"{_OPENING}I{_DONE}\s"
_I_OR_WE: Final = rf"{_OPENING}(?:I|[Ww]e){_DONE}\s"
_AM: Final = rf"{_OPENING}I(?:['’]m|\sam|['’]ve\sbeen|\shave\sbeen){_ADVERB}\s"
_ARE: Final = (
    rf"{_OPENING}(?:I(?:['’]m|\sam|['’]ve\sbeen|\shave\sbeen)"
    rf"|[Ww]e(?:['’]re|\sare|['’]ve\sbeen|\shave\sbeen)){_ADVERB}\s"
)
_GOT: Final = (
    rf"{_OPENING}I(?:{_ADVERB}\s(?:got|was|became)|['’]ve(?:{_ADVERB}\sbeen)|\shave(?:{_ADVERB}\sbeen)){_ADVERB}\s"
)
_MY: Final = rf"{_OPENING}(?:[Mm]y|[Oo]ur)\s"
_SOME: Final = r"(?:an?|my|our|the|another|some|two|three|four)\s(?:[\w-]+\s){0,3}?"
_NEW: Final = r"(?:an?|my|our|the|another|two)\s(?:[\w'’-]+\s){0,3}?"

FACTS_EN: Final[tuple[str, ...]] = (
    # bodies and health
    rf"{_I}(?:broke|broken|sprained|twisted|fractured|dislocated|injured|hurt|tore|torn|strained|pulled|burnt|burned|bruised|chipped)\s"
    rf"(?:my|an?|two|three|some)\s(?:[a-z]+\s)?{BODY_EN}",
    rf"{_I}(?:had|undergone|underwent)\s(?:(?!to\b)[\w'’-]+\s){{0,4}}?(?:surgery|operation|biopsy|transplant|chemotherapy|stroke|heart\sattack|miscarriage|"
    r"c-section|root\scanal|(?:car|bike|cycling|motorbike|skiing|riding|climbing)\saccident|tooth\s(?:pulled|out|removed|extracted)|appendix\s(?:out|removed))\b",
    rf"{_OPENING}I(?:['’]m|\sam)?{_ADVERB}\s(?:taking|take|on)\s(?:[a-z]+\s){{0,3}}?(?:medication|medicines?|pills|tablets|insulin|antidepressants|statins|"
    r"beta blockers|blood thinners|inhalers?|supplements|the pill)\b(?!\s(?:back|away|to))",
    rf"{_AM}on\s(?:an?\s(?:[\w-]+\s){{0,2}}diet|(?:maternity|paternity|parental|sick)\sleave|a\s(?:sabbatical|gap\syear))\b",
    rf"{_AM}(?:(?:partially|legally|half|almost)\s)?(?:deaf|blind|hard\sof\shearing|dyslexic|autistic|asthmatic|epileptic|immunocompromised|sober|widowed|"
    r"adopted|bilingual|self-employed|unemployed|freelancing|(?:two|three|four|five|six|seven|eight|\d)\s(?:weeks|months)\spregnant)\b|"
    rf"{_I}(?:get|have|suffer\sfrom)\s(?:bad\s|regular\s|frequent\s)?(?:migraines|hay\sfever|panic\sattacks|seasick|carsick|nosebleeds)\b",
    rf"{_I}(?:caught|got|had|contracted)\s(?:the\s|a\s)?(?:covid|COVID(?:-19)?|Covid|flu|chickenpox|shingles|pneumonia|measles|mumps|malaria|dengue|Lyme\sdisease|concussion)\b|"
    rf"{_I}threw\s(?:out\smy\sback|my\sback\sout)|{_I}(?:donated|gave)\s(?:blood|plasma|a\skidney)\b",
    rf"{_AM}(?:seeing|dating)\s(?:a\s(?:therapist|psychologist|psychiatrist|physio\w*)|[A-Z])|{_OPENING}I{_DONE}\sfell\s(?:off|down)\s(?:my|a|the)\s"
    rf"(?:bike|horse|ladder|stairs|motorbike|roof)|{_I}got\s\w+\sstitches\b",
    rf"{_I}(?:wear|need|got)\s(?:[a-z]+\s){{0,2}}?(?:contact\slenses|contacts|glasses|hearing\saids?|braces|dentures|a\spacemaker)\b",
    rf"{_MY}(?:blood\spressure|cholesterol|blood\ssugar|heart\srate|eyesight|hearing|thyroid|iron)\s(?:level\s)?(?:is|has)\s(?!\w+ing\b)",
    rf"{_OPENING}I(?:['’]ve|\shave)\s(?:been|had)\s(?!(?:trying|waiting|debugging|looking|asking|thinking|wondering|fighting|working\son|stuck|searching)\b)"
    r"[^.,;!?]{2,60}?\s(?:for\s(?:\w+\s){0,3}(?:months|years|decades)|since\s(?:childhood|school|college|university|(?:19|20)\d\d|I\swas))\b",
    # what one has, gets and loses
    rf"{_I_OR_WE}(?:bought|sold|purchased|inherited|leased|rented|rent|leas(?:e|ed)|acquired)\s(?:{_SOME}{THING_EN}|an?\s[A-Z]\w+(?:\s[A-Z]\w+)?\s\d)",
    rf"{_I}(?:got|own|lost|crashed|wrecked|totall?ed)\s{_SOME}{THING_EN}(?!\s(?:up|down|out|working|running|fixed|back|to|at|from|number|and\slost))",
    rf"{_OPENING}[Ww]e\shave\s{_NEW}(?:garden|balcony|allotment|house|flat|car|camper|boat|cottage|sauna|pool|son|daughter|kids|children)\b",
    rf"{_MY}(?:[\w-]+\s){{0,2}}?{THING_EN}\s(?:was|were|got|has\sbeen|have\sbeen)\s(?:just\s)?(?:stolen|nicked|broken\sinto|wrecked|towed|totall?ed|"
    r"damaged|scratched|smashed|flooded|burgled|robbed|hit|lost|burnt\sdown)\b",
    rf"{_OPENING}(?:[Ss]omebody|[Ss]omeone|[Tt]hieves|[Aa]\sthief|[Tt]hey)\s(?:stole|nicked|broke\sinto|smashed|robbed)\s(?:my|our)\s",
    rf"{_MY}(?:[\w-]+\s){{0,2}}?{DEVICE_EN}\s(?:broke|has\sbroken|broke\sdown|is\sbroken|cracked)(?:$|[\s.,!])",
    rf"{_OPENING}I{_ADVERB}\suse\s(?:an?\s)?[A-Z0-9]\w*(?:\s[A-Z]\w*)?\s(?:(?:as|for)\smy|at\s(?:work|home)|for\s(?:work|everything|coding|writing|programming|notes|editing|my\s\w+)|daily|every\sday)\b",
    # animals
    rf"{_I}(?:got|adopted|bought|rescued|fostered|foster|have|keep)\s(?:an?|another|two|three|four)\s(?:(?!hot\b)[\w-]+\s){{0,2}}?{PET_EN}(?=$|[\s.,!])"
    r"(?!\s(?:bowl|bed|food|toy|leash|lead|photo|meme|video|costume|sitter|called\sfor)\b)",
    # work and school
    rf"{_GOT}(?:promoted|demoted|laid\soff|fired|sacked|made\sredundant|hired|rehired|transferred|elected|appointed|naturali[sz]ed|accepted\s(?:to|into|at)|"
    r"admitted\s(?:to|into))\b",
    rf"{_I}(?:lost|left|started|got|found|changed|switched|landed|took|finished|completed)\s(?:(?:an?|my|the)\s)?(?:[\w'’-]+\s){{0,3}}?"
    r"(?:jobs?|position|internship|apprenticeship|traineeship|residency|degree|PhD|doctorate|master['’]s|bachelor['’]s|MBA|career|careers|business|studies)"
    r"(?=$|[\s.,!])(?!\s(?:queue|list|id|runner|title|file|in\sthe\squeue))",
    rf"{_AM}(?:doing|pursuing|finishing|taking|completing)\s(?:an?|my)\s(?:[\w'’-]+\s){{0,2}}?(?:master['’]?s|bachelor['’]?s|PhD|doctorate|MBA|degree|course|"
    r"diploma|internship|apprenticeship|gap\syear|residency)\b",
    rf"{_I}(?:got|received|earned|obtained|renewed|have)\s(?:my|an?|the)\s(?:[\w'’-]+\s){{0,3}}?(?:master['’]?s|bachelor['’]?s|PhD|doctorate|MBA|degree|diploma|"
    r"licen[cs]e|citizenship|visa|green\scard|residence\spermit|passport|scholarship|certificate)(?=$|[\s.,!])(?!\s(?:error|key|file))",
    rf"{_I}(?:passed|failed|took|sat)\s(?:(?:one|two)\sof\s)?(?:my|the|an?)\s(?:(?!unit\b)[\w'’-]+\s){{0,3}}?(?:exams?|finals|driving\stest|theory\stest|licen[cs]e|interview|"
    r"citizenship\stest|bar|viva|defen[cs]e|IELTS|TOEFL|HSK)\b|"
    rf"{_I}passed\s(?:[A-Z]+\s)?(?:[A-C][12]|IELTS|TOEFL|HSK\s\d)\b",
    rf"{_I_OR_WE}(?:opened|founded|started|launched|run|own|closed|sold)\s(?:an?|my|our|the)\s(?:(?!new\stab|file|issue)[\w-]+\s){{0,2}}?(?:own\s)?{SHOP_EN}",
    rf"{_OPENING}I(?:['’]m|\sam)\sthe\s(?:[\w-]+\s){{0,2}}?(?:head|director|owner|founder|captain|manager|principal|treasurer|chair)\sof\s",
    rf"{_I}(?:went\s(?:bankrupt|freelance|part-time|back\sto\s(?:school|university|college))|took\sover\s(?:the|my)\s(?:[\w'’-]+\s){{0,2}}?(?:farm|{SHOP_EN}))",
    rf"{_I}(?:handed\sin\smy\s(?:notice|resignation)|got\s(?:a|my)\s(?:pay\s)?(?:raise|rise|promotion)|dropped\sout\sof\s(?:school|college|university|high\sschool))\b|{_MY}(?:visa|passport|lease|work\spermit|contract|licen[cs]e)\s"
    r"(?:expired|expires|ends|ended|was\s(?:renewed|granted|denied|refused))\b|"
    rf"{_I}turned\s(?:\d\d|twenty|thirty|forty|fifty|sixty|seventy)(?=$|[\s.,!])",
    # what one makes and wins
    rf"{_MY}(?:[\w-]+\s){{0,2}}?(?:paper|thesis|novel|book|manuscript|article|PhD|application\s(?:to|for)\s\w+)\s(?:was|got|has\sbeen)\s(?:accepted|rejected|published|delayed|approved)\b",
    rf"{_I}(?:published|wrote|written|released|finished\swriting|defended|self-published)\s(?:an?|my|our)\s(?:[\w'’-]+\s){{0,2}}?(?:{WORK_EN}|paper\b)",
    rf"{_AM}(?:writing|recording|illustrating|publishing)\s(?:an?|my)\s(?:[\w'’-]+\s){{0,2}}?{WORK_EN}",
    rf"{_I}(?:ran|run|finished|completed|won|entered|signed\sup\sfor)\s(?:an?|my|the)\s(?:[\w'’-]+\s){{0,3}}?{RACE_EN}(?!\scondition)",
    rf"(?:{_I_OR_WE}|{_MY}(?:[\w-]+\s){{1,3}}?)(?:won|got|received|earned|was\sawarded)\s(?:(?:an?|the|my|our)\s)?(?:[\w'’-]+\s){{0,3}}?(?:prize|award|medal|"
    r"scholarship|trophy|championship|grant)(?=$|[\s.,!])",
    rf"{_I}(?:beat|broke|set)\s(?:my|an?|the)\s(?:[\w'’-]+\s){{0,3}}?(?:personal\sbest|PB|record)(?=$|[\s.,!])|"
    rf"{_I}lost\s(?:all\s)?(?:a\slot\sof\s|my\s)?(?:money|savings)\s(?:on|in)\s",
    # what one learns and does again and again
    rf"{_I}(?:started|begun|began|taken\sup|took\sup|given\sup|gave\sup|quit|stopped|resumed|returned\sto)\s"
    rf"(?:(?:learning|studying|practi[cs]ing|playing|taking|doing|teaching|to\s(?:learn|study|play|practi[cs]e|take))\s)?{PASTIME_EN}(?!\s(?:the|this|that|it|my|your|tests?)\b)",
    rf"{_I}(?:stopped|quit|gave\sup|given\sup)\s(?:smoking|drinking|vaping|gambling|eating\s\w+|driving|flying|caffeine|alcohol|sugar|meat|dairy)\b",
    rf"{_OPENING}I\s(?:do\snot|don['’]t|never)\s(?:smoke|drive|own\s(?:a|an)\s|have\s(?:a\s(?:car|TV|driving)|kids|children|siblings|pets))(?=$|[\s.,!])(?!\s(?:this|that|it)\b)",
    rf"{_OPENING}I\sonly\s(?:eat|drink|wear|buy|cook|read)\s(?!it\b|this|that|the\b|when|one\b)[a-z]+",
    rf"{_I}(?:learn(?:ed|t)|taught\smyself)\s(?:how\s)?to\s(?:swim|drive|ski|skate|ride|sail|dance|sing|knit|sew|bake|cook|code|program|dive|surf|juggle|play\s)|"
    rf"{_AM}teaching\smyself\s(?:to\s)?(?!this|that)\w+",
    rf"{_AM}(?:practi[cs]ing|taking|teaching|learning(?:\sto\splay)?|taking\sup|into)\s{PASTIME_EN}(?!\s(?:the|this|that|it|my|your|tests?)\b)",
    rf"{_AM}(?:training|preparing|practi[cs]ing|studying|cramming)\sfor\s(?:an?|my|the)\s(?:[\w'’-]+\s){{0,3}}?(?:{RACE_EN}|exams?\b|finals\b|recital\b|audition\b|"
    r"concert\b|IELTS\b|TOEFL\b)|" + rf"{_AM}saving\s(?:up\s)?for\s(?:an?|my|our)\s\w",
    rf"{_OPENING}I{_ADVERB}\s(?:run|swim|cycle|jog|hike|climb|ski|dance|sing|paint|draw|volunteer|meditate|play|do|practi[cs]e|train|exercise|coach|teach|row|sail|ride|"
    r"cook|bake|garden|knit|pray|fast|walk|go|visit|call|attend|have)\s(?!(?:this|that|it|the\s(?:test|code|script)s?)\b)"
    rf"[^.,;!?]{{0,40}}?(?:(?:every|each)\s(?:single\s|other\s)?(?:morning|day|week|weekend|evening|night|month|year|spring|summer|autumn|winter|{_DAY})|(?:on|at)\s(?:{_DAY}s|weekends|weekdays|(?:the\s)weekends?)|"
    r"(?:once|twice|(?:three|four|five|\d)\stimes)\sa\s(?:week|day|month|year))\b",
    rf"{_OPENING}I{_ADVERB}\s(?:cycle|bike|walk|commute|drive|ride|take\sthe\s(?:bus|train|tram|metro|subway|ferry))\s(?:[a-z]+\s){{0,3}}?to\s(?:work|school|college|"
    r"university|the\soffice|my\s(?:job|office))\b",
    rf"{_I}joined\s(?:an?|the|my|our)\s(?:[\w'’-]+\s){{0,3}}?(?:club|choir|band|team|gym|orchestra|society|union|league|party|army|navy)(?=$|[\s.,!])",
    rf"{_OPENING}I{_ADVERB}\s(?:volunteer|freelance|babysit|foster|coach|lecture|busk)\s(?:at|for|with|in|as|on)\s|{_OPENING}I{_ADVERB}\s(?:grow|raise|breed|collect|brew)\s"
    r"(?:my\sown\s)?(?!the\b|this|that|it\b|logs|data|metrics|up\b|an?\s)[a-z]+",
    rf"{_OPENING}I\s(?:usually|always|normally|generally|never)\s(?:get\sup|wake\sup|go\sto\sbed|go\sto\ssleep|start\swork|finish\swork|have\s(?:breakfast|lunch|dinner)|skip|sleep)\b|"
    rf"{_OPENING}I\s(?:get\sup|wake\sup|go\sto\s(?:bed|sleep)|start\swork|finish\swork)\s(?:at|before|after|around)\s",
    rf"{_I}(?:climbed|summited|hiked|sailed\saround|cycled\sacross|trekked)\s(?:the\s|up\s|to\s)?[A-Z]|{_I}became\s(?:(?:an?|the)\s)?(?:\w+\s){{0,3}}?(?:citizen|resident|vegetarian|vegan|"
    r"grandmother|grandfather|grandparent|father|mother|parent|dad|mum|mom|manager|doctor|nurse|teacher|partner|professor|lawyer|pilot|member|lead|head|director)\b",
    rf"{_AM}paying\soff\s(?:an?|my|our)\s|{_AM}going\sthrough\s(?:an?|my)\s(?:divorce|separation|bankruptcy|midlife|chemo)",
    rf"{_ARE}going\s(?:back\s)?(?:to|on)\s(?:[A-Z]\w+|exchange|honeymoon)\s[^.,!?]{{0,30}}?(?:(?:this|next)\s(?:spring|summer|autumn|fall|winter|month|year|term|semester)|"
    r"in\s[A-Z]\w+|for\s(?:\w+\s)?(?:weeks?|months?|years?|holiday|vacation))",
    rf"{_OPENING}I\s(?:want|hope|plan|dream)\s(?:to|of)\s(?:become|becoming|be|being)\san?\s(?!bit\b|better\b)[a-z]+",
    # homes
    rf"{_I}(?:lived|worked|studied|taught)\s(?:in|at|for|on)\s(?!the\s(?:code|file|test|bug))[^.,;!?]{{2,40}}?\s(?:for\s(?:\w+\s){{0,2}}(?:months|years)|from\s(?:19|20)\d\d|until\s(?:19|20)\d\d)",
    rf"{_OPENING}I{_ADVERB}\s(?:share|rent)\s(?:an?|the)\s(?:\w+\s)?(?:flat|apartment|house|room|office|studio)\b",
    rf"{_OPENING}[Ww]e{_DONE}\smoved\s(?:to|into|from|back|out|house)\b",
    rf"{_ARE}(?:renovating|redecorating|remodell?ing|refurbishing|doing\sup|extending)\s(?:our|my|the|an?)\s(?:[\w-]+\s)?(?:kitchen|bathroom|house|flat|apartment|"
    r"home|attic|loft|cottage|garage|bedroom|garden)\b",
)
BONDS_EN: Final[tuple[str, ...]] = (
    rf"{_I}(?:broke|broken|split)\sup\s(?:with\s)?(?:my|[A-Z])|{_I}(?:got\sback\stogether|fell\sout|moved\sin)\swith\s(?:my|[A-Z])",
    rf"(?:{_I_OR_WE})(?:got|are|am|were|was)?\s?(?:engaged|married|divorced|separated)(?=$|[\s.,!])",
    rf"{_I_OR_WE}had\s(?:an?|our|my)\s(?:[\w-]+\s){{0,2}}?(?:baby|son|daughter|boy|girl|child)\b(?!\s(?:shower|monitor))",
    rf"{_MY}(?:[a-z-]+\s)?(?:{PERSON_EN}|{PET_EN})(?:\s[A-Z]\w+|\sof\s\w+\s(?:years|months))?(?:\sjust|\ssadly|\sfinally|\srecently)?\s(?:died|became\s|dropped\sout|fell\s(?:and|down|off)|(?:has\s)?passed\saway|went\smissing|ran\saway|"
    r"(?:is|was)\sborn|retired|graduated|emigrated|moved|changed\s(?:jobs|careers|schools)|lost\s(?:a|the)\sjob|got\s(?:engaged|married|divorced|promoted|a\s(?:new\s)?"
    r"(?:job|dog|cat)|into\s[A-Z]|accepted|laid\soff)|(?:was|has\sbeen)\s(?:diagnosed|hospitali[sz]ed|promoted|laid\soff)|had\s(?:an?|another|twins|the|two|three|four|five|six)\b\s?"
    r"(?:[\w-]+\s){0,2}?(?:baby|boy|girl|son|daughter|twins|puppies|kittens|litter|surgery|stroke|heart\sattack|operation|accident|fall|miscarriage)|"
    r"(?:starts|started|begins|finishes|finished|attends|goes\sto)\s(?:(?:a|the|at|primary|middle|high|secondary|elementary|new|medical|law|art)\s)*"
    r"(?:school|kindergarten|nursery|college|university|day\s?care|job|[A-Z]\w+)|(?:is|has\sbeen)\sin\s(?:the\s)?(?:hospital|hospice|rehab)|"
    r"(?:broke|sprained|fractured|tore)\s(?:an?|two)\s|(?:lives|works|studies|live|work|study)\s|(?:has|have)\s(?!an?\s(?:question|point|idea|meeting|cold|headache)|to\b|been\b|no\b|just\b)\w|plays\s|teaches\s|speaks\s|serves\s|volunteers\s|lectures\s|is\s(?:learning|studying|training|doing\s(?:an?|her|his)\s)|runs\s|owns\s|sings\s|suffers\s|turned\s\d|"
    r"(?:is|are|turn|turns|turned)\s(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)\b(?!\s(?:minutes|times|hours|people)))",
    rf"{_MY}(?:[a-z-]+\s)?(?:{PERSON_EN})(?:\s[A-Z]\w+)?\sand\sI\s(?:got|are|were|have|moved|bought|live|broke|split|met|adopted|run)\b",
)
UNSURE_EN: Final = (
    r"\b(?i:if|whether|almost|nearly|guess|may|might|maybe|perhaps|probably|dream(?:s|ed|t|ing)?|wish|would|could|should|imagine|pretend(?:ing|ed)?|jok(?:e|ing)|"
    r"kidding|hypothetically|supposedly|apparently|metaphorically|ever|once\sI|unless|as\sthough|sarcasm|/s|yeah\sright)\b|[\"“”「『]"
    r"|\b(?i:said|says|told\sme|wrote|quote|read\sthat|heard\sthat|in\s(?:the|a|my|this)\s(?:story|novel|game|film|movie|dream|book|scene|example|demo))\b"
)
"""What makes a clause no plain statement of one's life."""
