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
	if text, ok := chinese[english]; ok && s.Lang == "zh" {
		return text
	}
	return english
}

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

// language returns the attributes of the root element: the language, and the texts that the
// scripts show in it, one "English=text" on each line.
func (s *Site) language() g.Node {
	if s.Lang == "zh" {
		return g.Group{h.Lang("zh-CN"), h.Data("words", chineseWords)}
	}
	return h.Lang("en")
}

// Title and Description are what search engines show of the static page. They are texts for
// [Site.Say].
const (
	Title       = "MongoDB ObjectId to timestamp converter and generator"
	Description = "Convert a MongoDB ObjectId to its timestamp and a time range to a query, and generate new ObjectIds. Reads UUID, ULID and Snowflake ids too. Runs in your browser: nothing is uploaded."
)

// chineseWords are the texts of the scripts, see function word of clock.js.
const chineseWords = `Opened as a file, this page reads one ObjectId. A web server adds the rest: python3 -m http.server in this folder, then http://localhost:8000/=直接从文件打开时，本页只能解读单个 ObjectId。其余功能需要一个 Web 服务器：在此目录运行 python3 -m http.server，然后访问 http://localhost:8000/
The program cannot be loaded: the web server answers with status=无法加载程序，Web 服务器返回状态码
now=刚刚
copied=已复制
created=已生成
Copy=复制
Copy all=全部复制
Copy all new ids=复制全部新 id
 (here)=（本地）
Pick =选择
Pick a time=选择时间`

// chinese has the Chinese of the texts that the static page shows. Texts of other packages
// are rows too, such as the names of verdicts. The names of formats and languages, the fields
// of formats other than ObjectId, and texts that contain numbers of an id stay English, and so
// do errors.
var chinese = map[string]string{
	Title:       "MongoDB ObjectId 时间戳在线转换、解析与生成",
	Description: "粘贴 MongoDB ObjectId，立刻看到生成时间（时间戳）和各个字段；把时间范围变成查询条件；在线生成新的 ObjectId。也能解析 UUID、ULID 和雪花 id。全部在浏览器里计算，不上传任何内容。",

	// the frame of every view
	"Skip to the content": "跳到正文",
	"Time zone":           "时区",
	"oid, start page":     "oid 首页",
	"Views":               "功能",
	"Ids":                 "ObjectId",
	"Ranges":              "时间范围",
	"Census":              "统计",
	" · keys: ":           " · 快捷键：",
	" views, ":            " 切换功能，",
	" input, ":            " 输入，",
	" copy":               " 复制",

	// reading ids
	"Read an id, or create one": "解析或生成 ObjectId",
	"Paste anything: one id, a line of a log, a document, a thousand ids.": "粘贴什么都行：一个 id、一行日志、一篇文档，或者上千个 id。",
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
	"none: an ObjectId holds times from 1970-01-01 to 2106-02-07": "无：ObjectId 只能表示 1970-01-01 至 2106-02-07 的时间",
	timerange.AsTime:          "时间",
	timerange.AsLocal:         "未写明时区的时间，所用时区：",
	timerange.AsHex:           "ObjectId 的前 4 个字节",
	"seconds since 1970":      "Unix 时间戳（秒）",
	"milliseconds since 1970": "Unix 时间戳（毫秒）",
	"microseconds since 1970": "Unix 时间戳（微秒）",
	"nanoseconds since 1970":  "Unix 时间戳（纳秒）",

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

	// ranges
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
}
