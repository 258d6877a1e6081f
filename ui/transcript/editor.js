// The editor in the browser: shows the rows the server sends, and sends back what the user does to them.
// Only rows that changed are put in anew, so the cursor stays where it is. One step is under way at a time.
const shown = new Map();
const waiting = [];
let busy = 0;
let playUntil = null;
let version = null;

const part = (name) => element.querySelector(`[data-part="${name}"]`);
const player = () => element.querySelector('[data-part="player"] video, [data-part="player"] audio');
const rows = () => [...element.querySelectorAll('.cue')];
const rowOf = (node) => node && node.closest ? node.closest('.cue') : null;
const textOf = (row) => row.querySelector('.cue-text');
const value = () => props.value || {};

function put(name, html) {
  if (shown.get(name) === html) return;
  shown.set(name, html);
  part(name).innerHTML = html || '';
}

function made(html) {
  const box = document.createElement('div');
  box.innerHTML = html;
  return box.firstElementChild;
}

function cursorIn(node) {
  const chosen = window.getSelection();
  if (!chosen.rangeCount || !node.contains(chosen.anchorNode)) return null;
  const range = chosen.getRangeAt(0).cloneRange();
  range.setStart(node, 0);
  return range.toString().length;
}

function setCursor(node, at) {
  const walker = document.createTreeWalker(node, NodeFilter.SHOW_TEXT);
  let piece = walker.nextNode();
  while (piece && at > piece.length) { at -= piece.length; piece = walker.nextNode(); }
  const range = document.createRange();
  if (piece) range.setStart(piece, at); else range.selectNodeContents(node);
  range.collapse(true);
  window.getSelection().removeAllRanges();
  window.getSelection().addRange(range);
}

function where(row) {
  const active = document.activeElement;
  if (!active || !row.contains(active)) return null;
  return {field: active.dataset.field || active.dataset.act, at: active.isContentEditable ? cursorIn(active) : null};
}

function goBack(row, place) {
  if (!place || !place.field) return;
  const node = row.querySelector(`[data-field="${place.field}"], [data-act="${place.field}"]`);
  if (!node) return;
  node.focus({preventScroll: true});
  if (place.at !== null) setCursor(node, place.at);
}

function showRows(wanted) {
  const list = part('rows');
  const old = new Map([...list.children].map((row) => [row.dataset.key, row]));
  let next = list.firstElementChild;
  for (const [key, html] of wanted) {
    let row = old.get(String(key));
    old.delete(String(key));
    if (row && row.source !== html) {
      const fresh = made(html), place = where(row);
      if (next === row) next = fresh;
      row.replaceWith(fresh);
      row = fresh;
      goBack(row, place);
    } else if (!row) {
      row = made(html);
    }
    row.source = html;
    if (row === next) next = next.nextElementSibling;
    else list.insertBefore(row, next);
  }
  for (const row of old.values()) row.remove();
  if (!CSS.supports('-webkit-user-modify', 'read-write-plaintext-only')) {
    for (const node of list.querySelectorAll('[contenteditable="plaintext-only"]')) node.contentEditable = 'true';
  }
}

function show() {
  const now = value();
  element.hidden = !now.job;
  for (const name of ['title', 'player', 'wave', 'speakers', 'tools', 'said', 'foot']) put(name, now[name]);
  showRows(now.rows || []);
  busy = 0;
  if (version !== null && now.version !== version && typeof now.focus === 'number') focusRow(now.focus);
  version = now.version;
  if (waiting.length) send(waiting.shift());
}

function send(step) {
  if (busy && Date.now() - busy < 10000) { waiting.push(step); return; }
  busy = Date.now();
  trigger('edit', {...step, job: value().job});
}

function focusRow(key, field = 'text') {
  const row = element.querySelector(`.cue[data-key="${key}"]`);
  const node = row && row.querySelector(`[data-field="${field}"]`);
  if (node) { node.focus(); row.scrollIntoView({block: 'nearest'}); }
}

function written(node) { return node.isContentEditable ? node.innerText.replace(/\n$/, '') : node.value; }

function commit(node) {
  if (!node || !node.dataset || !node.dataset.field || !node.isConnected) return;
  const row = rowOf(node), now = written(node);
  if (!row || now === node.dataset.was) return;
  node.dataset.was = now;
  row.source = null;  // put in anew even if the step is refused and the row stays as it was
  send({do: node.dataset.field, key: Number(row.dataset.key), value: now});
}

function seek(time, until = null, play = false) {
  const media = player();
  if (!media) return;
  media.currentTime = time;
  playUntil = until;
  if (play) media.play(); else place(time);
}

function seekRow(row, play = false) {
  if (row) seek(Number(row.dataset.start), play ? Number(row.dataset.end) : null, play);
}

function place(time) {
  const box = part('wave').querySelector('.wave');
  const mark = box && box.querySelector('.wave-now');
  if (mark) mark.style.left = `${100 * Math.min(1, Math.max(0, (time - box.dataset.start) / box.dataset.length))}%`;
  let now = null;
  for (const row of rows()) {
    const inside = time >= Number(row.dataset.start) - 0.01 && time < Number(row.dataset.end);
    row.classList.toggle('now', inside);
    if (inside) now = row;
  }
  const list = part('rows');
  if (now && !list.contains(document.activeElement)) {
    const top = now.offsetTop - list.offsetTop;
    if (top < list.scrollTop || top + now.offsetHeight > list.scrollTop + list.clientHeight) list.scrollTop = top - 40;
  }
}

