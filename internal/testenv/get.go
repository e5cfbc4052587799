package testenv

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
)

// Get returns the JSON that a server answers to a GET. A nil c is http.DefaultClient.
func Get[Out any](ctx context.Context, c *http.Client, url string) (out Out, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return out, err
	}
	req.Header.Set("Accept", "application/json")
	res, err := cmp.Or(c, http.DefaultClient).Do(req)
	if err != nil {
		return out, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return out, fmt.Errorf("GET %s: %s", url, res.Status)
	}
	return out, json.NewDecoder(res.Body).Decode(&out)
}
