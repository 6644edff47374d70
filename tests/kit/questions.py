"""Questions and the one statement that answers each: written for these tests. And pairs of known kinship."""

from __future__ import annotations

from functools import cache

from historian.embed import BuiltinEmbedder


@cache
def builtin() -> BuiltinEmbedder:
    """The built-in model, loaded once for all tests of a process."""
    return BuiltinEmbedder()


CHINESE = [
    ("我老婆对什么东西过敏？", "用户的妻子对海鲜过敏，吃了会起疹子。"),
    ("上次我们说好几点开会来着？", "周例会定在每周三下午三点。"),
    ("小明在哪里上大学？", "小明今年考上了武汉大学，学的是土木工程。"),
    ("家里的猫多大了？", "用户的布偶猫今年三岁半。"),
    ("我喜欢喝什么咖啡？", "用户喝咖啡只喝美式，从不加糖。"),
    ("车停在哪了？", "用户把车停在地下二层B区。"),
    ("爸爸做的什么手术？", "父亲上个月在协和医院做了膝盖手术。"),
    ("我们的生产数据库用的是什么？", "线上环境的数据库是PostgreSQL十六。"),
    ("谁负责前端？", "前端页面由刘洋负责开发。"),
    ("Wi-Fi密码改成啥了？", "家里无线网的新密码贴在路由器背面。"),
    ("我想学什么新技能？", "用户打算今年学会弹吉他。"),
    ("我们去年去哪旅游了？", "去年国庆全家去了云南大理旅行。"),
    ("房租多少钱？", "用户租的房子每个月租金四千五百元。"),
    ("有什么电影推荐给我？", "朋友向用户推荐了科幻片《流浪地球》。"),
    ("孩子的老师姓什么？", "儿子的班主任是一位姓周的女老师。"),
    ("我几点睡觉？", "用户习惯晚上十一点半上床休息。"),
    ("快递到哪里了？", "包裹目前在广州的分拣中心。"),
    ("我最近在减肥吗？", "用户正在控制饮食，目标是瘦十斤。"),
    ("阿强为什么辞职？", "阿强因为加班太多而离开了公司。"),
    ("结婚纪念日是哪天？", "用户和太太是五月二十日领的结婚证。"),
]

ENGLISH = [
    ("What does my wife do for a living?", "The user's wife works as a paediatric nurse."),
    ("Where did I leave the spare keys?", "The spare house keys are under the blue flower pot."),
    ("Which programming language does Sam like best?", "Sam's favourite language is Rust."),
    ("When is the dentist appointment?", "The user sees the dentist on the ninth of May."),
    ("How does Maria take her tea?", "Maria drinks tea with milk and no sugar."),
    ("What is our wifi network called?", "The home wireless network is named Bluebird."),
    ("Why was the release postponed?", "The release slipped because the payment tests kept failing."),
    ("What sport does my son play?", "The user's son plays basketball on Saturdays."),
    ("Who looks after the garden?", "Mr Hughes mows the lawn and prunes the roses."),
    ("Which hospital was grandma in?", "Grandmother stayed at Saint Mary's hospital after the fall."),
    ("What did I order for the birthday party?", "A chocolate cake was ordered for the birthday party."),
    ("How much do we pay for electricity?", "The monthly power bill is about eighty dollars."),
    ("What is the deployment server running?", "Production runs on Debian with nginx in front."),
    ("What am I reading at the moment?", "The user is halfway through a novel by Ursula Le Guin."),
    ("Where do we go on holiday?", "The family spends every summer at a lake in Sweden."),
    ("Does Ben eat meat?", "Ben has been a vegan for six years."),
    ("What was the name of that restaurant?", "They had dinner at a Thai place called Lotus House."),
    ("How do I get to work?", "The user commutes by bicycle, about twenty minutes each way."),
    ("What instrument is Nina learning?", "Nina takes cello lessons on Mondays."),
    ("Which laptop did I buy?", "The user bought a second-hand ThinkPad."),
]

CROSSED = [
    ("What is he allergic to?", "他对青霉素过敏。"),
    ("Where does the user live?", "用户住在成都市武侯区。"),
    ("What is the dog's name?", "邻居家的狗叫旺财。"),
    ("When does the train leave?", "开往北京的高铁早上七点发车。"),
    ("What does she do on weekends?", "她周末常去爬山。"),
    ("女儿想要什么生日礼物？", "The daughter wants a telescope for her birthday."),
    ("他为什么睡不好？", "He sleeps badly because of the noise from the street."),
    ("我的医生是谁？", "The user's doctor is Dr Novak at the city clinic."),
    ("预算是多少？", "The project has a budget of forty thousand euros."),
    ("他们喜欢什么音乐？", "They listen to jazz and old blues records."),
]

PARAPHRASES = [
    ("用户喜欢在晚上跑步。", "用户爱在夜里跑步。"),
    ("会议改到了星期五下午。", "会议时间改为周五下午。"),
    ("她的哥哥在银行上班。", "她哥哥在银行工作。"),
    ("这家餐厅的烤鸭很好吃。", "这家饭店的烤鸭非常美味。"),
    ("他已经戒烟三年了。", "他戒烟有三年了。"),
    ("我们决定使用新的框架。", "我们决定采用新框架。"),
    ("小狗昨天生病了。", "昨天小狗病了。"),
    ("The user likes to run at night.", "The user enjoys running in the night."),
    ("The meeting was moved to Friday afternoon.", "The meeting has been shifted to Friday afternoon."),
    ("Her brother works in a bank.", "Her brother is employed at a bank."),
    ("He stopped smoking three years ago.", "He quit smoking three years ago."),
    ("We decided to use the new framework.", "We chose to adopt the new framework."),
    ("The puppy fell ill yesterday.", "Yesterday the puppy got sick."),
    ("The printer on the second floor is broken.", "The second-floor printer does not work."),
    ("用户住在一个小镇上。", "The user lives in a small town."),
    ("她喜欢看恐怖电影。", "She likes watching horror movies."),
    ("The report is due next month.", "报告下个月要交。"),
    ("He is learning to drive.", "他正在学开车。"),
]

UNRELATED = [
    ("用户喜欢在晚上跑步。", "数据库每周备份一次。"),
    ("会议改到了星期五下午。", "他的猫掉了一颗牙。"),
    ("她的哥哥在银行上班。", "厨房的水龙头漏水。"),
    ("这家餐厅的烤鸭很好吃。", "航班因为大雾取消了。"),
    ("他已经戒烟三年了。", "新版本修复了登录的错误。"),
    ("我们决定使用新的框架。", "奶奶在阳台上种番茄。"),
    ("小狗昨天生病了。", "股票价格今天上涨。"),
    ("The user likes to run at night.", "The invoice number is missing."),
    ("The meeting was moved to Friday afternoon.", "Penguins cannot fly."),
    ("Her brother works in a bank.", "The soup needs more salt."),
    ("He stopped smoking three years ago.", "The museum is closed for repairs."),
    ("We decided to use the new framework.", "Grandmother grows tomatoes on the balcony."),
    ("The puppy fell ill yesterday.", "Shares rose sharply today."),
    ("The printer on the second floor is broken.", "She dreams of living by the sea."),
    ("用户住在一个小镇上。", "The compiler reports a type error."),
    ("她喜欢看恐怖电影。", "The bridge was built in 1930."),
    ("The report is due next month.", "他妹妹会拉小提琴。"),
    ("He is learning to drive.", "苹果树开花了。"),
]
