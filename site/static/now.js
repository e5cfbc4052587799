// A single ObjectId is shown before the program has loaded, and without a web server. The
// build renders the view of the sample id; here its digits and times become those of another.
'use strict';

const single = /^\s*(?:(?:new\s+)?ObjectId\s*\(|\{\s*["']?\$oid["']?\s*:)?\s*(["']?)((?!f{8})[0-9a-f]{24})\1\s*[)}]?[\s,;]*$/i;
const sample = '66f1a2b3c4d5e6f708192a3b'; // that of the build

// values returns the parts of the view that differ from id to id.
function values(id) {
  const digits = (n) => n.toString(16).padStart(8, '0'), seconds = parseInt(id.slice(0, 8), 16), counter = id.slice(18);
  const times = [0, 1, -30, 31, -1800, 1801].map((more) => new Date(1000 * (seconds + more)).toISOString().replace('.000', ''));
  return [digits(seconds), digits(seconds + 1), id.slice(8, 18), counter, parseInt(counter, 16), seconds,
    btoa(String.fromCharCode(...id.match(/../g).map((byte) => parseInt(byte, 16)))),
    ...times, ...times.map(encodeURIComponent), times[0].replace('T', ' ').replace('Z', ' UTC')].map(String);
}

// card returns the HTML that shows an id.
function card(id) {
  const from = values(sample), to = values(id);
  return $('#card').innerHTML.replace(new RegExp(from.join('|'), 'g'), (part) => to[from.indexOf(part)]);
}

function atOnce(text) {
  if (globalThis.oidPage) return; // the program has loaded
  const [, , id] = single.exec(text) ?? [];
  $('#result').innerHTML = id ? card(id.toLowerCase()) : '';
  (globalThis.enliven ?? showTimes)($('#result'));
}

function linked() {
  let text = location.hash.replace(/^#(id=)?/, '').split('&')[0];
  try { text = decodeURIComponent(text); } catch { /* a % that begins no character */ }
  if (!single.test(text) || globalThis.oidPage) return;
  $('#id').value = text;
  atOnce(text);
}

addEventListener('input', (e) => { if (e.target.id === 'id') atOnce(e.target.value); });
addEventListener('hashchange', linked);
linked();
addEventListener('load', () => oidAsk('#').then(() => navigator.serviceWorker?.register(new URL('sw.js', $('[rel=manifest]').href))).catch(() => { /* the page says what failed */ }));
