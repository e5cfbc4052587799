package page

import (
	"fmt"
	"strings"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"github.com/oidkit/oid/internal/timerange"
)

// Say returns a text of the page in the language of the site. The English text is the key of
// the table; a text without a row stays English.
func (s *Site) Say(english string) string {
	if text, ok := chinese[english]; ok && s.isChinese() {
		return text
	}
	return english
}

func (s *Site) isChinese() bool { return strings.HasPrefix(s.Lang, "zh") }

// Prose is [Site.Say] for a sentence with code, which stands in backquotes. english is a
// format of package fmt for values, and so is the text in another language.
func (s *Site) Prose(english string, values ...any) g.Node {
	parts := strings.Split(fmt.Sprintf(s.Say(english), values...), "`")
	var out g.Group
	for i, part := range parts {
		if i%2 == 0 {
			out = append(out, g.Text(part))
		} else {
			out = append(out, h.Code(g.Text(part)))
		}
	}
	return out
}

// either returns the text for a served page, or that for the static page.
func (s *Site) either(served, static string) string {
	if s.Static {
		return static
	}
	return served
}

// times says how to write a time. Times without a zone are in zone.
func (s *Site) times(zone string) string {
	if s.isChinese() {
		return fmt.Sprintf(chineseTimes, zone)
	}
	return timerange.Help(zone)
}

// language returns the attributes of the root element: the language, and the texts that the
// scripts show in it, one "English=text" on each line.
func (s *Site) language() g.Node {
	if s.isChinese() {
		return g.Group{h.Lang("zh-CN"), h.Data("words", chineseWords)}
	}
	return h.Lang("en")
}

// Title and Description are what search engines show of the static page. They are texts for
// [Site.Say].
const (
	Title       = "MongoDB ObjectId to timestamp converter and generator"
	Description = "Convert a MongoDB ObjectId to its timestamp, or a time range to a query, and generate new ObjectIds. Everything runs in your browser: nothing is uploaded."
)

// otherLanguage returns the link to a page in the other language. page.js adds the fragment.
func (s *Site) otherLanguage(url string) g.Node {
	lang, name := "zh-CN", "中文"
	if s.isChinese() {
		lang, name = "en", "English"
	}
	return h.A(h.Class("lang"), h.Href(url), h.Lang(lang), g.Attr("hreflang", lang), g.Text(name))
}

// chineseWords are the texts of the scripts, see function word of clock.js.
const chineseWords = `now=刚刚
copied=已复制
created=已生成
Copy=复制
Copy all=全部复制
Copy all new ids=复制全部新 id
 (here)=（本地）
Opened as a file, this page reads one ObjectId. A web server adds the rest: python3 -m http.server in this folder, then http://localhost:8000/=以文件方式打开时，本页只能解析一个 ObjectId。放到网页服务器上，就有其余功能：在这个目录里运行 python3 -m http.server，然后打开 http://localhost:8000/
The program cannot be loaded. Reload the page to try again.=无法加载程序，请刷新页面重试。
The program has stopped. Reload the page.=程序已停止运行，请刷新页面。
loading=正在加载
Pick =选择
Pick a time=选择时间
The census stopped=统计中断了
Try again, or type in a shell:=请再试一次，或者在命令行里运行：
Choose a file or a folder first.=请先选择文件或者文件夹。
starting=正在启动
of=/`

// chineseTimes is the Chinese of [timerange.Help].
const chineseTimes = `时间可以写成 RFC 3339（2026-11-20T14:00:00+01:00），日期（2026-11-20），日期加时间（2026-11-20T14:00），
英文的日子（now、today、yesterday 9:00、last tuesday），离现在多久（-7d、-36h、2 hours ago、last month），
Unix 时间戳（1795183200 或 @1795183200），或者 ObjectId，意思是它的生成时间。没有写时区的时间，时区是 %s。

程序打印的时间可以直接粘贴，例如 ISODate('2026-11-20T14:00:00Z')、{"$date": ...}、2026-11-20 14:00:00.5+01、
Fri Nov 20 14:00:00 UTC 2026、20/Nov/2026:14:00:00 +0100。有歧义的时间不接受：01/02/2026、两位数的年份、
UTC 和 GMT 以外的时区缩写。

时长的单位是 y、mo、w、d、h、m、s、ms，也可以写英文全名。last month 是上个月同一天的同一时刻。
作为终点，+2h 从起点算起，10:00 是起点那一天的 10 点。`

