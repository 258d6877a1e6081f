// The microphone: its sound goes to the server in pieces of a third of a second, one at a time; the text comes back.
let session = null, context = null, stream = null, pieces = [], rate = 16000, sending = false, pulse = null;
const part = (name) => element.querySelector(`[data-part="${name}"]`);
const say = (name) => (props.value && props.value.texts || {})[name] || '';

const TAP = `registerProcessor('tap', class extends AudioWorkletProcessor {
  process(inputs) { if (inputs[0][0]) this.port.postMessage(inputs[0][0].slice()); return true; }
});`;

function labels() {
  part('start').textContent = session ? say('stop') : say('start');
  part('start').classList.toggle('on', Boolean(session));
  part('keep').textContent = say('keep');
}

function line(words, kind) {
  const row = document.createElement('p');
  row.textContent = words;
  if (kind) row.className = kind;
  return row;
}

function show(heard) {
  const box = part('text'), low = box.scrollTop + box.clientHeight >= box.scrollHeight - 30;
  box.replaceChildren(...(heard.finals || []).map((one) => line(one.text)));
  if (heard.partial) box.append(line(heard.partial, 'partial'));
  if (low) box.scrollTop = box.scrollHeight;
  part('state').textContent = heard.error || (heard.ended ? say('over') : heard.ready ? say('listening') : say('loading'));
}

function packed() {
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0), sound = new Int16Array(length);
  let at = 0;
  for (const piece of pieces) for (const value of piece) sound[at++] = Math.max(-1, Math.min(1, value)) * 32767;
  pieces = [];
  let text = '';
  const bytes = new Uint8Array(sound.buffer);
  for (let first = 0; first < bytes.length; first += 8192) text += String.fromCharCode(...bytes.subarray(first, first + 8192));
  return btoa(text);
}

async function push() {
  if (sending || !session) return;
  sending = true;
  try { show(await server.hear({session, rate, sound: packed()})); } catch (error) { part('state').textContent = say('lost'); }
  sending = false;
}

async function start() {
  try {
    stream = await navigator.mediaDevices.getUserMedia({audio: {channelCount: 1}});
  } catch (error) {
    part('state').textContent = say('refused');
    return;
  }
  part('text').replaceChildren();
  part('keep').hidden = true;
  part('state').textContent = say('loading');
  context = new AudioContext();
  rate = context.sampleRate;
  await context.audioWorklet.addModule(URL.createObjectURL(new Blob([TAP], {type: 'text/javascript'})));
  const tap = new AudioWorkletNode(context, 'tap');
  tap.port.onmessage = (event) => pieces.push(event.data);
  context.createMediaStreamSource(stream).connect(tap);
  const begun = await server.begin({engine: props.value.engine, language: props.value.language});
  if (begun.error) { part('state').textContent = begun.error; close(); return; }
  session = begun.session;
  pulse = setInterval(push, 330);
  labels();
}

function close() {
  clearInterval(pulse);
  if (stream) stream.getTracks().forEach((track) => track.stop());
  if (context) context.close();
  stream = context = pulse = null;
}

async function stop() {
  const over = session;
  close();
  while (sending) await new Promise((done) => setTimeout(done, 30));
  await push();
  session = null;
  labels();
  let heard = await server.finish({session: over});
  while (!heard.ended && !heard.error) {
    show(heard);
    part('state').textContent = say('rest');
    await new Promise((done) => setTimeout(done, 300));
    heard = await server.finish({session: over});
  }
  show(heard);
  part('keep').hidden = false;
  part('keep').dataset.session = over;
}

element.addEventListener('click', (event) => {
  if (event.target === part('start')) (session ? stop : start)();
  if (event.target === part('keep')) trigger('submit', {session: part('keep').dataset.session});
});
watch('value', labels);
labels();
