package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// The modules of a release. In the repository the first one uses the folder of the second
// one, by a replace in its go.mod.
const (
	mainModule = "github.com/oidkit/oid"
	idModule   = "github.com/oidkit/oid/objectid"
)

// checkOut clones a repository into r.root, and makes the two tags of the release there:
//
//	objectid/v0.1.0   the last commit of the repository
//	v0.1.0            the commit of the release: it follows that one, is on no branch, and
//	                  requires objectid v0.1.0 in place of the folder
//
// The second commit exists because "go install" refuses a go.mod with a replace. The same
// commit and version give the same tags. If the last commit of the repository is that of
// the release already, it gets the second tag, and its parent the first.
func (r *release) checkOut(ctx context.Context, repository string) error {
	changes, err := git(ctx, repository, "status", "--porcelain", "--untracked-files=no")
	if err != nil {
		return err
	}
	if changes != "" {
		return fmt.Errorf("a release is built from a commit; commit these changes first:\n%s", changes)
	}
	if _, err := git(ctx, repository, "clone", "--quiet", "--shared", "--no-tags", ".", r.root); err != nil {
		return err
	}
	seconds, err := git(ctx, r.root, "log", "-1", "--format=%ct")
	if err != nil {
		return err
	}
	unix, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return fmt.Errorf("the time of the commit: %w", err)
	}
	r.time = time.Unix(unix, 0).UTC()
	if err := r.offer(idModule, "objectid"); err != nil {
		return err
	}
	mod, err := os.ReadFile(filepath.Join(r.root, "go.mod"))
	if err != nil {
		return err
	}
	if strings.Contains(string(mod), "replace "+idModule+" ") {
		if err := r.commit(ctx); err != nil {
			return err
		}
	} else if !strings.Contains(string(mod), idModule+" v"+r.version+"\n") {
		return fmt.Errorf("this is the commit of another release than %s; check out main", r.version)
	}
	_, err = git(ctx, r.root, "tag", "objectid/v"+r.version, "HEAD^")
	if err == nil {
		_, err = git(ctx, r.root, "tag", "v"+r.version)
	}
	return err
}

// commit makes the commit of the release.
func (r *release) commit(ctx context.Context) error {
	files, err := git(ctx, r.root, "grep", "--files-with-matches", idModule+" v", "--", "go.mod", "*/go.mod")
	if err != nil {
		return err
	}
	edit := []string{"mod", "edit", "-require=" + idModule + "@v" + r.version}
	for file := range strings.FieldsSeq(files) {
		if _, err := output(r.goCommand(ctx, append(edit, file)...)); err != nil {
			return err
		}
	}
	if _, err := output(r.goCommand(ctx, "mod", "edit", "-dropreplace="+idModule)); err != nil {
		return err
	}
	if err := r.addSums(); err != nil {
		return err
	}
	cmd := gitCommand(ctx, r.root, "-c", "user.name=oid", "-c", "user.email=oid@oidkit.org", "-c", "commit.gpgsign=false",
		"commit", "--quiet", "--all", "-m", "oid "+r.version,
		"-m", "The main module requires objectid by version, because \"go install\" refuses a go.mod\nwith a replace. This commit is on no branch.")
	date := fmt.Sprintf("%d +0000", r.time.Unix())
	cmd.Env = append(os.Environ(), "GIT_AUTHOR_DATE="+date, "GIT_COMMITTER_DATE="+date)
	_, err = output(cmd)
	return err
}

// writeBundle writes the commit of the release, with its tag, for "git fetch".
func (r *release) writeBundle(ctx context.Context, _ []target) error {
	tag := "v" + r.version
	_, err := git(ctx, r.root, "bundle", "create", "--quiet", r.path("oid_"+r.version+"_commit.bundle"), tag, "^"+tag+"^")
	return err
}

func gitCommand(ctx context.Context, folder string, args ...string) *exec.Cmd {
	return exec.CommandContext(ctx, "git", append([]string{"-C", folder}, args...)...)
}

// git runs a command of git in a folder, and returns what it prints.
func git(ctx context.Context, folder string, args ...string) (string, error) {
	return output(gitCommand(ctx, folder, args...))
}

// output returns what a command prints. The error has what it prints as errors.
func output(cmd *exec.Cmd) (string, error) {
	out, err := cmd.Output()
	if failed := (*exec.ExitError)(nil); errors.As(err, &failed) {
		err = fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, failed.Stderr)
	}
	return strings.TrimSpace(string(out)), err
}
