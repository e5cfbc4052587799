// The temporary files of a census: what Go's package os asks of fs, over the private files of
// the page (https://fs.spec.whatwg.org/), which a worker alone can open. While a file is
// open, its worker holds the Web Lock of its name.
'use strict';

{
  const files = new Map(), print = fs.write.bind(fs), named = (path) => path.slice(path.lastIndexOf('/') + 1);
  const codes = { QuotaExceededError: 'ENOSPC', NotFoundError: 'ENOENT', NoModificationAllowedError: 'EBUSY', SecurityError: 'EPERM', TypeError: 'EPERM', Taken: 'EEXIST' };
  let last = 2; // of the file descriptors
  const buffer = new Uint8Array(4 << 20); // always the same: while Go works, the browser frees none that a handle has used
  const move = (call) => (fd, data, from, size, at) => {
    const file = files.get(fd), part = buffer.subarray(0, size); // if size is larger, Go writes or reads the rest next
    if (call === 'write') part.set(data.subarray(from, from + part.length));
    const n = file.handle[call](part, { at: at ?? file.at });
    if (call === 'read') data.set(part.subarray(0, n), from);
    if (at === null) file.at += n;
    if (call === 'write' && n < part.length) throw { name: 'QuotaExceededError' };
    return n;
  };
  const calls = {
    async open(path) {
      const name = named(path), fd = ++last, free = await new Promise((held, failed) => {
        navigator.locks.request(name, { ifAvailable: true }, (lock) => new Promise((release) => held(lock && release))).catch(failed);
      });
      if (!free) throw { name: 'Taken' };
      const file = await (await navigator.storage.getDirectory()).getFileHandle(name, { create: true });
      files.set(fd, { handle: await file.createSyncAccessHandle(), free, at: 0 });
      return fd;
    },
    read: move('read'),
    write: move('write'),
    close(fd) {
      const { handle, free } = files.get(fd);
      files.delete(fd);
      handle.close();
      free();
    },
    unlink: async (path) => (await navigator.storage.getDirectory()).removeEntry(named(path)),
  };
  for (const [name, call] of Object.entries(calls)) {
    fs[name] = (...args) => {
      const done = args.pop();
      if (name === 'write' && args[0] < 3) print(...args, done);
      else (async () => call(...args))().then((result) => done(null, result), (e) => done({ code: codes[e.name] ?? 'EIO' }))
        .finally(() => args[1]?.buffer?.transfer?.(0)); // Go has copied it, but would keep it until it collects garbage
    };
  }
}
