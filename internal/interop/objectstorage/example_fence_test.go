// Package objectstorage runs the code of docs/how-to/fences.md on an S3 server. It is a
// module of its own, so that nothing of S3 gets into oid's go.mod.
package objectstorage

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"
	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/oidkit/oid/lock"
)

func writeObject(ctx context.Context, client *s3.Client, bucket, key string, body []byte, fence uint64) error {
	put := &s3.PutObjectInput{
		Bucket: &bucket, Key: &key,
		Body: bytes.NewReader(fmt.Appendf(nil, "%d\n%s", fence, body)),
	}
	old, err := client.GetObject(ctx, &s3.GetObjectInput{Bucket: &bucket, Key: &key})
	var missing *types.NoSuchKey
	switch {
	case errors.As(err, &missing):
		put.IfNoneMatch = aws.String("*")
	case err != nil:
		return err
	default:
		defer old.Body.Close()
		var seen uint64
		if _, err := fmt.Fscanln(old.Body, &seen); err != nil {
			return err
		}
		if fence < seen {
			return &lock.StaleError{Fence: fence, Seen: seen}
		}
		put.IfMatch = old.ETag
	}
	_, err = client.PutObject(ctx, put)
	return err // PreconditionFailed: another write came in between; read again
}

// newClient returns a client of an empty server.
func newClient(t *testing.T) *s3.Client {
	t.Helper()
	server := httptest.NewServer(gofakes3.New(s3mem.New()).Server())
	t.Cleanup(server.Close)
	client := s3.New(s3.Options{
		BaseEndpoint: &server.URL, Region: "us-east-1", UsePathStyle: true,
		Credentials: credentials.NewStaticCredentialsProvider("key", "secret", ""),
	})
	if _, err := client.CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: aws.String("reports")}); err != nil {
		t.Fatal(err)
	}
	return client
}

// frozenBeforePut is a client that does something else before each PUT.
type frozenBeforePut struct {
	s3.HTTPClient
	meanwhile func()
}

func (c frozenBeforePut) Do(req *http.Request) (*http.Response, error) {
	if req.Method == http.MethodPut {
		c.meanwhile()
	}
	return c.HTTPClient.Do(req)
}

func stored(t *testing.T, client *s3.Client) string {
	t.Helper()
	object, err := client.GetObject(t.Context(), &s3.GetObjectInput{Bucket: aws.String("reports"), Key: aws.String("november")})
	if err != nil {
		t.Fatal(err)
	}
	defer object.Body.Close()
	text, err := io.ReadAll(object.Body)
	if err != nil {
		t.Error(err)
	}
	return string(text)
}

func TestFencesInObjectStorage(t *testing.T) {
	client := newClient(t)
	for _, c := range []struct {
		body  string
		fence uint64
		stale bool
		want  string
	}{
		{"first", 7, false, "7\nfirst"},
		{"again", 7, false, "7\nagain"},
		{"later", 8, false, "8\nlater"},
		{"stale", 7, true, "8\nlater"},
	} {
		err := writeObject(t.Context(), client, "reports", "november", []byte(c.body), c.fence)
		if (err != nil) != c.stale || c.stale && !errors.Is(err, lock.ErrStale) {
			t.Errorf("%s under %d: %v; want stale: %v", c.body, c.fence, err, c.stale)
		}
		if got := stored(t, client); got != c.want {
			t.Errorf("after %s under %d: %q, want %q", c.body, c.fence, got, c.want)
		}
	}
}

// A holder that was frozen between reading and writing is refused by the server, also if
// the later holder has written the same body.
func TestFrozenBeforeTheWrite(t *testing.T) {
	for _, exists := range []bool{false, true} {
		client := newClient(t)
		if exists {
			if err := writeObject(t.Context(), client, "reports", "november", []byte("same"), 6); err != nil {
				t.Fatal(err)
			}
		}
		frozen := s3.New(client.Options(), func(o *s3.Options) {
			o.HTTPClient = frozenBeforePut{o.HTTPClient, func() {
				if err := writeObject(t.Context(), client, "reports", "november", []byte("same"), 8); err != nil {
					t.Error(err)
				}
			}}
		})
		err := writeObject(t.Context(), frozen, "reports", "november", []byte("same"), 7)
		var answer smithy.APIError
		if !errors.As(err, &answer) || answer.ErrorCode() != "PreconditionFailed" {
			t.Errorf("exists %v: the late write: %v, want PreconditionFailed", exists, err)
		}
		if got := stored(t, client); got != "8\nsame" {
			t.Errorf("exists %v: stored %q", exists, got)
		}
	}
}
