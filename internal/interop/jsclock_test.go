package interop

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/oidkit/oid/internal/testenv"
)

// underTestClocks turns a test clock on and off, and sets it back and ahead, between ids.
// useFake, useReal and set are those of the test runner.
const underTestClocks = `
test('ids increase', () => {
  const ids = [ObjectId.generate()]
  const origins = new Set()
  for (let i = 0; i < 200; i++) {
    if (i % 2) useReal()
    else useFake()
    if (i % 10 === 0) set(Date.now() + (i % 20 ? 3600e3 : -3600e3))
    if (i % 50 === 0) set(0)
    origins.add(performance.timeOrigin)
    for (let k = 0; k < 3; k++) ids.push(ObjectId.generate())
  }
  useReal()
  expect(ids.filter((id, i) => i && ObjectId.compare(ids[i - 1], id) >= 0)).toEqual([])
  expect(origins.size).toBeGreaterThan(1)
  const clock = new Date(2026, 10, 1)
  useFake()
  set(clock)
  const day = ObjectId.between(new Date(), Date.now() + 24 * 3600e3)
  useReal()
  expect(day.$gte.getTimestamp()).toEqual(clock)
})
`

// Ids increase while the clocks of vitest, jest and sinon replace Date and performance, and a
// Date of a test clock is a time.
func TestJavaScriptUnderTestClocks(t *testing.T) {
	dir := project(t, map[string]string{
		"package.json": "{}",
		"jest.test.cjs": `const { ObjectId } = require('@oidkit/objectid')
const useFake = () => jest.useFakeTimers(), useReal = () => jest.useRealTimers(), set = (time) => jest.setSystemTime(time)
` + underTestClocks,
		"vitest.test.mjs": `import { ObjectId } from '@oidkit/objectid'
const useFake = () => vi.useFakeTimers(), useReal = () => vi.useRealTimers(), set = (time) => vi.isFakeTimers() && vi.setSystemTime(time)
` + underTestClocks,
		"sinon.cjs": `const { ObjectId } = require('@oidkit/objectid')
const { deepEqual } = require('node:assert/strict')
const { install } = require(process.argv[2])
let clock
const useFake = () => (clock = install()), useReal = () => (clock?.uninstall(), (clock = undefined)), set = (time) => clock?.setSystemTime(time)
const test = (_, f) => f(), expect = (got) => ({ toEqual: (want) => deepEqual(got, want), toBeGreaterThan: (n) => got > n || process.exit(1) })
` + underTestClocks,
	})
	program := testenv.Program(t, "node", "nodejs")
	modules := testenv.NodeModules(t, "jest", "30.5.2")
	t.Run("jest", func(t *testing.T) {
		out := runIn(t, dir, program, filepath.Join(modules, "jest/bin/jest.js"), "--ci", "--rootDir", dir, "--testMatch", "**/jest.test.cjs")
		if !strings.Contains(out, "1 passed, 1 total") {
			t.Error(out)
		}
	})
	t.Run("sinon", func(t *testing.T) {
		runIn(t, dir, program, "sinon.cjs", filepath.Join(modules, "@sinonjs/fake-timers"))
	})
	t.Run("vitest", func(t *testing.T) {
		vitest := filepath.Join(testenv.NodeModules(t, "vitest", "5.1.2"), "vitest/vitest.mjs")
		out := runIn(t, dir, testenv.JavaScript(t, "node", "24.9.0"), vitest, "run", "--globals", "vitest.test.mjs")
		if !strings.Contains(out, "1 passed (1)") {
			t.Error(out)
		}
	})
}
