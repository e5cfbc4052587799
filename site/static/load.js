'use strict';

// oidLoad returns an instance of a Go program, which it compiles while it arrives. The file at url
// is compressed with gzip, unless the server has unpacked it. told gets the number of bytes so far,
// and of all bytes, or NaN. The error of a failure names the file.
globalThis.oidLoad = async (url, imports, told = () => {}) => {
  let bytes = 0;
  try {
    const reply = await fetch(url).catch(() => { throw new Error('the server does not answer, and this browser has not kept the file'); });
    if (!reply.ok) throw new Error('the server answers with status ' + reply.status);
    const reader = reply.body.getReader(), total = Number(reply.headers.get('Content-Length') ?? NaN);
    let first = await reader.read();
    const packed = first.value?.[0] === 0x1f;
    if (!packed && first.value?.[0] !== 0) throw new Error('the server answers with something else');
    let stream = new ReadableStream({
      async pull(out) {
        const { value, done } = first ?? await reader.read();
        first = null;
        if (done) return out.close();
        told(bytes += value.length, total);
        out.enqueue(value);
      },
    });
    if (packed) stream = stream.pipeThrough(new DecompressionStream('gzip'));
    return (await WebAssembly.instantiateStreaming(new Response(stream, { headers: { 'Content-Type': 'application/wasm' } }), imports)).instance;
  } catch (e) {
    throw new Error(url.replace(/.*\//, '') + ': ' + e.message + (bytes ? ', after ' + bytes + ' bytes' : ''));
  }
};
