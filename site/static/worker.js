// The Worker that takes one census, with the Go program census.wasm.gz. It gets {base, files,
// field, format, tz, lang, memory} from census.js, where base is the URL of the page, files are
// {path, file}, and memory is in bytes. It answers with any number of {bytes, total, name}, and then
// once with {problem}, {died}, or {html, page, svg}.
'use strict';

let answered = false;
globalThis.oidPost = (message) => { answered ||= !('bytes' in message); postMessage(message); };

// oidRead returns the bytes of a file, which is an index of oidJob.files, from a position on: up to
// 4 MiB, because smaller reads take half as long again. Or it says why it cannot read. The bytes are
// in one array until the next call: while Go works, the browser frees no others.
const reader = new FileReaderSync(), block = new Uint8Array(4 << 20);
let held, start = 0, size = 0, bytes = 0, told = 0; // what the block holds, what was read
globalThis.oidRead = (index, at) => {
  if (index !== held || at < start || at >= start + size) {
    const { path: name, file } = oidJob.files[index];
    try {
      const part = new Uint8Array(reader.readAsArrayBuffer(file.size ? file.slice(at, at + block.length) : file));
      block.set(part);
      [held, start, size] = [index, at, part.length];
    } catch (e) {
      return e.name;
    }
    bytes += size;
    if (performance.now() > told + 100) {
      told = performance.now();
      oidPost({ bytes, total: oidJob.total, name });
    }
  }
  return size || !at ? block.subarray(at - start, size) : 'it has become shorter';
};

onmessage = async ({ data }) => {
  globalThis.oidJob = data;
  data.total = data.files.reduce((sum, { file }) => sum + (file?.size ?? 0), 0);
  let said = ''; // what the program writes when it dies
  try {
    importScripts(data.base + 'wasm_exec.js', data.base + 'opfs.js', data.base + 'load.js');
    const go = new Go(), decoder = new TextDecoder();
    fs.writeSync = (_, bytes) => { said += decoder.decode(bytes); return bytes.length; };
    go.exit = () => {};
    await go.run(await oidLoad(data.base + 'census.wasm.gz', go.importObject, (bytes, total) => oidPost({ bytes, total, name: 'census.wasm.gz' })));
  } catch (e) {
    said ||= e.message;
  }
  if (!answered) oidPost({ died: /out of memory|cannot allocate/i.test(said) ? 'the browser has no more memory for it' : said.split('\n')[0] });
};