// chinese has the Chinese of the texts that the static page shows. Texts of other packages
// are rows too, such as the names of verdicts. The names of formats and languages, the fields
// of formats other than ObjectId, and texts that contain numbers of an id stay English, and so
// do errors.
var chinese = map[string]string{
	Title:       "MongoDB ObjectId 时间戳在线转换、解析与生成",
	Description: "粘贴 MongoDB ObjectId，立刻看到生成时间（时间戳）和各个字段；把时间范围变成查询条件；在线生成新的 ObjectId。全部在浏览器里完成，不上传任何内容。",

	// the frame of every view
	"Skip to the content": "跳到正文",
	"Time zone":           "时区",
	"oid, start page":     "oid 首页",
	"Views":               "功能",
	"Ids":                 "ObjectId",
	"Ranges":              "时间范围",
	"Census":              "统计",
	"Odds":                "碰撞概率",
	"Docs":                "文档",
	"This page on GitHub": "在 GitHub 上查看本页",
	" · keys: ":           " · 快捷键：",
	" views, ":            " 切换功能，",
	" input, ":            " 输入，",
	" copy":               " 复制",

	// reading ids
	"MongoDB ObjectId to timestamp converter": "MongoDB ObjectId 时间戳在线转换",
	"Paste an ObjectId to see when it was created, or paste anything that contains ids: a line of a log, a document, a thousand ids.":                      "粘贴 ObjectId，就能看到它的生成时间。也可以粘贴含有 id 的任何内容：一行日志、一篇文档，或者上千个 id。",
	"Drop a dump or an export to see when the collection grew, how many processes created its ids, and what is wrong with them. The file is not uploaded.": "拖入 dump 或导出文件，看集合在什么时候增长、它的 id 由多少个进程生成、有哪些异常。文件不会上传。",
	"The last 24 hours:": "最近 24 小时：",
	"Query":              "查询条件",
	"For MongoDB's shell, Python, Node, Java, Go and SQL.":   "用于 MongoDB shell、Python、Node、Java、Go 和 SQL。",
	"cannot be told without a registry: `oid serve` has one": "没有注册中心，无从得知；`oid serve` 带有注册中心",
	"how to run it": "如何部署",
	"Process":       "进程",
	"none: this is not an id that a process generated": "没有：这不是进程生成的 id",
	"Inspect":            "解析",
	"or try ":            "或者试试 ",
	"one from 2012":      "2012 年的一个",
	", ":                 "、",
	"a new one":          "刚生成的一个",
	"piece is not an id": "处不是 id",
	"pieces are not ids": "处不是 id",
	"line %d: %s":        "第 %d 行：%s",
	"%d ids":             "%d 个 id",
	"; %d more are not shown: use `oid inspect`, which has no limit": "；还有 %d 个没有显示，命令 `oid inspect` 没有这个限制",
	"created":                     "生成时间",
	"ago":                         "距今",
	"likely":                      "很可能",
	"process":                     "进程",
	"Created":                     "生成时间",
	"Documents":                   "相近的文档",
	"same second":                 "同一秒",
	"a minute around it":          "前后共一分钟",
	"an hour around it":           "前后共一小时",
	"Format":                      "格式",
	"Copy as":                     "其他写法",
	"The documents of its second": "查询同一秒创建的文档",
	"fields":                      "各个字段",
	"fields, and other readings":  "各个字段，以及其他解读",
	"Unix time %d":                "Unix 时间戳 %d",

	// a time in the place of an id
	"This text can be read in several ways.": "这段文字有多种解读。",
	"Read as":                                "解读为",
	"Or read as":                             "也可解读为",
	"Time":                                   "时间",
	"First id":                               "第一个 id",
	"Last id":                                "最后一个 id",
	timerange.AsTime:                         "时间",
	timerange.AsLocal:                        "没有写时区的时间，时区按",
	timerange.AsHex:                          "ObjectId 的前 4 个字节",
	"seconds since 1970":                     "Unix 时间戳（秒）",
	"milliseconds since 1970":                "Unix 时间戳（毫秒）",
	"microseconds since 1970":                "Unix 时间戳（微秒）",
	"nanoseconds since 1970":                 "Unix 时间戳（纳秒）",
	// a census
	"Census of a collection": "统计一个集合",
	"See when and by how many processes the ids of a collection were created, and what is wrong with them. The file may be a dump of mongodump (`.bson` or archive), an export of mongoexport (JSON or CSV), a list of ids, or any text. It may be compressed, or a tar or zip of several files. ": "看一个集合的 id 是什么时候、由多少个进程生成的，有哪些异常。文件可以是 mongodump 的转储（`.bson` 或 archive）、mongoexport 的导出（JSON 或 CSV）、id 列表，或者任何文本；可以压缩，也可以是装有多个文件的 tar 或 zip。",
	"This browser reads the file and sends it nowhere.":    "文件由这个浏览器读取，不会发送到任何地方。",
	"Choose files, or drop files and folders here":         "选择文件，或者把文件、文件夹拖到这里",
	"or choose a folder, such as one that mongodump wrote": "或者选择文件夹，例如 mongodump 写出的目录",
	"any text": "任何文本",
	"In this form, --grep is “any text”, and --field and --column are “Field”.": "在这个表单里，--grep 就是“任何文本”，--field 和 --column 就是“字段”。",
	"any text: read every 24 hexadecimal digits as an id":                       "任何文本：把每 24 位十六进制数字读作一个 id",
	"Field":           "字段",
	"Take the census": "开始统计",
	"Progress":        "进度",
	"Cancel":          "取消",
	"This browser reads the files. Nothing is uploaded.": "文件由这个浏览器读取，不会上传任何内容。",
	"Another file":     "统计另一个文件",
	"Save the report":  "保存报告",
	"Save the picture": "保存图片",
	"Other fields contain ids. Take the census of: ": "别的字段里有 id，改为统计：",
	"The report is in English.":                      "报告目前只有英文。",

	// package inspect
	"possible":                               "有可能",
	"unlikely":                               "不太可能",
	"bound":                                  "区间边界",
	"seconds":                                "秒数",
	"machine":                                "机器",
	"counter":                                "计数器",
	"all zeros: not an id":                   "全是 0，不是 id",
	"all ones: not an id":                    "全是 1，不是 id",
	"only a time: a bound of a range of ids": "只有时间，用作 id 区间的边界",
	"drivers have written five random bytes since August 2018":                                                     "从 2018 年 8 月起，各种驱动写入五个随机字节",
	"MongoDB's server, its shell and the first C++ driver wrote random bytes, most drivers only since August 2018": "当时只有 MongoDB 服务器、它的 shell 和最早的 C++ 驱动写入随机字节，多数驱动从 2018 年 8 月才开始",
	"most drivers wrote machine and pid until 2018":                                                                "2018 年以前，多数驱动写入机器和 pid",
	"most drivers wrote machine and pid until 2018, and some still do":                                             "2018 年以前，多数驱动写入机器和 pid，少数驱动至今如此",
	"pid 0: only multiples of 65536 are written as 0":                                                              "pid 是 0：只有 65536 的倍数才写成 0",
	"the layout of version 2 of the Java driver":                                                                   "Java 驱动 2.x 的布局",
	"version 2 of the Java driver wrote this layout, which version 3 replaced in 2015":                             "这是 Java 驱动 2.x 的布局，2015 年已被 3.x 的布局取代",
	"the time is in the future":                                                                                    "时间在未来",
	"the form matches and the time is plausible":                                                                   "形式符合，时间合理",
	"the time is plausible for this service, but other services use the same form":                                 "对这个服务来说时间合理，但别的服务也用同样的形式",
	"the only service for which the time is plausible":                                                             "只有对这个服务来说时间才合理",
	"version and variant of RFC 9562, and the time is plausible":                                                   "版本和变体符合 RFC 9562，时间也合理",
	"variant or version is not of RFC 9562: a hash, or other 16 bytes":                                             "版本或变体不符合 RFC 9562：可能是哈希值，或者别的 16 个字节",
	"random: no time in it":                                                                                        "随机生成，不含时间",
	"the MD5 of a name: no time in it":                                                                             "名字的 MD5，不含时间",
	"the SHA-1 of a name: no time in it":                                                                           "名字的 SHA-1，不含时间",
	"the application chose the layout: no time can be read":                                                        "布局由应用程序自定，读不出时间",

	// new ids, and the notations to copy
	"New ids":                           "生成新的 ObjectId",
	"How many":                          "个数",
	"Create ids":                        "生成",
	"In a shell: `oid new -n %d`.":      "在命令行里：`oid new -n %d`。",
	"24 hexadecimal digits":             "24 位十六进制数字",
	"MongoDB shell, Compass, Python":    "MongoDB shell、Compass、Python",
	"Node and Java":                     "Node 和 Java",
	"package objectid":                  "Go 包 objectid",
	"binary column of SQLite and MySQL": "SQLite 和 MySQL 的二进制列",
	"BYTEA column of PostgreSQL":        "PostgreSQL 的 BYTEA 列",
	"the twelve bytes":                  "全部十二个字节",

	"Your browser creates these ids. Each time this page is loaded, it draws a new process value at random, as a MongoDB driver does when a program starts. ": "这些 id 由浏览器生成。每次打开本页，都会随机产生一个新的进程值，和程序启动时 MongoDB 驱动的做法一样。",

	// odds
	"two processes have the same process value": "有两个进程的进程值相同的概率",
	"an id is created twice":                    "有 id 重复的概率",
	"If a registry assigns the process blocks, both chances are 0, for up to 2^32 blocks.": "如果由注册中心分配进程块，两个概率都是 0，最多可以分配 2^32 个进程块。",
	"The chance of a collision": "ObjectId 重复的概率",
	"How likely it is that two processes create the same id. Each process draws its process value at random when it starts, so two processes may draw the same value.": "两个进程生成相同的 id，可能性有多大？每个进程启动时随机产生自己的进程值，所以两个进程的进程值可能相同。",
	"Processes":                    "进程数",
	"Ids per second, each process": "每个进程每秒生成的 id",
	"Duration":                     "持续时间",
	"Layout":                       "布局",
	"modern: oid":                  "modern：oid",
	"driver: MongoDB's drivers":    "driver：MongoDB 的驱动",
	"1 in ":                        "1/",
	"certain":                      "必然",
	"Calculate":                    "计算",

	// ranges
	"Range":                   "时间范围",
	"A time range as a query": "把时间范围变成查询条件",
	"The index on `_id` is also an index on creation time. These bounds find the documents that were created in a time range, without a timestamp field.": "`_id` 上的索引也是创建时间的索引。用下面两个 ObjectId 作边界，不需要时间字段就能查出这段时间里创建的文档。",
	"From":                    "起点",
	"To (not included)":       "终点（不含）",
	"the beginning":           "起点",
	"the end":                 "终点",
	"2026-11-01, -7d, an id…": "2026-11-01、-7d、一个 id…",
	"Process value, or any":   "进程值（可以不填）",
	"SQL column":              "SQL 列名",
	"Show":                    "转换",
	"What to type":            "时间怎么写",
	"from":                    "从",
	"to (not included)":       "到（不含）",
	"no lower bound":          "没有下界",
	"no upper bound":          "没有上界",
	"Ready to paste":          "可以直接粘贴",
	"Language of the query":   "查询的语言",
	"last hour":               "最近一小时",
	"last 24 hours":           "最近 24 小时",
	"last 7 days":             "最近 7 天",
	"last 30 days":            "最近 30 天",
	"the two bounds, one per line; - stands for a missing bound":  "两个边界，每行一个；没有边界时写 -",
	"a query for the MongoDB shell and for Compass":               "用于 MongoDB shell 和 Compass 的查询条件",
	"a query in Extended JSON, for mongoexport --query":           "Extended JSON 的查询条件，用于 mongoexport --query",
	"a condition on a binary column, for SQLite and MySQL":        "二进制列上的条件，用于 SQLite 和 MySQL",
	"a condition on a column of 24 lower-case hexadecimal digits": "列的内容是 24 位小写十六进制文本时的条件",
	"a condition on a BYTEA column of PostgreSQL":                 "PostgreSQL 的 BYTEA 列上的条件",
	"an objectid.Range":                       "Go 的 objectid.Range 值",
	"a query for pymongo":                     "用于 pymongo 的查询条件",
	"a query for the MongoDB driver of Node":  "用于 Node 的 MongoDB 驱动的查询条件",
	"a filter for the MongoDB driver of Java": "用于 Java 的 MongoDB 驱动的过滤条件",

	// the frame of the static page
	"Nothing that you paste or drop leaves this browser.":                    "粘贴或拖入的内容不会离开你的浏览器。",
	"This page needs JavaScript. Without it, type `oid inspect` in a shell.": "本页需要 JavaScript。没有 JavaScript 时，请在命令行里运行 `oid inspect`。",
}
