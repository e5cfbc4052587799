// What forms alone cannot do: results while typing, local times, copying, dropping a
// file, and keys. Without this file every view still works.
'use strict';

// say shows a message, also to screen readers.
let silence;
function say(text) {
  const said = $('#said');
  said.textContent = text;
  said.classList.add('on');
  clearTimeout(silence);
  silence = setTimeout(() => said.classList.remove('on'), 1800);
}

// wall returns what a clock of the zone shows at a time, as if that were UTC; both are in
// milliseconds.
const wall = (t) => Date.parse(clock.format(new Date(t)).replace(' ', 'T') + 'Z') + (t % 1000);

// showTicks puts the ticks of plots at the round times of the zone, by the rule of the Go
// package plot.
function showTicks(root = document) {
  for (const group of all('.ticks', root)) {
    const [from, to, step, left, right] = ['from', 'to', 'step', 'left', 'right'].map((name) => Number(group.dataset[name]));
    const line = $('line', group), text = $('text', group);
    if (!line || !text) continue;
    const ticks = [], end = group.ownerSVGElement.viewBox.baseVal.width;
    for (let shown = Math.ceil(wall(from) / step) * step; ; shown += step) {
      let t = shown - (wall(from) - from);
      t = shown - (wall(t) - t); // the zone may have another offset there
      if (t > to) break;
      if (t < from) continue;
      const x = left + (right - left) * (t - from) / Math.max(to - from, 1), written = new Date(shown).toISOString();
      const label = text.cloneNode(), mark = line.cloneNode();
      label.textContent = shown % 86400000 === 0 ? written.slice(5, 10) : written.slice(11, step < 1000 ? 22 : step < 60000 ? 19 : 16);
      label.setAttribute('x', x);
      mark.setAttribute('x1', x);
      mark.setAttribute('x2', x);
      ticks.push(mark);
      if (x + 7.5 * label.textContent.length <= end) ticks.push(label);
    }
    if (ticks.length) group.replaceChildren(...ticks);
  }
  for (const e of all('[data-zone-name]', root)) e.textContent = zone;
}

const fillZone = (root = document) => { for (const e of all('[data-zone]', root)) e.value = zone; };

// zones lets the user choose the zone.
function zones() {
  const select = $('#zone');
  for (const name of new Set([zone, here, 'UTC', ...Intl.supportedValuesOf('timeZone')])) select.append(new Option(name === here && name !== 'UTC' ? name + word(' (here)') : name, name));
  select.value = zone;
  select.parentElement.hidden = false;
  select.addEventListener('change', () => {
    setZone(select.value);
    localStorage.setItem('zone', zone);
    showTimes();
    showTicks();
    fillZone();
    const form = $('form[data-live]');
    if (form && $('[data-zone]', form)) form.requestSubmit(); // it means other times now
  });
}

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Origins that are not secure have only this clipboard.
    const area = Object.assign(document.createElement('textarea'), { value: text });
    document.body.append(area);
    area.select();
    document.execCommand('copy');
    area.remove();
  }
  say(word('copied'));
}

// addCopying adds a button that copies to each element with data-copy, whose value is
// the text if it is not the content.
function addCopying(root = document) {
  const add = (to, text, label, called) => {
    const button = Object.assign(document.createElement('button'), { type: 'button', className: 'quiet copy', textContent: label });
    button.setAttribute('aria-label', called);
    button.addEventListener('click', () => copy(text));
    to.append(button);
  };
  for (const e of all('[data-copy]', root)) {
    const text = e.dataset.copy || e.textContent.trim();
    add(e.tagName === 'PRE' ? e.previousElementSibling : e, text, word('Copy'), word('Copy') + ' ' + (text.length > 40 ? text.slice(0, 40) + '…' : text));
  }
  for (const e of all('[data-copy-all]', root)) {
    const text = e.tagName === 'PRE' ? e.textContent.trim() : all('[data-copy]', e).map((one) => one.dataset.copy).join('\n');
    add($('.row', e.closest('#new')), text, word('Copy all'), word('Copy all new ids'));
  }
}

// chooseLanguage checks the language of queries that was chosen last, where there is one.
function chooseLanguage(root = document) {
  const last = localStorage.getItem('language');
  for (const e of all('.choice > input', root)) {
    if (e.value === last) e.checked = true;
    e.addEventListener('change', () => localStorage.setItem('language', e.value));
  }
}

function enliven(root) {
  chooseLanguage(root);
  showTimes(root);
  showTicks(root);
  fillZone(root);
  addCopying(root);
}

// take replaces the result of this page, and the links beside its form, by those of a
// page that was fetched.
function take(page) {
  const fresh = $('#result', page);
  if (!fresh) return false;
  const scrolled = all('#result .scroll').map((e) => e.scrollLeft);
  const open = all('#result details').map((e) => e.open);
  $('#result').replaceWith(document.adoptNode(fresh));
  const presets = $('form .presets', page);
  if (presets) $('form .presets').replaceWith(document.adoptNode(presets)); // they keep what was typed
  all('#result .scroll').forEach((e, i) => { if (i in scrolled) e.scrollLeft = scrolled[i]; });
  all('#result details').forEach((e, i) => { if (open[i]) e.open = true; });
  enliven($('#result'));
  return true;
}

