"""Small lists of our own: common given names, places and organisations.

Names that are also words ("Will", "Mark", "May", "Nice", "Reading") are left out on purpose: those need a cue.
"""

from __future__ import annotations

from typing import Final

_GIVEN_NAMES: Final = (
    "james john robert michael william david richard joseph thomas charles christopher daniel matthew "
    "anthony donald steven paul andrew joshua kenneth kevin brian george timothy ronald edward jason jeffrey "
    "ryan jacob gary nicholas eric jonathan stephen larry justin scott brandon benjamin samuel gregory "
    "alexander patrick jack dennis jerry tyler aaron nathan henry douglas zachary peter kyle noah ethan "
    "jeremy walter christian keith roger terry austin sean gerald carl harold dylan arthur lawrence jordan "
    "jesse bryan bruce gabriel joe logan albert willie alan eugene russell vincent philip bobby johnny "
    "bradley evan liam lucas mason oliver elijah aiden owen leo isaac connor caleb mary patricia jennifer "
    "linda elizabeth barbara susan jessica sarah karen lisa nancy betty sandra margaret ashley kimberly "
    "emily donna michelle carol amanda melissa deborah stephanie rebecca sharon laura cynthia dorothy amy "
    "kathleen angela shirley emma brenda pamela nicole anna samantha katherine christine debra rachel "
    "carolyn janet maria catherine heather diane olivia julie joyce victoria ruth virginia lauren kelly "
    "christina joan evelyn judith andrea hannah megan cheryl jacqueline martha madison teresa gloria sara "
    "janice ann kathryn abigail sophia frances jean alice judy isabella julia denise amber marilyn danielle "
    "beverly charlotte natalie theresa diana brittany kayla alexis lori mia ava amelia harper ella chloe zoe "
    "lily lucy molly claire ellie nora alex chris hans klaus jürgen günter wolfgang dieter uwe bernd ralf "
    "matthias stefan andreas sebastian florian tobias lukas jonas felix maximilian moritz heinz werner karin "
    "ursula monika petra sabine gabriele renate heike katrin anke lena lea hanna johanna jan pieter willem "
    "johan lars erik sven nils bjorn ingrid astrid freja magnus mikkel pierre michel jacques philippe "
    "françois nicolas julien antoine guillaume camille céline sophie isabelle nathalie valérie aurélie "
    "giuseppe giovanni marco francesco alessandro matteo lorenzo luca giulia chiara francesca paola josé "
    "juan carlos luis javier miguel antonio manuel pedro jorge alejandro fernando diego pablo sergio raúl "
    "carmen ana maría lucía sofía elena isabel pilar joão paulo rafael thiago beatriz inês mateus ivan "
    "dmitri dmitry sergei sergey aleksandr vladimir mikhail nikolai olga tatiana natalia svetlana irina "
    "piotr katarzyna agnieszka pawel jakub petr yiannis dimitris mehmet mustafa ahmet ayşe fatma emre yusuf "
    "иван дмитрий сергей александр владимир михаил николай ольга татьяна наталья светлана ирина анна мария "
    "елена mohamed mohammed muhammad ahmed ali omar hassan fatima aisha khalid youssef layla noura moshe "
    "yosef raj rahul amit priya anjali sanjay vijay deepak neha pooja arjun rohan aarav ananya divya suresh "
    "ravi kumar wei ming jing xiaoming hiroshi takashi kenji yuki haruto yui sakura seiko minjun jiwoo lei "
    "chen mei fang raymond sofia daiki yara"
)
GIVEN_NAMES: Final = frozenset(_GIVEN_NAMES.split())
# The usual single names of places; what has two words is looked up as it stands.
_PLACES: Final = (
    "Afghanistan|Albania|Algeria|Argentina|Armenia|Australia|Austria|Azerbaijan|Bangladesh|Belarus|Belgium|"
    "Bolivia|Brazil|Bulgaria|Cambodia|Cameroon|Canada|Chile|China|Colombia|Croatia|Cuba|Cyprus|Denmark|"
    "Ecuador|Egypt|Estonia|Ethiopia|Finland|France|Germany|Ghana|Greece|Guatemala|Honduras|Hungary|Iceland|"
    "India|Indonesia|Iran|Iraq|Ireland|Israel|Italy|Jamaica|Japan|Kazakhstan|Kenya|Kuwait|Latvia|Lebanon|"
    "Libya|Lithuania|Luxembourg|Malaysia|Mexico|Moldova|Mongolia|Morocco|Nepal|Netherlands|New Zealand|"
    "Nigeria|North Korea|Norway|Pakistan|Panama|Paraguay|Peru|Philippines|Poland|Portugal|Qatar|Romania|"
    "Russia|Saudi Arabia|Senegal|Serbia|Singapore|Slovakia|Slovenia|South Africa|South Korea|Spain|Sri Lanka|"
    "Sudan|Sweden|Switzerland|Syria|Taiwan|Tanzania|Thailand|Tunisia|Uganda|Ukraine|United Kingdom|"
    "United States|Uruguay|Venezuela|Vietnam|Yemen|Zambia|Zimbabwe|Europe|Africa|Asia|North America|"
    "South America|Latin America|Middle East|England|Scotland|Wales|Northern Ireland|UK|USA|U.S|Deutschland|"
    "Österreich|Schweiz|España|México|Italia|Brasil|Россия|Россию|России|Alabama|Alaska|Arizona|Arkansas|"
    "California|Colorado|Connecticut|Delaware|Florida|Hawaii|Idaho|Illinois|Indiana|Iowa|Kansas|Kentucky|"
    "Louisiana|Maine|Maryland|Massachusetts|Michigan|Minnesota|Mississippi|Missouri|Montana|Nebraska|Nevada|"
    "New Hampshire|New Jersey|New Mexico|New York|New York City|North Carolina|North Dakota|Ohio|Oklahoma|"
    "Oregon|Pennsylvania|Rhode Island|South Carolina|South Dakota|Tennessee|Texas|Utah|Vermont|Virginia|"
    "West Virginia|Wisconsin|Wyoming|Ontario|Quebec|British Columbia|Alberta|Amsterdam|Ankara|Athens|Atlanta|"
    "Auckland|Austin|Bangkok|Barcelona|Basel|Beijing|Berlin|Bern|Bogotá|Boston|Brisbane|Brussels|Bucharest|"
    "Budapest|Buenos Aires|Cairo|Calgary|Cape Town|Charlotte|Chicago|Cologne|Copenhagen|Dallas|Delhi|Denver|"
    "Detroit|Dubai|Dublin|Düsseldorf|Edinburgh|Florence|Fort Worth|Frankfurt|Geneva|Glasgow|Hamburg|Hanoi|"
    "Helsinki|Hong Kong|Honolulu|Houston|Istanbul|Jakarta|Jerusalem|Johannesburg|Karachi|Kyiv|Kyoto|Lagos|"
    "Las Vegas|Lima|Lisbon|London|Los Angeles|Lyon|Madrid|Manchester|Manila|Marseille|Melbourne|Mexico City|"
    "Miami|Milan|Minneapolis|Montreal|Moscow|Mumbai|Munich|Nairobi|Naples|New Delhi|New Orleans|Newark|Osaka|"
    "Oslo|Ottawa|Oxford|Paris|Perth|Philadelphia|Pittsburgh|Portland|Prague|Rio de Janeiro|Rome|Rotterdam|"
    "Sacramento|San Antonio|San Diego|San Francisco|San Jose|Santiago|São Paulo|Seattle|Seoul|Shanghai|"
    "Shenzhen|St. Louis|Stockholm|Stuttgart|Sydney|Tehran|Tokyo|Toronto|Vancouver|Venice|Vienna|Warsaw|"
    "Washington|Washington DC|Wien|Zurich|Zürich|München|Köln|Москва|Москве|Москву|Париж|Лондон|Genève|Roma|"
    "Milano|Londres|Silicon Valley|Bay Area|Brooklyn|Manhattan"
)
PLACES: Final = frozenset(_PLACES.split("|"))
CJK_PLACES: Final = (
    "北京|上海|广州|深圳|香港|台北|东京|東京|大阪|京都|巴黎|伦敦|纽约|中国|日本|韩国|美国|德国|法国|英国|서울|부산|도쿄"
)
_ORGANIZATIONS: Final = (
    "Google|Microsoft|OpenAI|Anthropic|GitHub|GitLab|Facebook|Netflix|Spotify|IBM|Intel|Nvidia|NVIDIA|"
    "Samsung|Sony|Toyota|Honda|Volkswagen|BMW|Siemens|Huawei|Tesla|Uber|Airbnb|PayPal|Walmart|Amazon|Boeing|"
    "Airbus|Lufthansa|Ryanair|UNESCO|NASA|Wikipedia|LinkedIn|YouTube|Hugging Face|FedEx|DHL|UPS|Reuters|"
    "Bloomberg|LMSYS|LangChain|Stanford|UC Berkeley|Pfizer|Nestlé|Adidas|Nike|Starbucks|Salesforce|Qualcomm|"
    "Southwest|JetBlue|United Nations|European Union|Tinder"
)
ORGANIZATIONS: Final = frozenset(_ORGANIZATIONS.split("|"))
# The last word of an organisation's name.
_OF_ORGANIZATIONS: Final = (
    "Inc Inc. Ltd Ltd. LLC LLP GmbH AG SA SE NV BV Corp Corp. Corporation Company Co. Airlines Airways "
    "Airline University College Bank Institute Foundation Association Ministry Hospital Holdings Partners "
    "Technologies Laboratories Labs Restaurant Sushi Grill Bistro Cafe Café Pizzeria Hotel Inn Museum "
    "Universität Universidad Université Banco Banque Commission Organization Organisation Motors "
    "Pharmaceuticals"
)
OF_ORGANIZATIONS: Final = frozenset(_OF_ORGANIZATIONS.split())
# The last word of a place's name.
_OF_PLACES: Final = (
    "Street Avenue Boulevard Road Lane Square Airport Stadium Beach Valley Island Islands Lake River "
    "Mountain Mountains Bridge Park Bay County Province Ocean Peninsula Station Harbor Harbour Canyon"
)
OF_PLACES: Final = frozenset(_OF_PLACES.split())
