package frameworks

import (
	"database/sql"
	"errors"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/glebarez/sqlite"
	_ "github.com/go-sql-driver/mysql" // the driver "mysql"
	"github.com/jackc/pgx/v5"
	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
	"github.com/jmoiron/sqlx"
	"github.com/redis/go-redis/v9"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/mysqldialect"
	"github.com/uptrace/bun/dialect/pgdialect"
	"github.com/uptrace/bun/dialect/sqlitedialect"
	"github.com/uptrace/bun/schema"
	"gorm.io/driver/mysql"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
	"xorm.io/xorm"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/objectid"
)

var databases = []row{
	{"GORM", "gorm.io/gorm", with, tryGORM},
	{"sqlx", "github.com/jmoiron/sqlx", yes, trySqlx},
	{"bun", "github.com/uptrace/bun", with, tryBun},
	{"xorm", "xorm.io/xorm", with, tryXorm},
	{"pgx", "github.com/jackc/pgx/v5", yes, tryPgx},
	{"go-redis", "github.com/redis/go-redis/v9", with, tryRedis},
}

// server is one of the three databases.
type server struct {
	driver, dsn string
	gorm        func(dsn string) gorm.Dialector
	bun         schema.Dialect
	raw         string // the type of a binary column
	columns     string // what GORM makes of an Order
}

// servers starts the databases that are not running yet. None has a table called orders.
func servers(t *testing.T) map[string]server {
	t.Helper()
	socket := strings.TrimPrefix(testenv.MariaDB(t)[2], "--socket=")
	all := map[string]server{
		"SQLite":     {"sqlite", "file:" + filepath.ToSlash(filepath.Join(t.TempDir(), "shop.db")), sqlite.Open, sqlitedialect.New(), "BLOB", "blob text blob"},
		"PostgreSQL": {"pgx", testenv.PostgresURL(t), postgres.Open, pgdialect.New(), "BYTEA", "bytea varchar bytea"},
		"MariaDB":    {"mysql", "root@unix(" + socket + ")/shop", mysql.Open, mysqldialect.New(), "BINARY(12)", "varbinary varchar varbinary"},
	}
	for _, s := range all {
		db := testenv.Must(sql.Open(s.driver, s.dsn))(t)
		testenv.Must(db.Exec("DROP TABLE IF EXISTS orders"))(t)
		testenv.NoError(t, db.Close())
	}
	return all
}

// onEach runs a test on each database.
func onEach(t *testing.T, run func(t *testing.T, s server, db *sql.DB)) {
	t.Helper()
	for name, s := range servers(t) {
		t.Run(name, func(t *testing.T) {
			db := testenv.Must(sql.Open(s.driver, s.dsn))(t)
			t.Cleanup(func() { testenv.WantError(t, "Close", db.Close(), nil) })
			run(t, s, db)
		})
	}
}

// columns returns the types of the columns of orders, as the database names them.
func columns(t *testing.T, db *sql.DB) (names []string) {
	t.Helper()
	rows := testenv.Must(db.Query("SELECT * FROM orders"))(t)
	defer rows.Close()
	for _, c := range testenv.Must(rows.ColumnTypes())(t) {
		names = append(names, strings.ToLower(c.DatabaseTypeName()))
	}
	testenv.NoError(t, rows.Err())
	return names
}

