package frameworks

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/caarlos0/env/v11"
	"github.com/go-logr/logr/funcr"
	"github.com/go-viper/mapstructure/v2"
	"github.com/jessevdk/go-flags"
	"github.com/kelseyhightower/envconfig"
	"github.com/knadh/koanf/v2"
	"github.com/rs/zerolog"
	"github.com/spf13/viper"
	"github.com/urfave/cli/v3"
	"go.opentelemetry.io/otel/attribute"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/oidkit/oid/objectid"
)

var flagsAndLogs = []row{
	{"cobra", "github.com/spf13/cobra", with, tryCobra},
	{"urfave/cli", "github.com/urfave/cli/v3", with, tryUrfave},
	{"kong", "github.com/alecthomas/kong", yes, tryKong},
	{"go-flags", "github.com/jessevdk/go-flags", yes, tryGoFlags},
	{"viper", "github.com/spf13/viper", with, tryViper},
	{"koanf", "github.com/knadh/koanf/v2", yes, tryKoanf},
	{"caarlos0/env", "github.com/caarlos0/env/v11", yes, tryEnv},
	{"envconfig", "github.com/kelseyhightower/envconfig", yes, tryEnvconfig},
	{"log/slog", "", yes, trySlog},
	{"zap", "go.uber.org/zap", yes, tryZap},
	{"zerolog", "github.com/rs/zerolog", yes, tryZerolog},
	{"logr", "github.com/go-logr/logr", yes, tryLogr},
	{"OpenTelemetry", "go.opentelemetry.io/otel", with, tryOtel},
}

func tryCobra(t *testing.T) {
	for arg, ok := range map[string]bool{sample: true, "tea": false} {
		var got objectid.ID
		c := cobraCommand(&got)
		c.SetArgs([]string{"--id", arg})
		if err := c.Execute(); ok {
			wantID(t, arg, err, got)
		} else {
			wantFailure(t, arg, err)
		}
	}
}

func tryUrfave(t *testing.T) {
	for arg, ok := range map[string]bool{sample: true, "tea": false} {
		var got objectid.ID
		c := cli.Command{Flags: []cli.Flag{cliFlag(&got)}, Writer: &bytes.Buffer{}, ErrWriter: &bytes.Buffer{}}
		if err := c.Run(t.Context(), []string{"shop", "--id", arg}); ok {
			wantID(t, arg, err, got)
		} else {
			wantFailure(t, arg, err)
		}
	}
}

func tryKong(t *testing.T) {
	var c struct {
		ID   objectid.ID
		Many []objectid.ID
	}
	p, err := kong.New(&c)
	if err != nil {
		t.Fatal(err)
	}
	_, err = p.Parse([]string{"--id", sample, "--many", sample + "," + sample})
	wantID(t, "parse", err, append(c.Many, c.ID)...)
	_, err = p.Parse([]string{"--id", "tea"})
	wantFailure(t, "tea", err)
}

func tryGoFlags(t *testing.T) {
	var c struct {
		ID      objectid.ID   `long:"id"`
		Default objectid.ID   `long:"default" default:"507f1f77bcf86cd799439011"`
		Pointer *objectid.ID  `long:"pointer"`
		Many    []objectid.ID `long:"many"`
	}
	p := flags.NewParser(&c, 0)
	_, err := p.ParseArgs([]string{"--id", sample, "--pointer", sample, "--many", sample})
	wantID(t, "parse", err, append(c.Many, c.ID, c.Default, *c.Pointer)...)
	_, err = p.ParseArgs([]string{"--id", "tea"})
	wantFailure(t, "tea", err)
	p.WriteHelp(&bytes.Buffer{})
}

