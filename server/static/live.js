// How views stay up to date. It follows page.js.
'use strict';

// stale says since when a live view shows what was, and why; without a reason it is up
// to date.
let upToDate = new Date();
function stale(why = '') {
  if (!why) upToDate = new Date();
  trouble(why && 'Not updated since ' + upToDate.toLocaleTimeString() + '. ' + why, 'live');
}

// Views with data-refresh are loaded again when something of what they show changes,
// unless the user has selected or focused something in them. A stream of events says
// when. Browsers open few connections to a server, so one tab has the stream and passes
// the events on to the others; a tab that nobody sees needs none.
const live = $('[data-refresh]');
const shared = live && new BroadcastChannel('oid events ' + $('.brand').getAttribute('href'));
let events, release, heard = 0, state = {}, outdated = false, refreshed = 0;

async function refresh() {
  if (!outdated || document.hidden || live.id === 'result' && ($('#result').contains(document.activeElement) || String(getSelection()))) return;
  outdated = false;
  refreshed = Date.now();
  try {
    if (live.id === 'result') take(await ask(location.href));
    else showNow(await ask($('.brand').getAttribute('href') + 'now'));
    stale();
  } catch (e) {
    outdated = true;
    stale(e.message);
  }
}

function showNow(html) {
  const fresh = $('#now', new DOMParser().parseFromString(html, 'text/html'));
  if (!fresh || $('#now').contains(document.activeElement)) return;
  $('#now').replaceWith(document.adoptNode(fresh));
  enliven($('#now'));
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
  const other = live.dataset.refresh.split(' ').some((name) => now[name] !== state[name]);
  state = now;
  if (other || outdated) changed();
}

function connect() {
  events?.close();
  events = new EventSource($('.brand').getAttribute('href') + 'events');
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

if (live) {
  heard = Date.now();
  shared.addEventListener('message', (e) => hear(e.data));
  document.addEventListener('visibilitychange', () => { if (document.hidden) release?.(); else { heard = 0; look(); } });
  addEventListener('pagehide', () => release?.());
  addEventListener('pageshow', look);
  setInterval(look, 5000);
}
