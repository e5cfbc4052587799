#!/usr/bin/env node
// Runs the program of this system, which is in a package of its own.
'use strict';
const { constants } = require('node:os');
const name = `@oidkit/oid-${process.platform}-${process.arch}`;
const file = process.platform === 'win32' ? 'oid.exe' : 'oid';
let program;
try {
  program = require.resolve(`${name}/bin/${file}`);
} catch {
  const all = Object.keys(require('../package.json').optionalDependencies);
  process.stderr.write(all.includes(name)
    ? `oid: the package ${name} is not installed. npm leaves it out with --omit=optional, and if package-lock.json was written on another system: remove node_modules and package-lock.json, and run npm install again.\n`
    : `oid: there is no program for ${process.platform} on ${process.arch}. There are: ${all.join(', ')}. Elsewhere build it with Go: https://github.com/oidkit/oid\n`);
  process.exit(127);
}
if (process.execve && process.platform !== 'win32') {
  process.execve(program, ['oid', ...process.argv.slice(2)], process.env); // does not return
}
const child = require('node:child_process').spawn(program, process.argv.slice(2), { stdio: 'inherit' });
for (const signal of ['SIGINT', 'SIGQUIT', 'SIGHUP', 'SIGTERM', 'SIGUSR1', 'SIGUSR2']) {
  // A terminal sends those of its keys, and its end, to the program as well.
  const both = process.stdin.isTTY && ['SIGINT', 'SIGQUIT', 'SIGHUP'].includes(signal);
  try {
    process.on(signal, () => both || child.kill(signal));
  } catch {} // a signal that this system does not have
}
child.on('error', (err) => {
  process.stderr.write(`oid: ${err.message}\n`);
  process.exit(126);
});
child.on('exit', (code, signal) => {
  if (signal === null) process.exit(code);
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
  setTimeout(() => process.exit(128 + constants.signals[signal]), 100); // where it does not end this one
});
