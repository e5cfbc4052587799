-- name: Insert :exec
INSERT INTO orders (id, parent, hex) VALUES (?, ?, ?);

-- name: Find :one
SELECT * FROM orders WHERE id = ?;

-- name: Many :many
SELECT * FROM orders WHERE id IN (sqlc.slice(ids));
