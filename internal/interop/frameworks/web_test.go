package frameworks

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/go-chi/chi/v5"
	"github.com/go-playground/form/v4"
	"github.com/go-playground/validator/v10"
	"github.com/go-viper/mapstructure/v2"
	"github.com/gofiber/fiber/v3"
	"github.com/gofiber/fiber/v3/binder"
	"github.com/google/go-querystring/query"
	"github.com/gorilla/schema"
	echo4 "github.com/labstack/echo/v4"
	"github.com/labstack/echo/v5"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/objectid"
)

var web = []row{
	{"gin", "github.com/gin-gonic/gin", yes, tryGin},
	{"echo", "github.com/labstack/echo/v5", yes, tryEcho},
	{"echo 4", "github.com/labstack/echo/v4", yes, tryEcho4},
	{"fiber", "github.com/gofiber/fiber/v3", with, tryFiber},
	{"chi", "github.com/go-chi/chi/v5", with, tryChi},
	{"gorilla/schema", "github.com/gorilla/schema", with, tryGorilla},
	{"go-playground/form", "github.com/go-playground/form/v4", with, tryForm},
	{"go-playground/validator", "github.com/go-playground/validator/v10", yes, tryValidator},
	{"google/go-querystring", "github.com/google/go-querystring", yes, tryQuerystring},
	{"mapstructure", "github.com/go-viper/mapstructure/v2", with, tryMapstructure},
}

// request is what is bound: an id in the path, ids in the query or the form.
type request struct {
	Path    objectid.ID   `uri:"id" param:"id"`
	One     objectid.ID   `form:"one" query:"one" url:"one"`
	Pointer *objectid.ID  `form:"pointer" query:"pointer" url:"pointer"`
	Many    []objectid.ID `form:"many" query:"many" url:"many"`
	Text    objectid.Hex  `form:"text" query:"text" url:"text"`
}

const queryText = "?one=" + sample + "&pointer=" + sample + "&many=" + sample + "&many=" + sample + "&text=" + sample

func (r request) check(t *testing.T, what string, err error) {
	t.Helper()
	if len(r.Many) != 2 || r.Pointer == nil {
		t.Errorf("%s: %+v, %v", what, r, err)
		return
	}
	wantID(t, what, err, r.One, *r.Pointer, r.Many[0], r.Many[1], r.Text.ID)
}

// serve has a handler answer two requests, of which the second has ids that are none, and
// checks the answers.
func serve(t *testing.T, h http.Handler) {
	t.Helper()
	for path, want := range map[string]string{
		"/orders/" + sample + queryText: `{"id":"` + sample + `"}`,
		"/orders/tea?one=tea":           "objectid: invalid id: want 24 characters, not 3",
		"/orders/" + sample + "?one=":   "objectid: invalid id: want 24 characters, not 0",
	} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		if !strings.Contains(strings.ReplaceAll(w.Body.String(), " ", ""), strings.ReplaceAll(want, " ", "")) {
			t.Errorf("%s: %s, want %s", path, w.Body, want)
		}
	}
}

func tryGin(t *testing.T) {
	gin.SetMode(gin.ReleaseMode)
	r := gin.New()
	r.GET("/orders/:id", func(c *gin.Context) {
		var in, path request
		if err := c.ShouldBindQuery(&in); err != nil {
			c.String(http.StatusBadRequest, err.Error())
			return
		}
		if err := c.ShouldBindUri(&path); err != nil {
			c.String(http.StatusBadRequest, err.Error())
			return
		}
		in.check(t, "query", nil)
		wantID(t, "path", nil, path.Path)
		c.JSON(http.StatusOK, gin.H{"id": path.Path})
	})
	serve(t, r)
	r.POST("/orders", func(c *gin.Context) {
		var in request
		in.check(t, "form", c.ShouldBind(&in))
	})
	post := httptest.NewRequest("POST", "/orders", strings.NewReader(queryText[1:]))
	post.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.ServeHTTP(httptest.NewRecorder(), post)
}

func tryEcho(t *testing.T) {
	e := echo.New()
	e.GET("/orders/:id", func(c *echo.Context) error {
		var in request
		if err := c.Bind(&in); err != nil {
			return c.String(http.StatusBadRequest, err.Error())
		}
		in.check(t, "bind", nil)
		one, err := echo.QueryParam[objectid.ID](c, "one")
		wantID(t, "path, query", err, in.Path, one)
		return c.JSON(http.StatusOK, map[string]any{"id": in.Path})
	})
	serve(t, e)
}

