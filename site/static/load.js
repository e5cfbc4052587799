'use strict';

// oidLoad returns an instance of a Go program, which it compiles while it arrives. The file at url
// is compressed with gzip, unless the server has unpacked it. told gets the number of bytes so far,
// and of all bytes, or NaN. The error of a failure names the file.
globalThis.oidLoad = async (url, imports, told = () => {}) => {
  let bytes = 0;
  try {
    const reply = await fetch(url).catch(() => { throw new Error('this browser has not kept the file, and the server does not answer or has a newer version of the page; close other tabs of the page and reload it'); });
    if (!reply.ok) throw new Error('the server answers with status ' + reply.status);
    const total = Number(reply.headers.get('Content-Length') ?? NaN), [begin, whole] = reply.body.tee(), reader = begin.getReader();
    const first = (await reader.read()).value?.[0];
    reader.cancel();
    if (first !== 0x1f && first !== 0) throw new Error('the server answers with something else');
    let stream = whole.pipeThrough(new TransformStream({ transform(part, out) { told(bytes += part.length, total); out.enqueue(part); } }));
    if (first) stream = stream.pipeThrough(new DecompressionStream('gzip'));
    return (await WebAssembly.instantiateStreaming(new Response(stream, { headers: { 'Content-Type': 'application/wasm' } }), imports)).instance;
  } catch (e) {
    throw new Error(url.replace(/.*\//, '') + ': ' + e.message + (bytes ? ', after ' + bytes + ' bytes' : ''));
  }
};
