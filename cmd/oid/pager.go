package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

// pager is a program that shows what is written to it.
type pager struct {
	io.WriteCloser
	cmd *exec.Cmd
}

// startPager starts the program of PAGER, or less.
func startPager(std streams) (*pager, error) {
	line := strings.Fields(cmp.Or(os.Getenv("PAGER"), "less"))
	cmd := exec.Command(line[0], line[1:]...)
	cmd.Stdout, cmd.Stderr = std.out, std.err
	if os.Getenv("LESS") == "" {
		cmd.Env = append(os.Environ(), "LESS=FRX") // end at once after one screen, show colours, leave the text
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the pager: %w; set PAGER to another, or write | cat", err)
	}
	return &pager{in, cmd}, nil
}

// Close waits until the reader has seen enough.
func (p *pager) Close() error {
	err := p.WriteCloser.Close()
	if errors.Is(err, os.ErrClosed) {
		err = nil
	}
	return errors.Join(err, p.cmd.Wait())
}