func tryGORM(t *testing.T) {
	onEach(t, func(t *testing.T, s server, raw *sql.DB) {
		db := testenv.Must(gorm.Open(s.gorm(s.dsn), &gorm.Config{Logger: logger.Discard}))(t)
		pool := testenv.Must(db.DB())(t)
		defer pool.Close()
		parent := objectid.New()
		first, second := Order{Text: objectid.Hex{ID: id}, Parent: &parent}, Order{}
		testenv.NoError(t, errors.Join(db.AutoMigrate(&Order{}), db.Create(&first).Error, db.Create(&second).Error))
		if second.ID.Compare(first.ID) <= 0 {
			t.Errorf("ids %v and %v", first.ID, second.ID)
		}
		wantText(t, "columns", strings.Join(columns(t, raw), " "), s.columns)
		for _, want := range []Order{first, second} {
			if got, err := gormFind(db, want.ID); err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("found %+v, %v; want %+v", got, err, want)
			}
		}
		var text, null string
		testenv.NoError(t, raw.QueryRow("SELECT text FROM orders WHERE text IS NOT NULL").Scan(&text))
		wantText(t, "text column", text, sample)
		testenv.NoError(t, raw.QueryRow("SELECT count(*) FROM orders WHERE text IS NULL AND parent IS NULL").Scan(&null))
		wantText(t, "NULL", null, "1")

		var list []Order
		testenv.NoError(t, db.Where("id IN ?", []objectid.ID{first.ID, second.ID}).Order("id").Find(&list).Error)
		if len(list) != 2 || list[0].ID != first.ID {
			t.Errorf("list: %+v", list)
		}
		testenv.NoError(t, db.Where(&Order{ID: first.ID}).First(&Order{}).Error)
		testenv.NoError(t, db.Model(&second).Update("parent", first.ID).Error)
		if got, err := gormFind(db, second.ID); err != nil || *got.Parent != first.ID {
			t.Errorf("updated: %+v, %v", got, err)
		}
		wantFailure(t, "an id alone", db.First(&Order{}, first.ID).Error)
		if deleted := db.Delete(&first); deleted.Error != nil || deleted.RowsAffected != 1 {
			t.Errorf("Delete: %v, %d rows", deleted.Error, deleted.RowsAffected)
		}

		// The page warns of this: an id alone is a list of numbers, which with a 0 is each row of MariaDB.
		all := []Order{{ID: objectid.New()}, {ID: objectid.New()}}
		testenv.NoError(t, errors.Join(db.Delete(&second).Error, db.Create(&all).Error))
		deleted := db.Delete(&Order{}, objectid.MustParse("6ae924000000000000000001"))
		want := map[string]int64{"mysql": 2}[s.driver]
		if failed := deleted.Error != nil; failed != (s.driver == "pgx") || deleted.RowsAffected != want {
			t.Errorf("Delete with an id alone: %v, %d rows, want %d", deleted.Error, deleted.RowsAffected, want)
		}
	})
}

func trySqlx(t *testing.T) {
	onEach(t, func(t *testing.T, s server, raw *sql.DB) {
		db := sqlx.NewDb(raw, s.driver)
		testenv.Must(db.Exec("CREATE TABLE orders (id " + s.raw + " PRIMARY KEY, text CHAR(24), parent " + s.raw + ")"))(t)
		want := Order{ID: objectid.New(), Text: objectid.Hex{ID: id}}
		testenv.Must(db.NamedExec("INSERT INTO orders VALUES (:id, :text, :parent)", want))(t)
		if got, err := sqlxFind(db); err != nil || len(got) != 1 || !reflect.DeepEqual(got[0], want) {
			t.Errorf("found %+v, %v; want %+v", got, err, want)
		}
		query, args, err := sqlx.In("SELECT count(*) FROM orders WHERE id IN (?)", []objectid.ID{want.ID, objectid.New()})
		var n int
		if err = errors.Join(err, db.Get(&n, db.Rebind(query), args...)); err != nil || n != 1 {
			t.Errorf("IN finds %d, %v", n, err)
		}
	})
}

func tryBun(t *testing.T) {
	onEach(t, func(t *testing.T, s server, raw *sql.DB) {
		db := bun.NewDB(raw, s.bun)
		if s.driver == "pgx" {
			testenv.Must(db.NewCreateTable().Model((*bunOrder)(nil)).Exec(t.Context()))(t)
		} else {
			testenv.Must(raw.Exec("CREATE TABLE orders (id " + s.raw + " PRIMARY KEY, text CHAR(24), parent " + s.raw + ")"))(t)
		}
		want := bunOrder{ID: objectid.New(), Text: objectid.Hex{ID: id}}
		testenv.Must(db.NewInsert().Model(&want).Exec(t.Context()))(t)
		got, err := bunFind(t.Context(), db, []objectid.ID{want.ID, objectid.New()})
		if err != nil || len(got) != 1 || !reflect.DeepEqual(got[0], want) {
			t.Errorf("found %+v, %v; want %+v", got, err, want)
		}
		got[0].Parent = &want.ID
		testenv.Must(db.NewUpdate().Model(&got[0]).WherePK().Exec(t.Context()))(t)
		again := bunOrder{ID: want.ID}
		if err := db.NewSelect().Model(&again).WherePK().Scan(t.Context()); err != nil || *again.Parent != want.ID {
			t.Errorf("updated: %+v, %v", again, err)
		}
	})
}