// swap replaces a part of this page by that of a page that was fetched.
function swap(part, page) {
  $(part).replaceWith(document.adoptNode($(part, page)));
  enliven($(part));
  start($(part));
}

// show replaces the contents of this page by those of a page that was fetched.
function show(page, url) {
  swap('main', page);
  arrive(page, url);
}

// begin leads to the beginning of a view that was shown, also for screen readers.
const begin = () => { $('main').focus({ preventScroll: true }); scrollTo(0, 0); };

// arrive gives this page the title and the address of a page that was fetched, and marks its
// view in the navigation. Without an address, that of this page stays.
function arrive(page, url = '') {
  document.title = page.title;
  const { address = url } = page.documentElement.dataset;
  if (!address) return;
  history.replaceState(null, '', address);
  const path = address.split(/[?=&]/)[0].replace('#id', '#');
  for (const a of all('nav a')) {
    if (a.getAttribute('href') === path) a.setAttribute('aria-current', 'page');
    else a.removeAttribute('aria-current');
  }
}

// trouble shows what failed and what to do, above the result. Without a text it is over,
// if the same part of the page had shown it.
function trouble(text = '', part = 'form') {
  let e = $('#trouble');
  if (!text && e?.dataset.part !== part) return;
  if (!e) {
    e = Object.assign(document.createElement('p'), { id: 'trouble', className: 'problem' });
    e.setAttribute('role', 'alert');
    const result = $('#result');
    if (result) result.before(e); else $('main').append(e);
  }
  e.dataset.part = part;
  e.textContent = text;
  e.hidden = !text;
}

// logIn leads to the login, which leads back here. What was typed is kept.
function logIn() {
  for (const e of all('main textarea, main input:not([type])')) if (e.id) sessionStorage.setItem('draft ' + location.pathname + ' ' + e.id, e.value);
  const base = $('.brand').getAttribute('href'); // the path of the server, with a slash at its end
  location.href = base + 'login?next=' + encodeURIComponent('/' + (location.pathname + location.search).slice(base.length));
}

function restoreDrafts() {
  for (const e of all('main textarea, main input:not([type])')) {
    const key = 'draft ' + location.pathname + ' ' + e.id, text = sessionStorage.getItem(key);
    if (text === null) continue;
    sessionStorage.removeItem(key);
    if (e.value === text) continue;
    e.value = text;
    e.dispatchEvent(new Event('input', { bubbles: true }));
  }
}

const silent = 'The server does not answer. What is shown stays; try again in a moment.';

// reason returns what a failed request says: the detail of a problem, or the message
// of a page.
function reason(status, type, text, retryAfter) {
  let detail = '';
  if (/json/.test(type)) try { detail = JSON.parse(text).detail; } catch { /* it is cut off */ }
  if (/html/.test(type)) detail = $('.problem', new DOMParser().parseFromString(text, 'text/html'))?.textContent;
  if (!detail && status >= 502 && status <= 504) return silent; // from a proxy
  const words = detail ? detail[0].toUpperCase() + detail.slice(1) : 'The server has answered with status ' + status;
  return words + '.' + (retryAfter ? ' Try again in ' + retryAfter + ' s.' : '');
}

// ask returns the page that answers a request, of the server or, in the static page, of its
// program. It throws the reason of a failure; a
// page with a result is none. When the session has ended it leads to the login, unless
// nobody has asked for the answer.
async function ask(url, options, asked = true) {
  if (globalThis.oidAsk) return oidAsk(url, options);
  let reply, text;
  try {
    reply = await fetch(url, options);
    text = await reply.text();
  } catch {
    throw new Error(silent);
  }
  if (reply.status === 401 || reply.redirected && reply.url.includes('/login?next=')) {
    if (asked) logIn();
    throw new Error('The login has ended.');
  }
  const type = reply.headers.get('Content-Type');
  if (!reply.ok && !(/html/.test(type) && text.includes('id="result"'))) throw new Error(reason(reply.status, type, text, reply.headers.get('Retry-After')));
  return new DOMParser().parseFromString(text, 'text/html');
}

// post asks for the page that answers a form.
const post = (form) => ask(form.getAttribute('action'), { method: 'POST', body: new URLSearchParams(new FormData(form)) });

// Forms that show results while the user types.
const longest = 4000; // characters in a URL; longer forms are sent with POST
let asked = 0;
async function answer(form, url) {
  const mine = ++asked;
  const long = url.length > longest;
  try {
    const page = await (long ? post(form) : ask(url));
    if (mine !== asked) return;
    trouble();
    if (!take(page)) return;
    arrive(page, long ? '' : url);
    $('#said').textContent = $('#result > .soft, #result .finding strong, #result .says dd > div, #result .tile')?.innerText ?? ''; // for screen readers
  } catch (e) {
    if (mine === asked) trouble(e.message);
  }
}

