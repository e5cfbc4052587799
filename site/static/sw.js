// The service worker keeps the files of one version of the page, so that it works without a
// network. The build writes the table FILES: the hashes that each file may have.
'use strict';

const files = FILES;
const scope = registration.scope, prefix = 'oid ' + scope + ' ', name = prefix + 'VERSION';

// load takes a file of this version only: another one has another hash. What the browser's
// own cache has may be older.
async function load(file) {
  const request = (cache) => fetch(new Request(scope + file, { integrity: files[file], cache }));
  const reply = await request('default').catch(() => request('reload'));
  if (!reply.ok) throw new Error(file + ': the server answers with status ' + reply.status);
  await caches.open(name).then((cache) => cache.put(scope + file, reply.clone())).catch(() => {}); // without room the page only needs the network
  return reply;
}

addEventListener('install', (e) => e.waitUntil(Promise.all(Object.keys(files).filter((file) => file !== 'census.wasm.gz').map(load))));
addEventListener('message', () => skipWaiting());
addEventListener('activate', (e) => e.waitUntil(caches.keys().then((all) => Promise.all(
  all.filter((other) => other.startsWith(prefix) && other !== name).map((other) => caches.delete(other))))));

addEventListener('fetch', (e) => {
  const file = e.request.url.replace(scope, '').replace(/[?#].*/, '').replace(/(^|\/)index\.html$/, '$1');
  if (e.request.method !== 'GET' || !Object.hasOwn(files, file)) return;
  e.respondWith((async () => {
    // A new version has to wait until no tab shows the old one: its files differ.
    if (e.request.mode === 'navigate' && registration.waiting && (await clients.matchAll()).length < 2) {
      registration.waiting.postMessage('');
      return new Response('<script>location.reload()</script>', { headers: { 'Content-Type': 'text/html' } });
    }
    return await (await caches.open(name)).match(scope + file) ?? load(file);
  })());
});
