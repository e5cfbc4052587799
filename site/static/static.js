// The static page asks its program, where the served page asks its server. This script comes
// after wasm_exec.js and clock.js, and before page.js.
'use strict';

// unpacked returns the bytes of a file that ends in .gz, whether or not the server or the
// browser has unpacked them.
async function unpacked(body) {
  const [start, whole] = body.tee();
  const reader = start.getReader(), { value } = await reader.read();
  reader.cancel();
  return value?.[0] === 0x1f ? whole.pipeThrough(new DecompressionStream('gzip')) : whole;
}

// load starts the program, which gives the page the function oidPage and then calls oidReady.
async function load(address) {
  if (location.protocol === 'file:') throw new Error(word('Opened as a file, this page reads one ObjectId. A web server adds the rest: python3 -m http.server in this folder, then http://localhost:8000/'));
  const ready = new Promise((resolve) => { globalThis.oidReady = resolve; });
  const reply = await fetch(address);
  if (!reply.ok) throw new Error(word('The program cannot be loaded: the web server answers with status') + ' ' + reply.status + ', ' + address);
  const go = new Go();
  const program = new Response(await unpacked(reply.body), { headers: { 'Content-Type': 'application/wasm' } });
  go.run((await WebAssembly.instantiateStreaming(program, go.importObject)).instance);
  await ready;
}
const loaded = load(new URL('oid.wasm.gz', document.currentScript.src));
loaded.catch(() => {}); // whoever asks is told

// oidAsk returns the page that answers a request, see function ask of page.js.
globalThis.oidAsk = async (address, options) => {
  await loaded;
  const { title, address: shown, html } = oidPage(address, String(options?.body ?? ''), zone);
  const page = new DOMParser().parseFromString('<main id="main" tabindex="-1">' + html + '</main>', 'text/html');
  page.title = title;
  $('main', page).dataset.address = shown;
  return page;
};

// view shows the view of the address. A page that is shown for the first time may have a text
// already; this is kept.
async function view(first) {
  const typed = first && $('#id')?.value;
  try {
    const page = await ask(typed ? '#?id=' + encodeURIComponent(typed) : location.hash || '#');
    if (first && $('#new', page)) {
      $('#id').value ||= $('#id', page).value;
      for (const id of ['new', 'now']) $('#' + id).replaceWith(document.adoptNode($('#' + id, page)));
      take(page);
      start($('#new'));
    } else {
      show(page);
      if (!first) $('main').focus();
    }
  } catch (e) {
    trouble(e.message);
  }
}
addEventListener('DOMContentLoaded', () => view(true));
addEventListener('hashchange', () => { if (!/^#c\d+$/.test(location.hash)) view(false); }); // #c0 is a part of a report
$('.skip').addEventListener('click', (e) => { e.preventDefault(); $('main').focus(); }); // its fragment is no view