function liven(form) {
  let pause;
  const go = () => {
    const fields = new URLSearchParams();
    for (const [name, value] of new FormData(form)) if (value.trim() && !(name === 'column' && value === '_id') && !(name === 'tz' && value === 'UTC')) fields.set(name, value.trim());
    const query = fields.toString();
    answer(form, form.getAttribute('action') + (query && '?' + query));
  };
  form.addEventListener('input', () => { clearTimeout(pause); pause = setTimeout(go, 180); });
  form.addEventListener('submit', (e) => { e.preventDefault(); clearTimeout(pause); go(); });
}

// newIDs creates ids in place.
function newIDs(form) {
  form.addEventListener('submit', async (e) => {
    e.preventDefault();
    try {
      const page = await post(form);
      swap('#new', page);
      trouble();
      $('form[data-new] [type=submit]').focus();
      say(word('created'));
    } catch (e) {
      trouble(e.message);
    }
  });
}

// Uploads, with progress. In the static page oidCensus reads the file instead.
function uploads(form) {
  const drop = $('.drop', form), file = $('input[type=file]', form), box = $('.progress', form);
  const send = globalThis.oidCensus?.(form) ?? (() => {
    if (!file.files.length) return;
    const bar = $('progress', box), words = $('span', box);
    const data = new FormData(form);
    data.delete('file');
    data.append('file', file.files[0]); // the server wants it last
    const request = new XMLHttpRequest();
    box.hidden = false;
    words.textContent = 'sending';
    request.upload.onprogress = (e) => {
      bar.value = e.total ? e.loaded / e.total : 0;
      words.textContent = e.loaded < e.total ? Math.floor(100 * e.loaded / e.total) + ' %' : 'reading the rest';
    };
    request.onload = () => {
      box.hidden = true;
      if (request.status === 401 || request.responseURL.includes('/login')) { logIn(); return; }
      const page = new DOMParser().parseFromString(request.responseText, 'text/html');
      if (!$('main', page)) {
        trouble(reason(request.status, request.getResponseHeader('Content-Type'), request.responseText, request.getResponseHeader('Retry-After')));
        return;
      }
      if (request.responseURL) history.pushState(null, '', request.responseURL);
      show(page);
      begin();
    };
    request.onerror = () => { box.hidden = true; trouble('The connection was lost during the upload. Send the file again.'); };
    request.open('POST', form.action);
    request.send(data);
  });
  form.addEventListener('submit', (e) => { e.preventDefault(); send(); });
  for (const name of ['dragenter', 'dragover']) drop.addEventListener(name, (e) => { e.preventDefault(); drop.classList.add('over'); });
  for (const name of ['dragleave', 'drop']) drop.addEventListener(name, () => drop.classList.remove('over'));
  drop.addEventListener('drop', (e) => { e.preventDefault(); if (!globalThis.oidCensus) file.files = e.dataTransfer.files; send(e.dataTransfer); });
}

// calendar adds a picker to a field for times. The time picked is in the zone.
function calendar(box) {
  const text = $('input', box), around = Object.assign(document.createElement('div'), { className: 'calendar' });
  around.innerHTML = '<button type="button" class="quiet">▾</button><input type="datetime-local" step="1" tabindex="-1" aria-hidden="true">';
  const button = $('button', around), picker = $('input', around);
  button.setAttribute('aria-label', word('Pick ') + box.dataset.pick);
  button.title = word('Pick a time');
  button.addEventListener('click', () => { picker.value = clock.format(new Date()).replace(' ', 'T'); picker.showPicker(); });
  picker.addEventListener('input', (e) => {
    e.stopPropagation();
    if (!picker.value) return;
    text.value = picker.value + (zone === 'UTC' ? 'Z' : '');
    text.dispatchEvent(new Event('input', { bubbles: true }));
  });
  box.append(around);
}

// start gives the forms of a page their handlers.
function start(root = document) {
  all('form[data-live]', root).forEach(liven);
  all('form[data-upload]', root).forEach(uploads);
  all('form[data-new]', root).forEach(newIDs);
  all('[data-pick]', root).forEach(calendar);
}
start();

// A file that is dropped beside the field must not replace the page.
for (const name of ['dragover', 'drop']) addEventListener(name, (e) => { if (![...document.querySelectorAll('.drop')].some((d) => d.contains(e.target))) e.preventDefault(); });
if (!globalThis.oidAsk) addEventListener('popstate', () => location.reload());

// Keys: the number of a view, / for the input, c to copy the first thing that can be.
addEventListener('keydown', (e) => {
  if (e.ctrlKey || e.metaKey || e.altKey) return;
  if (e.key === 'Escape') { document.activeElement.blur(); return; }
  if (/^(INPUT|TEXTAREA|SELECT)$/.test(e.target.tagName)) return;
  const view = all('nav a').find((a) => a.dataset.key === e.key);
  if (view) view.click();
  else if (e.key === '/') { e.preventDefault(); $('main textarea, main input:not([type=hidden]), main select')?.focus(); }
  else if (e.key === 'c') $('main button.copy')?.click();
});

$('.lang')?.addEventListener('click', (e) => { e.target.hash = location.hash; }); // the same view
zones();
enliven(document);
restoreDrafts();
setInterval(() => showTimes(), 1000);