func tryEcho4(t *testing.T) {
	e := echo4.New()
	e.GET("/orders/:id", func(c echo4.Context) error {
		var in request
		if err := c.Bind(&in); err != nil {
			return c.String(http.StatusBadRequest, err.Error())
		}
		in.check(t, "bind", nil)
		return c.JSON(http.StatusOK, map[string]any{"id": in.Path})
	})
	serve(t, e)
}

// The converters are those of the whole program.
func tryFiber(t *testing.T) {
	binder.SetParserDecoder(binder.ParserConfig{IgnoreUnknownKeys: true, ZeroEmpty: true})
	app := fiber.New()
	app.Get("/orders/:id", func(c fiber.Ctx) error {
		var in, path request
		if err := c.Bind().Query(&in); err != nil {
			return err
		}
		in.check(t, "query", nil)
		wantID(t, "path", c.Bind().URI(&path), path.Path)
		return c.JSON(fiber.Map{"id": path.Path})
	})
	get := func(path string) string {
		answer := testenv.Must(app.Test(httptest.NewRequest("GET", path, nil)))(t)
		defer answer.Body.Close()
		return string(testenv.Must(io.ReadAll(answer.Body))(t))
	}
	path := "/orders/" + sample + queryText
	if got := get(path); !strings.Contains(got, "converter not found for objectid.ID") {
		t.Errorf("a list without the converter: %s", got)
	}
	fiberLists()
	wantText(t, path, get(path), `{"id":"`+sample+`"}`)
	if got := get("/orders/tea?one=tea"); !strings.Contains(got, "one") {
		t.Errorf("a wrong id: %s", got)
	}
}

func tryChi(t *testing.T) {
	r := chi.NewRouter()
	r.Get("/orders/{id}", func(w http.ResponseWriter, r *http.Request) {
		got, err := objectid.Parse(chi.URLParam(r, "id"))
		wantID(t, "URLParam", err, got)
		got, err = objectid.Parse(r.PathValue("id"))
		wantID(t, "PathValue", err, got)
		_, _ = io.WriteString(w, "ok")
	})
	w := httptest.NewRecorder()
	r.ServeHTTP(w, httptest.NewRequest("GET", "/orders/"+sample, nil))
	wantText(t, "answer", w.Body.String(), "ok")
}

// Without the lines of the page one id is read, and a list is not; nothing is written.
func tryGorilla(t *testing.T) {
	var c config
	wantID(t, "one id", schema.NewDecoder().Decode(&c, url.Values{"shop": {sample}}), c.Shop)
	wantFailure(t, "a list", schema.NewDecoder().Decode(&c, values))
	wantFailure(t, "encode", schema.NewEncoder().Encode(config{Shop: id}, url.Values{}))
}

// Without the lines of the page nothing is read, and twelve numbers are written.
func tryForm(t *testing.T) {
	wantFailure(t, "decode", form.NewDecoder().Decode(&config{}, url.Values{"shop": {sample}}))
	if v, err := form.NewEncoder().Encode(config{Shop: id}); err != nil || len(v["shop"]) != objectid.Size {
		t.Errorf("encode: %v, %v", v, err)
	}
}

func tryValidator(t *testing.T) {
	type order struct {
		ID   objectid.ID   `validate:"required"`
		Many []objectid.ID `validate:"unique,dive,required"`
		Text string        `validate:"mongodb"`
	}
	v := validator.New()
	if err := v.Struct(order{ID: id, Many: []objectid.ID{id}, Text: sample}); err != nil {
		t.Error(err)
	}
	err := v.Struct(order{Many: []objectid.ID{{}, {}}, Text: "tea"})
	for _, want := range []string{"'ID' failed on the 'required'", "'Many' failed on the 'unique'", "'Text' failed on the 'mongodb'"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	wantFailure(t, "tag mongodb of an ID", v.Var(id, "mongodb"))
}

func tryQuerystring(t *testing.T) {
	v, err := query.Values(struct {
		request
		None *objectid.ID  `url:"none"`
		Zero objectid.ID   `url:"zero"`
		List []objectid.ID `url:"list,comma"`
	}{request: request{One: id, Pointer: &id, Many: []objectid.ID{id, id}, Text: objectid.Hex{ID: id}}, List: []objectid.ID{id, id}})
	if err != nil {
		t.Fatal(err)
	}
	wantText(t, "values", v.Encode(), "list="+sample+"%2C"+sample+"&many="+sample+"&many="+sample+"&one="+sample+"&pointer="+sample+"&text="+sample)
}

func tryMapstructure(t *testing.T) {
	var c config
	wantFailure(t, "without a hook", mapstructure.Decode(map[string]any{"shop": sample}, &c))
	var m map[string]any
	if err := mapstructure.Decode(config{Shop: id}, &m); err != nil || m["shop"] != id {
		t.Errorf("to a map: %v, %v", m, err)
	}
}
