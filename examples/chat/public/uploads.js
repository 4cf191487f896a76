import { $, make, toast } from './elements.js';
import { bytes } from './messages.js';

/** Sends files to a room, each with a bar and a way to stop it. */
export function upload(room, files, { session, maxBytes }) {
  for (const file of files) {
    if (file.size > maxBytes) {
      toast(`${file.name} is too large: ${bytes(file.size)}, and ${bytes(maxBytes)} is the most.`);
    } else if (file.size === 0) {
      toast(`${file.name} is empty.`);
    } else {
      send(room, file, session);
    }
  }
}

function send(room, file, session) {
  const request = new XMLHttpRequest();
  const bar = make('progress', {
    max: file.size,
    value: 0,
    'aria-label': `Uploading ${file.name}`,
  });
  const row = make(
    'div',
    { class: 'upload' },
    make('span', { class: 'file-name', dir: 'auto' }, file.name),
    bar,
    make(
      'button',
      {
        class: 'icon',
        'aria-label': `Stop uploading ${file.name}`,
        onclick: () => request.abort(),
      },
      '×',
    ),
  );
  $('uploads').append(row);
  request.upload.onprogress = ({ loaded }) => {
    bar.value = loaded;
  };
  request.onload = () => {
    if (request.status !== 201) toast(`${file.name} was not shared. ${problemOf(request)}`);
  };
  request.onerror = () => toast(`${file.name} was not shared: the server could not be reached.`);
  request.onloadend = () => row.remove();
  request.open(
    'POST',
    `/api/rooms/${encodeURIComponent(room)}/files?name=${encodeURIComponent(file.name)}`,
  );
  request.setRequestHeader('authorization', `Bearer ${session}`);
  request.send(file);
}

function problemOf(request) {
  try {
    return JSON.parse(request.responseText).error.message;
  } catch {
    return `The server answered ${request.status}.`;
  }
}

/** Files by button, drag and drop, and paste; `onFiles` gets them. */
export function acceptFiles(onFiles) {
  const input = $('files');
  $('attach').onclick = () => input.click();
  input.onchange = () => {
    onFiles(input.files);
    input.value = '';
  };

  const main = $('main');
  const drop = $('drop');
  // dragenter and dragleave also come for every child: count how deep we are.
  let depth = 0;
  const isFiles = (event) => event.dataTransfer?.types.includes('Files');
  main.addEventListener('dragenter', (event) => {
    if (!isFiles(event)) return;
    depth += 1;
    drop.hidden = false;
  });
  main.addEventListener('dragleave', (event) => {
    if (!isFiles(event)) return;
    depth -= 1;
    drop.hidden = depth <= 0;
  });
  main.addEventListener('dragover', (event) => {
    if (isFiles(event)) event.preventDefault();
  });
  main.addEventListener('drop', (event) => {
    if (!isFiles(event)) return;
    event.preventDefault();
    depth = 0;
    drop.hidden = true;
    onFiles(event.dataTransfer.files);
  });
  $('text').addEventListener('paste', (event) => {
    if (event.clipboardData.files.length === 0) return;
    event.preventDefault();
    onFiles(event.clipboardData.files);
  });
}
