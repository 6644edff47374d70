"""What lives are told with, in both languages side by side: bodies, belongings, animals, callings, pastimes.

Each class holds as much in one language as in the other. What is used up, and what a conversation about work is about
(files, tests, tabs), is in none.
"""

from __future__ import annotations

from typing import Final

from historian.plans import KIN_EN, KIN_ZH

BODY_EN: Final = (
    r"(?:arm|leg|wrist|ankle|knee|foot|heel|toe|finger|thumb|hand|elbow|shoulder|hip|rib|nose|jaw|tooth|back|neck|skull|spine|"
    r"collarbone|hamstring|tendon|achilles|ligament|meniscus|ACL|calf|shin|thigh|muscle)s?\b"
)
BODY_ZH: Final = (
    r"(?:胳膊|手臂|手腕|手指|拇指|手肘|胳膊肘|手|小腿|大腿|腿|脚踝|脚趾|脚跟|脚|膝盖|髋部|腰|肩膀?|锁骨|肋骨|鼻梁|鼻子|下巴|门牙|牙|背|脖子|颈椎|脊椎|"
    r"韧带|跟腱|半月板|肌肉|小指)"
)
THING_EN: Final = (
    r"(?:e-?bikes?|bikes?|bicycles?|motorbikes?|motorcycles?|scooters?|cars?|vans?|campervans?|boats?|kayaks?|canoes?|caravans?|drones?|cameras?|lens|"
    r"phones?|smartphones?|laptops?|tablets?|computers?|monitors?|consoles?|headphones|earphones|keyboards?|printers?|watch|glasses|telescopes?|"
    r"wallets?|passports?|keys?|purses?|backpacks?|suitcases?|luggage|handbags?|houses?|flats?|apartments?|condos?|cottages?|cabins?|"
    r"plots?|allotments?|gardens?|greenhouses?|garages?|workshops?|studios?|pianos?|guitars?|violins?|cellos?|drum\skits?|synthesi[sz]ers?|saxophones?|"
    r"sofas?|couch|beds?|desks?|fridges?|freezers?|washing\smachines?|dishwashers?|sewing\smachines?|coffee\smachines?|bread\smachines?|3D\sprinters?|tents?|"
    r"surfboards?|snowboards?|skateboards?|skis|treadmills?|kilns?|easels?|rings?|necklaces?|jewel(?:le)?ry|hearing\saids?|badges?|(?:ID|bank|credit)\scards?|driving\slicen[cs]e|"
    r"parking (?:space|spot)|MacBook|iPhone|iPad|Kindle|自行车|电动车|相机|手机|电脑|笔记本|钱包|护照)\b"
    r"(?!['’-]|\s(?:cases?|covers?|stands?|straps?|mounts?|screenshots?|models?|apps?|cables?|chargers?|tickets?|shortcuts?|numbers?|parts?|magazines?|washes|wash|park|calls?|drivers?|"
    r"posts?|views?|rentals?|insurance|errors?|values?)\b)"
)
THING_ZH: Final = (
    r"(?:自行车|单车|电动车|摩托车?|轿车|房车|新车|二手车|汽车|车(?![票次位上里祸站间程道厘费牌贷险])|相机|镜头|手机(?![号壳膜卡])|电脑(?![版端])|笔记本|平板|显示器|游戏机|耳机|键盘|"
    r"打印机|手表|眼镜(?![店布])|望远镜|钱包|护照|身份证|钥匙|背包|行李箱?|手提包|房子|房(?![间租贷产东价客])|公寓|别墅|院子|花园|车库|工作室|钢琴|吉他|小提琴|大提琴|架子鼓|萨克斯|古筝|"
    r"沙发|床(?!单|垫|位|上)|书桌|冰箱|洗衣机|洗碗机|缝纫机|咖啡机|面包机|帐篷|冲浪板|滑雪板|滑板|皮划艇|船(?![票上长])|无人机|跑步机|戒指|项链|首饰|助听器|工牌|门禁卡|银行卡|信用卡|社保卡|驾照|车位|laptop|MacBook|iPhone|iPad|Kindle|PS5|e-?bike)"
)
DEVICE_EN: Final = (
    r"(?:phone|phone\sscreen|laptop|camera|car|bike|bicycle|motorbike|scooter|fridge|freezer|washing\smachine|dishwasher|boiler|"
    r"heater|oven|glasses|tablet|watch|piano|guitar)"
)
PET_EN: Final = (
    r"(?:dogs?|cats?|pupp(?:y|ies)|kittens?|rabbits?|bunn(?:y|ies)|hamsters?|guinea\spigs?|parrots?|budgies?|canar(?:y|ies)|"
    r"tortoises?|turtles?|goldfish|horses?|pon(?:y|ies)|hens?|chickens|ferrets?|gerbils?|lizards?|geckos?)"
)
PET_ZH: Final = (
    r"(?:小狗|狗狗|大狗|狗|小猫|猫咪|猫|兔子|仓鼠|豚鼠|荷兰猪|鹦鹉"
    r"|乌龟|金鱼|小马|马|母鸡|蜥蜴|守宫|金毛|柯基|柴犬|泰迪|布偶)"
)
PERSON_EN: Final = (
    rf"(?:{KIN_EN}|nephew|niece|grandson|granddaughter|grandchild|grandparents|fiance|twins|baby|in-laws|mother-in-law|father-in-law|"
    r"brother-in-law|sister-in-law|husband-to-be|ex-wife|ex-husband|ex|mum\sand\sdad|mom\sand\sdad|spouse|fiancé|twin\s(?:sons|daughters|brother|sister)|sons|daughters|brothers|sisters|grandparents|colleagues)"
)
PERSON_ZH: Final = (
    rf"(?:{KIN_ZH}|侄[子女]|外甥女?|孙[子女]|外孙女?|岳父|岳母|公公|婆婆|姥姥|姥爷|叔叔|舅舅|姑姑|阿姨|姨妈|嫂子|姐夫|妹夫|未婚[夫妻]|爱人|双胞胎|前夫|前妻|"
    r"表[哥姐弟妹]|堂[哥姐弟妹])"
)
CALLING_ZH: Final = (
    r"(?:护士|[兽牙中西校军]医|医生|大夫|老师|教师|讲师|教授|律师|会计|编辑|记者|翻译|导游|导演|演员|作家|画家|厨师|司机|保安|前台|销售|运营|客服|设计|开发|测试|程序员|码农|"
    r"志愿者|义工|学徒|助教|实习生|店员|店长|组长|班长|队长|部长|院长|校长|总监|主任|主管|经理|助理|秘书|顾问|教练|研究员|工程师|架构师|[\u4e00-\u9fff]{1,4}[师员])"
)
PASTIME_EN: Final = (
    r"(?:(?:the\s|my\s)?(?:cello|violin|viola|piano|guitar|flute|clarinet|saxophone|trumpet|drums|bass|ukulele|harp|harmonica|accordion|organ|banjo|guzheng|erhu)|"
    r"badminton|tennis|table\stennis|squash|golf|chess|football|soccer|basketball|volleyball|rugby|hockey|cricket|baseball|bridge|mahjong|"
    r"yoga|pilates|karate|judo|taekwondo|tai\schi|boxing|ballet|salsa|tango|pottery|ceramics|calligraphy|origami|photography|archery|fencing|"
    r"running|jogging|swimming|cycling|climbing|bouldering|hiking|skiing|snowboarding|surfing|sailing|rowing|diving|skating|riding|dancing|singing|"
    r"painting|drawing|knitting|crochet|sewing|woodworking|gardening|baking|weightlifting|meditation|meditating|volunteering|journaling|birdwatching|"
    r"Mandarin|Chinese|Cantonese|Japanese|Korean|English|French|German|Spanish|Italian|Portuguese|Russian|Arabic|Dutch|Swedish|Norwegian|Danish|Polish|"
    r"Turkish|Greek|Hindi|Latin|Welsh|Finnish|Czech|Thai|Vietnamese|sign language|"
    r"(?:[a-z]+\s){1,2}lessons|[a-z]+\s(?:classes|school))\b"
)
PASTIME_ZH: Final = (
    r"(?:[大小中]提琴|钢琴|吉他|长笛|单簧管|萨克斯|小号|架子鼓|打鼓|贝斯|尤克里里|竖琴|口琴|手风琴|古筝|古琴|二胡|琵琶|"
    r"[打踢练]?(?:羽毛球|网球|乒乓球?|壁球|高尔夫|足球|篮球|排球|橄榄球|棒球)|国际象棋|象棋|围棋|下棋|桥牌|麻将|瑜伽|普拉提|空手道|柔道|跆拳道|太极拳?|拳击|芭蕾|街舞|"
    r"跳舞|舞蹈|陶艺|陶瓷|书法|折纸|摄影|射箭|击剑|跑步|慢跑|晨跑|夜跑|游泳|骑车|骑行|攀岩|爬山|徒步|滑雪|冲浪|帆船|划船|潜水|滑冰|骑马|唱歌|声乐|"
    r"画画|绘画|素描|油画|编织|织毛衣|缝纫|木工|园艺|烘焙|举重|健身|撸铁|冥想|打坐|做义工|做志愿者?|写日记|观鸟|遛狗|开车|"
    r"(?:汉|日|韩|英|法|德|俄|粤|泰|西班牙|意大利|葡萄牙|阿拉伯|荷兰|瑞典|挪威|丹麦|波兰|土耳其|希腊|印地|拉丁|威尔士|芬兰|捷克|越南|手)[语文]|手语)"
)
SHOP_EN: Final = (
    r"(?:shop|store|café|cafe|restaurant|bakery|studio|business|company|startup|practice|bar|pub|gallery|clinic|salon|hostel|guesthouse|farm|"
    r"podcast|blog|YouTube channel|food truck|bookshop|bookstore|charity|nursery)\b(?!\s(?:app|page|file|account))"
)
SHOP_ZH: Final = (
    r"(?:店|公司(?![的群网邮])|工作室|餐厅|餐馆|饭馆|咖啡馆|酒吧"
    r"|画廊|诊所|事务所|民宿|客栈|农场|播客|博客|频道|餐车|书店|幼儿园|补习班)"
)
RACE_EN: Final = (
    r"(?:marathon|half marathon|triathlon|ultramarathon|ironman|10k|race|tournament|championship|competition)\b"
)
RACE_ZH: Final = r"(?:半马|全马|马拉松|铁人三项|铁三|越野赛|锦标赛|联赛|比赛|竞赛)"
WORK_EN: Final = (
    r"(?:novel|book|memoir|cookbook|thesis|dissertation|screenplay|play|poem collection|short stor(?:y|ies)|album|EP)\b"
    r"(?!\s(?:intro\w*|chapter|section|abstract|code|draft|outline|review|club|title))"
)
WORK_ZH: Final = (
    r"(?:小说|书(?![面评签架店])|回忆录|食谱|剧本|诗集|专辑|毕业论文|博士论文|硕士论文|论文(?![的里题])|传记)"
)
