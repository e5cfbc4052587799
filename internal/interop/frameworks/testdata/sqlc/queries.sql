-- name: Insert :exec
INSERT INTO orders (id, parent, hex) VALUES ($1, $2, $3);

-- name: Find :one
SELECT * FROM orders WHERE id = $1;

-- name: Many :many
SELECT * FROM orders WHERE id = ANY(sqlc.arg(ids)::bytea[]);
