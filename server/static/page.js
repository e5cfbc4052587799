// What a form alone cannot do: answers while typing, local times, copying, dropping
// a file, and keys. Without this file every view still works.
'use strict';

const $ = (selector, root = document) => root.querySelector(selector);
const all = (selector, root = document) => [...root.querySelectorAll(selector)];

// say tells what happened, to the eye and to a screen reader.
let silence;
function say(text) {
  const said = $('#said');
  said.textContent = text;
  said.classList.add('on');
  clearTimeout(silence);
  silence = setTimeout(() => said.classList.remove('on'), 1800);
}

// ago says how long ago a moment was, in its largest unit.
function ago(then) {
  const seconds = Math.trunc((Date.now() - then) / 1000);
  for (const [name, length] of [['year', 31557600], ['day', 86400], ['hour', 3600], ['minute', 60], ['second', 1]]) {
    const n = Math.trunc(Math.abs(seconds) / length);
    if (n > 0) {
      const words = n === 1 ? '1 ' + name : n + ' ' + name + 's';
      return seconds < 0 ? 'in ' + words : words + ' ago';
    }
  }
  return 'just now';
}

function tellTimes(root = document) {
  for (const e of all('[data-ago]', root)) e.textContent = ago(Date.parse(e.dataset.ago));
  for (const e of all('time[data-moment]', root)) e.title = new Date(e.dateTime).toLocaleString() + ' here, ' + ago(Date.parse(e.dateTime));
  for (const e of all('[data-local-of]', root)) {
    const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
    $('dd', e).textContent = new Date(e.dataset.localOf).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'medium' }) + ' ' + zone;
    e.hidden = false;
  }
}

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Without a secure origin there is no clipboard but this one.
    const area = document.createElement('textarea');
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand('copy');
    area.remove();
  }
  say('copied');
}

// addCopying puts a button beside everything that is worth copying.
function addCopying(root = document) {
  for (const e of all('[data-copy]', root)) {
    const text = e.textContent.trim();
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'quiet copy';
    button.textContent = 'Copy';
    button.setAttribute('aria-label', 'Copy ' + (text.length > 40 ? text.slice(0, 40) + '…' : text));
    button.addEventListener('click', () => copy(text));
    const head = e.tagName === 'PRE' ? e.previousElementSibling : e;
    head.append(button);
  }
}

function enliven(root) {
  tellTimes(root);
  addCopying(root);
}

// take puts the result of a page that was fetched in the place of this one's.
function take(html) {
  const page = new DOMParser().parseFromString(html, 'text/html');
  const fresh = $('#result', page);
  if (!fresh) return false;
  const scrolled = all('#result .scroll').map((e) => e.scrollLeft);
  $('#result').replaceWith(document.adoptNode(fresh));
  all('#result .scroll').forEach((e, i) => { if (i in scrolled) e.scrollLeft = scrolled[i]; });
  enliven($('#result'));
  return true;
}

// Forms that answer while somebody types.
const longest = 4000; // characters that go into a URL
let asked = 0;
async function answer(form, url) {
  const mine = ++asked;
  const long = url.length > longest;
  const reply = long
    ? await fetch(form.action, { method: 'POST', body: new URLSearchParams(new FormData(form)) })
    : await fetch(url);
  const html = await reply.text();
  if (mine === asked && take(html) && !long) history.replaceState(null, '', url);
}

function liven(form) {
  let pause;
  const go = () => {
    const fields = new URLSearchParams();
    for (const [name, value] of new FormData(form)) if (value.trim() && !(name === 'column' && value === '_id')) fields.set(name, value.trim());
    const query = fields.toString();
    answer(form, new URL(form.getAttribute('action'), location).pathname + (query && '?' + query)).catch(() => say('the server does not answer'));
  };
  form.addEventListener('input', () => { clearTimeout(pause); pause = setTimeout(go, 180); });
  form.addEventListener('submit', (e) => { e.preventDefault(); clearTimeout(pause); go(); });
}

