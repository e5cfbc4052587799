'use strict';

// oidLoad returns an instance of a Go program, which it compiles while it arrives. The file at url
// is compressed with gzip, unless the server has unpacked it. told gets the number of bytes so far,
// and of all bytes, or NaN.
globalThis.oidLoad = async (url, imports, told = () => {}) => {
  const name = url.replace(/.*\//, ''), reply = await fetch(url);
  if (!reply.ok) throw new Error(`${name}: the server answers with status ${reply.status}`);
  const reader = reply.body.getReader(), total = Number(reply.headers.get('Content-Length') ?? NaN);
  let first = await reader.read(), bytes = 0;
  const magic = String.fromCharCode(...first.value?.slice(0, 2) ?? []);
  if (magic !== '\x1f\x8b' && magic !== '\0a') throw new Error(`${name}: the server answers with something else`);
  let stream = new ReadableStream({
    async pull(out) {
      const { value, done } = first ?? await reader.read();
      first = null;
      if (done) return out.close();
      told(bytes += value.length, total);
      out.enqueue(value);
    },
  });
  if (magic !== '\0a') stream = stream.pipeThrough(new DecompressionStream('gzip'));
  const { instance } = await WebAssembly.instantiateStreaming(new Response(stream, { headers: { 'Content-Type': 'application/wasm' } }), imports);
  return instance;
};
