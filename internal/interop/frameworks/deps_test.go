package frameworks

// What the generated programs of testdata import beside what the tests do.
import (
	_ "entgo.io/ent/dialect/sql"
	_ "github.com/99designs/gqlgen/graphql/handler"
	_ "github.com/99designs/gqlgen/graphql/handler/transport"
	_ "github.com/oapi-codegen/runtime"
)