func (xormOrder) TableName() string { return "orders" }

func tryXorm(t *testing.T) {
	onEach(t, func(t *testing.T, s server, raw *sql.DB) {
		db := testenv.Must(xorm.NewEngine(s.driver, s.dsn))(t)
		defer db.Close()
		testenv.NoError(t, db.Sync(new(xormOrder)))
		first, second := xormOrder{ID: objectid.New(), Text: objectid.Hex{ID: id}}, xormOrder{ID: objectid.New()}
		second.Parent = &first.ID
		testenv.Must(db.Insert(&first, &second))(t)
		for _, want := range []xormOrder{first, second} {
			if got, ok, err := xormFind(db, want.ID); err != nil || !ok || !reflect.DeepEqual(got, want) {
				t.Errorf("found %+v, %v, %v; want %+v", got, ok, err, want)
			}
		}
		var n, null int
		testenv.NoError(t, raw.QueryRow("SELECT count(*) FROM orders WHERE length(id) = 12 AND (text = '"+sample+"' OR text IS NULL)").Scan(&n))
		testenv.NoError(t, raw.QueryRow("SELECT count(*) FROM orders WHERE parent IS NULL").Scan(&null))
		if n != 2 || null != 1 {
			t.Errorf("%d rows as they should be, %d without a parent", n, null)
		}
		first.Parent = &second.ID
		testenv.Must(db.Where("id = ?", first.ID).Update(&first))(t)
		if got, _, err := xormFind(db, first.ID); err != nil || *got.Parent != second.ID {
			t.Errorf("updated: %+v, %v", got, err)
		}
		var list []xormOrder
		if err := db.In("id", first.ID, second.ID).Find(&list); err != nil || len(list) != 2 {
			t.Errorf("In: %v, %v", list, err)
		}
		_, err := db.ID(first.ID).Get(&xormOrder{})
		wantFailure(t, "an id alone", err)
	})
}

func tryPgx(t *testing.T) {
	conn := testenv.Must(pgx.Connect(t.Context(), testenv.PostgresURL(t)))(t)
	defer conn.Close(t.Context())
	testenv.Must(conn.Exec(t.Context(), "CREATE TEMPORARY TABLE orders (id BYTEA, text TEXT, parent BYTEA)"))(t)
	want := Order{ID: objectid.New(), Text: objectid.Hex{ID: id}}
	n, err := conn.CopyFrom(t.Context(), pgx.Identifier{"orders"}, []string{"id", "text", "parent"}, pgx.CopyFromRows([][]any{{want.ID, want.Text, want.Parent}}))
	if err != nil || n != 1 {
		t.Fatalf("CopyFrom: %d, %v", n, err)
	}
	rows := testenv.Must(conn.Query(t.Context(), "SELECT * FROM orders WHERE id = ANY($1)", []objectid.ID{want.ID, id}))(t)
	got, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[Order])
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("found %+v, %v; want %+v", got, err, want)
	}
}

// go-redis writes the twelve bytes of an id, unless it is given the digits.
func tryRedis(t *testing.T) {
	db := redis.NewClient(&redis.Options{Addr: testenv.Redis(t).Addr})
	defer db.Close()
	ctx := t.Context()
	testenv.NoError(t, errors.Join(db.Set(ctx, "raw", id, 0).Err(), db.HSet(ctx, "order", "id", id.String()).Err()))
	wantText(t, "raw", testenv.Must(db.Get(ctx, "raw").Result())(t), raw)
	var got objectid.ID
	wantID(t, "Scan", db.Get(ctx, "raw").Scan(&got), got)
	var order struct {
		ID objectid.ID `redis:"id"`
	}
	wantID(t, "HGetAll", db.HGetAll(ctx, "order").Scan(&order), order.ID)
	testenv.NoError(t, db.HSet(ctx, "order", "id", id).Err())
	wantFailure(t, "raw bytes in a struct", db.HGetAll(ctx, "order").Scan(&order))
}
