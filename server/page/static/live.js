// How views stay up to date. It follows page.js.
'use strict';

// Parts with data-refresh are loaded again when something of what they show changes,
// unless the user has selected or focused something in them. A stream of events says
// when. Browsers open few connections to a server, so one tab has the stream and passes
// the events on to the others; a tab that nobody sees needs none. The head of every page
// is such a part, and the view of some.
const live = all('[data-refresh]');
const view = $('main [data-refresh]');
const home = $('.brand').getAttribute('href');
const shared = live.length && new BroadcastChannel('oid events ' + home);
let events, release, heard = 0, state = {}, outdated = false, refreshed = 0;

// stale says since when the page shows what was, and why; without a reason it is up to
// date.
let upToDate = new Date();
function stale(why = '') {
  if (!why) upToDate = new Date();
  const since = upToDate.toLocaleTimeString(), head = $('#alive');
  if (head && why) head.dataset.since = since;
  else if (head) delete head.dataset.since;
  if (view) trouble(why && 'Not updated since ' + since + '. ' + why, 'live');
}

async function refresh() {
  const whole = view?.id === 'result';
  if (!outdated || document.hidden || whole && ($('#result').contains(document.activeElement) || String(getSelection()))) return;
  outdated = false;
  refreshed = Date.now();
  try {
    const html = await ask(whole ? location.href : home + 'now', {}, !!view);
    if (whole) take(html);
    for (const id of ['alive', 'now']) renew(id, html);
    stale();
  } catch (e) {
    outdated = true;
    stale(e.message);
  }
}

// renew replaces a part of this page by that of a page that was fetched.
function renew(id, html) {
  const old = $('#' + id), fresh = $('#' + id, new DOMParser().parseFromString(html, 'text/html'));
  if (!old || !fresh || old.contains(document.activeElement)) return;
  old.replaceWith(document.adoptNode(fresh));
  enliven(fresh);
}

// changed loads what is shown again, at most every two seconds.
let soon;
function changed() {
  outdated = true;
  clearTimeout(soon);
  soon = setTimeout(refresh, Math.max(0, refreshed + 2000 - Date.now()));
}

// hear takes an event: short texts that differ after each change.
function hear(now) {
  heard = Date.now();
  const other = live.some((part) => part.dataset.refresh.split(' ').some((name) => now[name] !== state[name]));
  state = now;
  if (other || outdated) changed();
}

function connect() {
  events?.close();
  events = new EventSource(home + 'events');
  events.addEventListener('state', (e) => {
    const now = JSON.parse(e.data);
    hear(now);
    shared.postMessage(now);
  });
  events.addEventListener('error', changed); // which shows why
}

// follow has the events come: from a stream of this tab, if no other has one.
function follow() {
  if (release) return;
  let over = () => {};
  const waiting = new AbortController();
  release = () => {
    release = undefined;
    waiting.abort();
    over();
    events?.close();
    events = undefined;
  };
  if (!navigator.locks) { connect(); return; } // the origin is not secure
  navigator.locks.request(shared.name, { signal: waiting.signal }, () => {
    connect();
    return new Promise((resolve) => { over = resolve; });
  }).catch(() => {}); // it was aborted
}

const quiet = 15000; // milliseconds without an event, after which the stream is dead, as after a sleep
function look() {
  if (document.hidden) return;
  follow();
  if (Date.now() - heard < quiet && events?.readyState !== EventSource.CLOSED) return;
  heard = Date.now();
  if (events) connect();
  changed();
}

if (live.length) {
  heard = Date.now();
  shared.addEventListener('message', (e) => hear(e.data));
  document.addEventListener('visibilitychange', () => { if (document.hidden) release?.(); else { heard = 0; look(); } });
  addEventListener('pagehide', () => release?.());
  addEventListener('pageshow', look);
  setInterval(look, 5000);
}