func tryViper(t *testing.T) {
	v := viper.New()
	v.SetConfigType("yaml")
	if err := v.ReadConfig(strings.NewReader("shop: " + sample + "\norders: [" + sample + "]")); err != nil {
		t.Fatal(err)
	}
	var c config
	wantFailure(t, "without a hook", v.Unmarshal(&c))
	err := v.Unmarshal(&c, viper.DecodeHook(mapstructure.TextUnmarshallerHookFunc()))
	wantID(t, "with the hook", err, append(c.Orders, c.Shop)...)
	for _, number := range []string{"507000000000000000000011", "5070000000000000000e0011"} {
		if err := v.ReadConfig(strings.NewReader("shop: " + number)); err != nil {
			t.Fatal(err)
		}
		wantPanic(t, number+" without quotes", func() {
			_ = v.Unmarshal(&c, viper.DecodeHook(mapstructure.TextUnmarshallerHookFunc()))
		})
		if err := v.ReadConfig(strings.NewReader(`shop: "` + number + `"`)); err != nil {
			t.Fatal(err)
		}
		err := v.Unmarshal(&c, viper.DecodeHook(mapstructure.TextUnmarshallerHookFunc()))
		if err != nil || c.Shop.String() != number {
			t.Errorf("%s in quotes is %v, %v", number, c.Shop, err)
		}
	}
}

func tryKoanf(t *testing.T) {
	k := koanf.New(".")
	var c config
	_ = k.Set("shop", sample)
	_ = k.Set("orders", []string{sample})
	wantID(t, "unmarshal", k.Unmarshal("", &c), append(c.Orders, c.Shop)...)
	_ = k.Set("shop", "tea")
	wantFailure(t, "tea", k.Unmarshal("", &c))
}

type environment struct {
	ID   objectid.ID   `env:"SHOP_ID"`
	Many []objectid.ID `env:"SHOP_MANY"`
}

func tryEnv(t *testing.T) {
	t.Setenv("SHOP_ID", sample)
	t.Setenv("SHOP_MANY", sample+","+sample)
	var c environment
	wantID(t, "parse", env.Parse(&c), append(c.Many, c.ID)...)
	t.Setenv("SHOP_ID", "tea")
	wantFailure(t, "tea", env.Parse(&c))
}

// envconfig calls Set on a nil pointer.
func tryEnvconfig(t *testing.T) {
	t.Setenv("SHOP_ID", sample)
	t.Setenv("SHOP_MANY", sample+","+sample)
	var c environment
	wantID(t, "process", envconfig.Process("shop", &c), append(c.Many, c.ID)...)
	wantPanic(t, "a pointer", func() { _ = envconfig.Process("shop", &struct{ ID *objectid.ID }{}) })
}

func trySlog(t *testing.T) {
	var b bytes.Buffer
	slog.New(slog.NewJSONHandler(&b, nil)).Info("paid", "id", id, "many", []objectid.ID{id})
	if want := `"id":"` + sample + `","many":["` + sample + `"]`; !strings.Contains(b.String(), want) {
		t.Errorf("%s\nwant %s", &b, want)
	}
}

func tryZap(t *testing.T) {
	var b bytes.Buffer
	core := zapcore.NewCore(zapcore.NewJSONEncoder(zapcore.EncoderConfig{}), zapcore.AddSync(&b), zap.DebugLevel)
	zap.New(core).Info("paid", zap.Stringer("id", id), zap.Any("any", id), zap.Any("many", []objectid.ID{id}), zap.Any("none", (*objectid.ID)(nil)))
	wantText(t, "zap", b.String(), `{"id":"`+sample+`","any":"`+sample+`","many":["`+sample+`"],"none":"<nil>"}`)
}

func tryZerolog(t *testing.T) {
	var b bytes.Buffer
	logger := zerolog.New(&b)
	logger.Log().Stringer("id", id).Any("any", id).Any("many", []objectid.ID{id}).Any("none", (*objectid.ID)(nil)).Send()
	wantText(t, "zerolog", b.String(), `{"id":"`+sample+`","any":"`+sample+`","many":["`+sample+`"],"none":null}`)
}

func tryLogr(t *testing.T) {
	var line string
	funcr.NewJSON(func(s string) { line = s }, funcr.Options{}).Info("paid", "id", id, "many", []objectid.ID{id})
	if want := `"id":"` + sample + `","many":["` + sample + `"]`; !strings.Contains(line, want) {
		t.Errorf("%s\nwant %s", line, want)
	}
}

func tryOtel(t *testing.T) {
	wantText(t, "attribute", attribute.Stringer("order.id", id).Value.AsString(), sample)
}