function act(name, row, node) {
  const key = row ? Number(row.dataset.key) : null;
  if (name === 'play') {
    const media = player();
    if (media && !media.paused && row.classList.contains('now')) media.pause(); else seekRow(row, true);
  } else if (name === 'split') {
    const at = cursorIn(textOf(row));
    commit(textOf(row));
    send({do: 'split', key, at: at === null ? -1 : at});
  } else if (name === 'from-player' || name === 'to-player') {
    if (player()) send({do: name === 'from-player' ? 'start' : 'end', key, value: String(player().currentTime.toFixed(3))});
  } else if (name === 'find-next') {
    findNext();
  } else if (name === 'replace-all') {
    send({do: 'replace', find: field('find'), by: field('by'), match_case: checked('match-case')});
  } else if (name === 'shift') {
    send({do: 'shift', seconds: field('shift'), first: checked('shift-rest') ? chosenKey() : null});
  } else {
    if (row) commit(document.activeElement);
    send({do: name, key});
  }
}

const field = (name) => (element.querySelector(`[data-tool="${name}"]`) || {}).value || '';
const checked = (name) => Boolean((element.querySelector(`[data-tool="${name}"]`) || {}).checked);

function chosenKey() {
  const row = element.querySelector('.cue.chosen');
  return row ? Number(row.dataset.key) : null;
}

function findNext() {
  const fold = (words) => checked('match-case') ? words : words.toLowerCase();
  const wanted = fold(field('find')).trim();
  if (!wanted) return;
  const all = rows(), from = all.findIndex((row) => row.classList.contains('chosen')) + 1;
  const hit = [...all.slice(from), ...all.slice(0, from)].find((row) => fold(textOf(row).textContent).replace(/\s+/g, ' ').includes(wanted));
  if (hit) { choose(hit); hit.scrollIntoView({block: 'center'}); seekRow(hit); }
}

function choose(row) {
  for (const other of element.querySelectorAll('.cue.chosen')) other.classList.remove('chosen');
  row.classList.add('chosen');
}

element.addEventListener('click', (event) => {
  const wave = event.target.closest('.wave');
  if (wave) {
    const box = wave.getBoundingClientRect();
    seek(Number(wave.dataset.start) + wave.dataset.length * (event.clientX - box.left) / box.width);
    return;
  }
  const row = rowOf(event.target), button = event.target.closest('[data-act]');
  if (row) choose(row);
  if (button) act(button.dataset.act, row, button);
  else if (row) seekRow(row);
});
// A button would take the cursor out of the text that it is to split.
element.addEventListener('mousedown', (event) => { if (event.target.closest('.cue [data-act]')) event.preventDefault(); });
element.addEventListener('focusin', (event) => {
  const row = rowOf(event.target);
  if (row) choose(row);
  if (event.target.dataset && event.target.dataset.field) event.target.dataset.was = written(event.target);
});
element.addEventListener('focusout', (event) => commit(event.target));
element.addEventListener('change', (event) => {
  if (event.target.dataset.speaker !== undefined) {
    send({do: 'rename', name: event.target.dataset.speaker, value: event.target.value});
  } else if (event.target.dataset.tool === 'wording') {
    send({do: 'wording', value: event.target.value});
  }
});

const KEYS = {Enter: 'split', NumpadEnter: 'split', KeyM: 'merge', KeyN: 'insert', Backspace: 'delete', KeyP: 'play',
  BracketLeft: 'from-player', BracketRight: 'to-player'};
element.addEventListener('keydown', (event) => {
  const row = rowOf(event.target);
  if ((event.ctrlKey || event.metaKey) && event.code === 'KeyZ' && !pending(event.target)) {
    event.preventDefault();
    act(event.shiftKey ? 'redo' : 'undo', null);
  } else if ((event.ctrlKey || event.metaKey) && event.code === 'KeyY' && !pending(event.target)) {
    event.preventDefault();
    act('redo', null);
  } else if (!row) {
    if (event.code === 'Enter' && event.target.dataset.tool === 'find') { event.preventDefault(); findNext(); }
  } else if (event.altKey && KEYS[event.code]) {
    event.preventDefault();
    act(KEYS[event.code], row);
  } else if (event.altKey && (event.code === 'ArrowDown' || event.code === 'ArrowUp')) {
    event.preventDefault();
    step(row, event.code === 'ArrowDown' ? 1 : -1, event.target.dataset.field);
  } else if (event.code === 'Enter' && !event.shiftKey && event.target.dataset.field) {
    event.preventDefault();
    commit(event.target);
    step(row, 1, event.target.dataset.field);
  } else if (event.code === 'Escape' && event.target.dataset.field) {
    if (event.target.isContentEditable) event.target.innerText = event.target.dataset.was; else event.target.value = event.target.dataset.was;
  }
});

function pending(node) { return Boolean(node.dataset && node.dataset.field && written(node) !== node.dataset.was) || node.dataset?.tool !== undefined; }

function step(row, by, name) {
  const next = by > 0 ? row.nextElementSibling : row.previousElementSibling;
  if (!next) return;
  focusRow(next.dataset.key, name || 'text');
  seekRow(next);
}

element.addEventListener('timeupdate', (event) => {
  if (playUntil !== null && event.target.currentTime >= playUntil) { event.target.pause(); playUntil = null; }
  place(event.target.currentTime);
}, true);

watch('value', show);
show();
