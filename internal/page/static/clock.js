// Times in the zone of the user, and how long ago they were. It comes before page.js.
'use strict';

const $ = (selector, root = document) => root.querySelector(selector);
const all = (selector, root = document) => [...root.querySelectorAll(selector)];

// A browser that may keep nothing for this page throws an error when it is asked to.
for (const name of ['localStorage', 'sessionStorage']) {
  try { void globalThis[name]; } catch { Object.defineProperty(globalThis, name, { value: { getItem: () => null, setItem() {}, removeItem() {} } }); }
}

// word returns a text in the language of the page, which the root element has the words of.
const { lang, dataset: { words = '' } } = document.documentElement;
const translated = new Map(words.split('\n').map((row) => row.split('=')));
const word = (english) => translated.get(english) ?? english;

// ago returns how long before now a moment is, in its largest unit, by the rule of
// the Go package phrase. Both are in milliseconds.
const day = 86400, year = 31556952;
const units = [['year', 360 * day], ['month', 30 * day], ['week', 7 * day], ['day', day], ['hour', 3600], ['minute', 60], ['second', 1]];
function ago(then, now = Date.now()) {
  const seconds = Math.floor(Math.abs(now - then) / 1000);
  for (const [unit, length] of units) {
    if (seconds < length) continue;
    const n = unit === 'year' ? Math.max(1, Math.floor(seconds / year)) : Math.floor(seconds / length);
    if (lang !== 'en') return new Intl.RelativeTimeFormat(lang).format(then > now ? n : -n, unit);
    return n + ' ' + unit + (n === 1 ? '' : 's') + (then > now ? ' from now' : ' ago');
  }
  return word('now');
}

// The zone in which times are shown, and in which those that are typed are meant.
const here = Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC';
let zone = localStorage.getItem('zone') || here, clock, offset;
function setZone(name) {
  try {
    // The Swedes write times as ISO 8601 does.
    clock = new Intl.DateTimeFormat('sv-SE', { timeZone: name, dateStyle: 'short', timeStyle: 'medium' });
    offset = new Intl.DateTimeFormat('en', { timeZone: name, timeZoneName: 'longOffset' });
    zone = name;
  } catch { // it was written by another browser
    if (name !== 'UTC') setZone('UTC');
  }
}
setZone(zone);

// inZone writes a time in the zone: with the name of the zone, or with the offset.
function inZone(t, named) {
  if (zone === 'UTC') return clock.format(t) + ' UTC';
  const o = offset.formatToParts(t).find((p) => p.type === 'timeZoneName').value.replace('GMT', '') || '+00:00';
  return clock.format(t) + (named ? ' ' + zone : o);
}

function showTimes(root = document) {
  for (const e of all('[data-ago]', root)) e.textContent = ago(Date.parse(e.dataset.ago));
  for (const e of all('time[data-moment]', root)) {
    const t = new Date(e.dateTime);
    if (!e.dataset.ago) e.textContent = inZone(t, !!e.closest('.says'));
    e.title = inZone(t, true) + ', ' + ago(t.getTime());
  }
  for (const e of all('[data-utc]', root)) e.hidden = zone === 'UTC';
}
