// How views stay up to date. It follows page.js.
'use strict';

// Parts with data-refresh are asked for again every two seconds as long as somebody sees
// them, and shown when the processes or locks have changed, unless the user has selected or
// focused something in them. The head of every page is such a part, and the view of some.
const home = $('.brand').getAttribute('href');
const view = $('main [data-refresh]');
let state = $('#alive')?.dataset.state;

// stale says since when the page shows what was, and why; without a reason it is up to
// date.
let upToDate = new Date();
function stale(why = '') {
  if (!why) upToDate = new Date();
  const since = upToDate.toLocaleTimeString(), head = $('#alive');
  if (why) head.dataset.since = since;
  else delete head.dataset.since;
  if (view) trouble(why && 'Not updated since ' + since + '. ' + why, 'live');
}

async function refresh() {
  const whole = view?.id === 'result';
  const inUse = () => all('[data-refresh]').some((part) => part.contains(document.activeElement)) || whole && String(getSelection());
  try {
    const now = await ask(home + 'now', {}, !!view);
    const fresh = $('#alive', now).dataset.state;
    if (fresh !== state && !inUse()) {
      const page = whole && await ask(location.href);
      if (inUse()) return;
      if (whole) take(page);
      for (const part of ['#alive', '#now']) if ($(part)) swap(part, now);
      state = fresh;
    }
    stale();
  } catch (e) {
    stale(e.message);
  }
}

if (state) setInterval(() => { if (!document.hidden) refresh(); }, 2000);
