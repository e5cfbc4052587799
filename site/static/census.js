// The census of the static page. The files that the user gives go to a Worker (worker.js), which
// sends nothing to anybody.
'use strict';

// filesIn returns the files that were dropped as {path, file}, with those in folders. A folder is
// {path} with a slash at its end.
async function filesIn(transfer) {
  const out = [], entries = [...transfer.items].map((item) => item.webkitGetAsEntry()).filter(Boolean);
  const promised = (object, method) => new Promise((resolve, reject) => object[method](resolve, reject));
  const walk = async (entry) => {
    const path = entry.fullPath.slice(1);
    out.push(entry.isFile ? { path, file: await promised(entry, 'file') } : { path: path + '/' });
    if (entry.isFile) return;
    const reader = entry.createReader();
    for (let some; (some = await promised(reader, 'readEntries')).length;) for (const one of some) await walk(one);
  };
  for (const entry of entries) await walk(entry);
  return out;
}

// sweep removes the temporary files of Workers that have ended. Each file has a Web Lock of its
// name (opfs.js); while another tab uses the file, its lock is taken. Other pages of the same origin
// may keep files there, with other names.
async function sweep() {
  try {
    const folder = await navigator.storage.getDirectory();
    const remove = (name, tries) => folder.removeEntry(name).catch(async () => { // a Worker that ended a moment ago may still have it open
      await new Promise((resolve) => setTimeout(resolve, 100));
      if (tries) await remove(name, tries - 1);
    });
    for await (const name of folder.keys()) if (/^oid-(census|zip)-\d+$/.test(name)) navigator.locks.request(name, () => remove(name, 50));
  } catch { /* this browser gives the page no files */ }
}
sweep();

const base = new URL('.', document.currentScript.src).href; // the folder of the scripts

// oidCensus returns a function that takes the census of what was dropped or, without an argument,
// of the files in the form.
globalThis.oidCensus = (form) => {
  const inputs = all('input[type=file]', form), box = $('.progress', form), bar = $('progress', box), words = $('span', box);
  const main = $('main'), before = [...main.childNodes];
  let worker, read, files = [];
  const end = (text) => {
    worker?.terminate();
    worker = null;
    sweep();
    box.hidden = true;
    trouble(text);
  };
  const command = () => { // takes the same census in a shell
    const given = [...new Set(files.map(({ path }) => path.split('/')[0].replace(/^-/, './-')))], field = form.elements.field.value;
    const args = [...form.elements.format.checked ? ['--grep'] : field === '_id' ? [] : ['--field', field], ...given.length < 9 ? given : ['FILES']];
    return 'oid census ' + args.map((text) => /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`).join(' ');
  };
  const died = (why) => end(`${word('The census stopped')}${read ? ' (' + read + ')' : ''}: ${why.replace(/\.*$/, '.')} ${word('Try again, or type in a shell:')} ${command()}`);
  const show = (answer) => {
    end();
    main.innerHTML = answer.html;
    for (const link of all('a[download]', main)) link.href = URL.createObjectURL(new Blob([answer[link.dataset.part]], { type: link.type }));
    const again = (e, change) => { e.preventDefault(); main.replaceChildren(...before); change?.(); begin(); };
    $('.back a', main).addEventListener('click', again);
    for (const button of all('[data-again]', main)) button.addEventListener('click', (e) => again(e, () => {
      form.elements.field.value = button.dataset.again;
      form.elements.format.checked = 'text' in button.dataset;
      run();
    }));
    enliven(main);
    begin();
  };
  const run = () => {
    end();
    if (!files.length) return trouble(word('Choose a file or a folder first.'));
    box.hidden = false;
    box.scrollIntoView({ block: 'nearest' });
    read = '';
    words.textContent = word('starting');
    // A Worker from a blob has the Content-Security-Policy of this page, one from a file has none.
    const blob = URL.createObjectURL(new Blob([`importScripts(${JSON.stringify(base + 'worker.js')})`], { type: 'text/javascript' }));
    worker = new Worker(blob);
    worker.onerror = (e) => died(e.message);
    worker.onmessage = ({ data }) => {
      if (!form.isConnected) return end(); // the user went to another view
      if (data.problem) return end(data.problem.replace('oid census FILE', command));
      if ('died' in data) return died(data.died);
      if (data.html) return show(data);
      const part = Math.min(data.bytes / data.total, 1); // a server that compresses the program may not say how long it is
      if (isNaN(part)) return;
      bar.value = part;
      const size = data.total < 1e9 ? (data.total / 1e6).toFixed(1) + ' MB' : (data.total / 1e9).toFixed(1) + ' GB';
      read = `${data.name}: ${Math.floor(100 * part)} % ${word('of')} ${size}`;
      words.textContent = read;
    };
    const values = Object.fromEntries(new FormData(form));
    // Half of the memory of the device, but at most 1.2 GB: the memory of WebAssembly never shrinks.
    // The browser takes about 0.2 GB more for what it reads, so the page stays below 2 GB. A browser
    // that does not say how many GiB the device has may be on a phone with 2.
    const memory = Math.min(1.2e9, (navigator.deviceMemory ?? 2) * 2 ** 29);
    worker.postMessage({ ...values, file: null, base, files, lang: document.documentElement.lang, memory });
  };
  $('button', box).addEventListener('click', () => { end(); inputs[0].focus(); });
  return async (transfer) => {
    const chosen = inputs.flatMap((input) => [...input.files]).map((file) => ({ path: file.webkitRelativePath || file.name, file }));
    try {
      if (transfer) for (const input of inputs) input.value = '';
      files = transfer ? await filesIn(transfer) : chosen.length ? chosen : files;
      run();
    } catch (e) {
      end(e.message);
    }
  };
};
