// The temporary files of a census: what Go's package os asks of fs, over the private files of
// the page (https://fs.spec.whatwg.org/), which a worker alone can open. While a file is
// open, its worker holds the Web Lock of its name.
'use strict';

(() => {
  let last = 2; // of the file descriptors
  const files = new Map(), print = fs.write.bind(fs);
  const codes = { QuotaExceededError: 'ENOSPC', NotFoundError: 'ENOENT', NoModificationAllowedError: 'EBUSY', SecurityError: 'EPERM', TypeError: 'EPERM', Taken: 'EEXIST' };
  const named = (path) => path.slice(path.lastIndexOf('/') + 1);
  const calls = {
    async open(path) {
      const name = named(path), free = await new Promise((held, failed) => {
        navigator.locks.request(name, { ifAvailable: true }, (lock) => new Promise((release) => held(lock && release))).catch(failed);
      });
      if (!free) throw { name: 'Taken' };
      const file = await (await navigator.storage.getDirectory()).getFileHandle(name, { create: true });
      const handle = await file.createSyncAccessHandle(), fd = ++last;
      files.set(fd, { handle, free, at: 0 });
      return fd;
    },
    read: (fd, data, from, size, at) => move('read', fd, data, from, size, at),
    write(fd, data, from, size, at) {
      const n = move('write', fd, data, from, size, at);
      data.buffer.transfer?.(0); // at once: Go would keep it until it collects garbage
      if (n < size) throw { name: 'QuotaExceededError' };
      return n;
    },
    close(fd) {
      const { handle, free } = files.get(fd);
      files.delete(fd);
      handle.close();
      free();
    },
    unlink: async (path) => (await navigator.storage.getDirectory()).removeEntry(named(path)),
  };
  const move = (call, fd, data, from, size, at) => {
    const file = files.get(fd), n = file.handle[call](data.subarray(from, from + size), { at: at ?? file.at });
    if (at === null) file.at += n;
    return n;
  };
  for (const [name, call] of Object.entries(calls)) {
    fs[name] = async (...args) => {
      const done = args.pop();
      if (name === 'write' && args[0] < 3) { print(...args, done); return; }
      let result, wrong = null;
      try {
        result = await call(...args);
      } catch (e) {
        wrong = { code: codes[e.name] ?? 'EIO' };
      }
      done(wrong, result);
    };
  }
})();
