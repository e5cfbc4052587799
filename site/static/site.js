// This script renders the page. The functions that calculate are written in Go and are in
// oid.wasm.gz.
'use strict';

const $ = (id) => document.getElementById(id);

// make returns an element with a class, a text and children.
function make(tag, className = '', ...contents) {
  const e = document.createElement(tag);
  if (className) e.className = className;
  e.append(...contents);
  return e;
}

function copyButton(text) {
  const b = make('button', 'quiet copy', 'Copy');
  b.type = 'button';
  b.setAttribute('aria-label', 'Copy ' + (text.length > 40 ? text.slice(0, 40) + '…' : text));
  b.addEventListener('click', async () => { await navigator.clipboard.writeText(text); b.textContent = 'Copied'; setTimeout(() => { b.textContent = 'Copy'; }, 1500); });
  return b;
}

const zone = Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC';
const clock = new Intl.DateTimeFormat('sv-SE', { dateStyle: 'short', timeStyle: 'medium' });
const utc = (text) => text.replace('T', ' ').replace('Z', ' UTC');
const local = (text) => zone === 'UTC' ? utc(text) : clock.format(new Date(text)) + ' ' + zone + ' · ' + utc(text);

function says(name, value, copied = value) {
  const dd = make('dd', '', make('div', '', value));
  if (copied) dd.append(copyButton(copied));
  return make('div', '', make('dt', '', name), dd);
}

function strip(fields) {
  return make('span', 'strip', ...fields.map((f) => make('span', 'f-' + f.name, f.hex)));
}

function reading(r) {
  const fields = make('span', 'fields', ...r.fields.map((f) => make('span', 'field f-' + f.name, make('span', 'hex', f.hex), make('span', 'what', f.name + (f.number && ' ' + f.number)))));
  return make('section', 'reading', make('h4', '', (r.name + ' ' + r.variant).trim() + ' ', make('span', 'verdict v-' + r.verdict, r.verdict)),
    make('p', 'soft', r.reason + (r.time && ' · ' + utc(r.time))), fields);
}

function card(id) {
  const first = id.readings[0];
  const list = make('dl', 'says');
  if (id.time) list.append(says('Created', local(id.time), id.time), says('Unix time', String(Math.floor(Date.parse(id.time) / 1000))));
  list.append(says('Format', (first.name + ' ' + first.variant).trim() + ', ' + first.verdict + ': ' + first.reason, ''));
  const rest = make('details', 'readings', make('summary', '', id.readings.length > 1 ? 'fields, and other readings' : 'fields'), ...id.readings.map(reading));
  return make('article', 'id-card', make('h3', 'the-id', first.name === 'objectid' ? strip(first.fields) : id.id, copyButton(id.id)), list, rest);
}

function inspect() {
  const { ids, bad, more } = oidInspect($('text').value);
  const found = ids.map(card);
  if (more) found.push(make('p', 'soft', more + ' more ids are not shown. The command oid inspect has no limit.'));
  if (bad.length) found.push(make('div', 'finding', make('ul', '', ...bad.slice(0, 100).map((b) => make('li', '', b)))));
  $('found').replaceChildren(...found);
}

function range() {
  const r = oidRange($('from').value.trim(), $('to').value.trim(), $('column').value.trim());
  if (r.error) { $('queries').replaceChildren(make('p', 'problem', r.error)); return; }
  const ends = [['from', r.from, 'no lower bound'], ['to', r.to, 'no upper bound']].map(([name, b, none]) =>
    make('p', 'soft', name + ': ', b ? make('b', 'id', b.id) : none, b ? ' · ' + utc(b.time) : ''));
  // The buttons have the markup of the server's page: its style sheet shows the query whose
  // button is checked.
  const chosen = document.querySelector('#queries input:checked')?.value ?? 'mongosh';
  const buttons = r.queries.flatMap((q) => {
    const input = make('input'), label = make('label', '', q.for);
    Object.assign(input, { type: 'radio', name: 'language', id: 'q-' + q.for, value: q.for, checked: q.for === chosen });
    label.htmlFor = input.id;
    return [input, label];
  });
  const queries = r.queries.map((q) => {
    const pre = make('pre', '', make('code', '', q.text));
    pre.tabIndex = 0;
    pre.setAttribute('aria-label', q.for);
    return make('div', 'query', make('div', 'query-head', make('span', 'soft', q.about), copyButton(q.text)), pre);
  });
  const choice = make('div', 'choice', ...buttons, ...queries);
  choice.setAttribute('role', 'radiogroup');
  choice.setAttribute('aria-label', 'Language of the query');
  $('queries').replaceChildren(...ends, choice);
}

function odds() {
  const o = oidOdds($('processes').value.trim(), $('rate').value.trim(), $('over').value.trim(), $('layout').value);
  $('chance').replaceChildren(...(o.error ? [make('p', 'problem', o.error)] : [
    make('p', '', 'Two processes have the same process value: ', make('b', '', o.value)),
    make('p', '', 'An id is created twice: ', make('b', '', o.id)),
    make('p', 'soft', 'If a registry assigns the process blocks, both chances are 0, for up to 2^32 blocks.')]));
}

// The Go program calls oidReady once its functions are there.
globalThis.oidReady = () => {
  $('trouble').hidden = true;
  $('text').value ||= decodeURIComponent(location.hash.match(/^#id=(.*)/)?.[1] ?? '');
  for (const [work, ids] of [[inspect, ['text']], [range, ['from', 'to', 'column']], [odds, ['processes', 'rate', 'over', 'layout']]]) {
    for (const id of ids) $(id).addEventListener('input', work);
    work();
  }
};

async function load() {
  const reply = await fetch('oid.wasm.gz');
  if (!reply.ok) throw new Error('oid.wasm.gz: the server answers with status ' + reply.status);
  let bytes = await reply.arrayBuffer();
  if (new Uint8Array(bytes)[0] === 0x1f) { // the server has not unpacked it
    bytes = await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))).arrayBuffer();
  }
  const go = new Go();
  const { instance } = await WebAssembly.instantiate(bytes, go.importObject);
  go.run(instance);
}

load().catch((e) => { $('trouble').textContent = 'The program cannot be loaded: ' + e.message; $('trouble').className = 'problem'; });
