// The static page asks its program, where the served page asks its server. This script comes
// after wasm_exec.js, load.js and clock.js, and before page.js.
'use strict';

// load starts the program, which gives the page the function oidPage and then calls oidReady.
async function load(address) {
  if (location.protocol === 'file:') throw new Error(word('Opened as a file, this page reads one ObjectId. A web server adds the rest: python3 -m http.server in this folder, then http://localhost:8000/'));
  const ready = new Promise((resolve) => { globalThis.oidReady = resolve; }), go = new Go();
  try {
    go.run(await oidLoad(address, go.importObject, () => { if (performance.now() > 2000) say(word('loading')); }));
  } catch (e) {
    throw new Error(word('The program cannot be loaded. Reload the page to try again.') + ' ' + e.message);
  }
  await ready;
  $('#said').classList.remove('on'); // what it says next is for screen readers
}
const loaded = load(new URL('oid.wasm.gz', document.currentScript.src).href);
loaded.catch(() => {}); // whoever asks is told

// oidAsk returns the page that answers a request, see function ask of page.js.
globalThis.oidAsk = async (address, options) => {
  await loaded;
  let answer;
  try { answer = oidPage(address, String(options?.body ?? ''), zone); } catch { /* it stopped before */ }
  if (!answer) throw new Error(word('The program has stopped. Reload the page.'));
  const { title, address: shown, html } = answer;
  const page = new DOMParser().parseFromString('<main id="main" tabindex="-1">' + html + '</main>', 'text/html');
  page.title = title;
  page.documentElement.dataset.address = shown;
  return page;
};

const isPart = (url) => /#c\d+$/.test(url); // of a report, which is not asked for again

// view shows the view of the address. A page that is shown for the first time may have a text
// already; this is kept.
async function view(first) {
  const typed = first && $('#id')?.value;
  try {
    const page = await ask(typed ? '#?id=' + encodeURIComponent(typed) : isPart(location.hash) ? '#census' : location.hash || '#');
    if (first && $('#new', page)) {
      $('#id').value ||= $('#id', page).value;
      for (const part of ['#new', '#now']) swap(part, page);
      take(page);
      arrive(page);
    } else {
      show(page);
      if (!first) begin();
    }
  } catch (e) {
    trouble(e.message);
  }
}
addEventListener('DOMContentLoaded', () => view(true));
addEventListener('hashchange', ({ oldURL, newURL }) => { if (!isPart(newURL) && !(isPart(oldURL) && location.hash === '#census' && $('.report'))) view(false); });
$('.skip').addEventListener('click', (e) => { e.preventDefault(); $('main').focus(); }); // its link, #main, must not be read as a view
