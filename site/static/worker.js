// The Worker that takes one census, with the Go program census.wasm.gz. It gets {base, files,
// field, format, tz, lang, memory} from census.js, where base is the URL of the page, files are
// {path, file}, and memory is that of the device in GiB or undefined. It answers with any number of {bytes, total, name}, and then once with {problem},
// {died}, or {html, page, svg}.
'use strict';

let answered = false;
globalThis.oidPost = (message) => { answered ||= !('bytes' in message); postMessage(message); };

// oidRead returns an array that begins with the bytes of a part of a file, or says why it cannot. It
// is always the same array: while Go works, the browser frees no others.
const reader = new FileReaderSync(), block = new Uint8Array(4 << 20);
globalThis.oidRead = (file, from, to) => {
  try {
    block.set(new Uint8Array(reader.readAsArrayBuffer(file.slice(from, to))));
    return block;
  } catch (e) {
    return e.name;
  }
};

onmessage = async ({ data }) => {
  globalThis.oidJob = data;
  let said = ''; // what the program writes when it dies
  try {
    importScripts(data.base + 'wasm_exec.js', data.base + 'opfs.js', data.base + 'load.js');
    const go = new Go(), decoder = new TextDecoder();
    fs.writeSync = (_, bytes) => { said += decoder.decode(bytes); return bytes.length; };
    go.exit = () => {};
    const program = await oidLoad(data.base + 'census.wasm.gz', go.importObject, (bytes, total) => oidPost({ bytes, total, name: 'census.wasm.gz' }));
    await go.run(program);
  } catch (e) {
    said ||= e.message;
  }
  if (!answered) oidPost({ died: /out of memory/.test(said) ? 'the browser has no more memory for it' : said.split('\n')[0] });
};