// Uploads, with progress.
function uploads(form) {
  const drop = $('.drop', form), file = $('input[type=file]', form), box = $('.progress', form);
  const send = () => {
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
      words.textContent = e.loaded < e.total ? Math.floor(100 * e.loaded / e.total) + ' %' : 'reading the last of it';
    };
    request.onload = () => {
      box.hidden = true;
      const page = new DOMParser().parseFromString(request.responseText, 'text/html');
      const main = $('main', page);
      if (!main) { say('the server gave no answer'); return; }
      $('main').replaceWith(document.adoptNode(main));
      if (request.responseURL) history.pushState(null, '', request.responseURL);
      enliven($('main'));
      $('main').focus();
      start();
    };
    request.onerror = () => { box.hidden = true; say('the upload was cut off'); };
    request.open('POST', form.action);
    request.send(data);
  };
  form.addEventListener('submit', (e) => { e.preventDefault(); send(); });
  for (const name of ['dragenter', 'dragover']) drop.addEventListener(name, (e) => { e.preventDefault(); drop.classList.add('over'); });
  for (const name of ['dragleave', 'drop']) drop.addEventListener(name, () => drop.classList.remove('over'));
  drop.addEventListener('drop', (e) => { e.preventDefault(); file.files = e.dataTransfer.files; send(); });
}
// calendar puts a picker beside a field for times; what is picked is in UTC.
function calendar(box) {
  const text = $('input', box), around = document.createElement('div');
  around.className = 'calendar';
  around.innerHTML = '<button type="button" class="quiet"></button><input type="datetime-local" step="1" tabindex="-1" aria-hidden="true">';
  const button = $('button', around), picker = $('input', around);
  button.textContent = '▾';
  button.setAttribute('aria-label', 'Pick ' + box.dataset.pick + ' (UTC)');
  button.title = 'Pick a time in UTC';
  button.addEventListener('click', () => { picker.value = new Date().toISOString().slice(0, 19); picker.showPicker(); });
  picker.addEventListener('input', (e) => {
    e.stopPropagation();
    if (!picker.value) return;
    text.value = picker.value + 'Z';
    text.dispatchEvent(new Event('input', { bubbles: true }));
  });
  box.append(around);
}

// start gives the forms of a page their handlers.
function start() {
  all('form[data-live]').forEach(liven);
  all('form[data-upload]').forEach(uploads);
  all('[data-pick]').forEach(calendar);
}
start();

// A file that misses the field must not replace the page.
for (const name of ['dragover', 'drop']) addEventListener(name, (e) => { if (![...document.querySelectorAll('.drop')].some((d) => d.contains(e.target))) e.preventDefault(); });
addEventListener('popstate', () => location.reload());

// Views of what changes come anew now and then, unless somebody is at work in them.
async function refresh() {
  const result = $('#result[data-refresh]');
  if (!result || document.hidden || result.contains(document.activeElement) || String(getSelection())) return;
  const reply = await fetch(location.href);
  if (reply.ok) take(await reply.text());
}
const every = $('#result[data-refresh]')?.dataset.refresh;
if (every) setInterval(() => refresh().catch(() => {}), every * 1000);

// Keys: a view by its number, / for the input, c to copy the first thing there is.
addEventListener('keydown', (e) => {
  if (e.ctrlKey || e.metaKey || e.altKey) return;
  if (e.key === 'Escape') { document.activeElement.blur(); return; }
  if (/^(INPUT|TEXTAREA|SELECT)$/.test(e.target.tagName)) return;
  const view = all('nav a').find((a) => a.dataset.key === e.key);
  if (view) view.click();
  else if (e.key === '/') { e.preventDefault(); $('main textarea, main input:not([type=hidden]), main select')?.focus(); }
  else if (e.key === 'c') $('main button.copy')?.click();
});

enliven(document);
setInterval(() => tellTimes(), 1000);
