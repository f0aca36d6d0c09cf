// Runs on the page of an opened secret: hides it again after a while, saves it, and shows the progress of
// downloads.

import { sayNumber } from './language.js'

const SHOWN_MS = 60_000
/** Larger files are left to the browser, which streams them to disk. */
const MAX_IN_MEMORY = 512 * 1024 * 1024

for (const details of document.querySelectorAll('details[data-hides]')) {
  const told = details.parentElement.querySelector('[data-hiding]')
  let timer
  const hide = () => {
    details.open = false
    told.textContent = details.dataset.hidden
  }
  details.addEventListener('toggle', () => {
    clearTimeout(timer)
    if (!details.open) return
    told.textContent = ''
    timer = setTimeout(hide, SHOWN_MS)
  })
  // Hide the secret, because the browser may restore this page later, perhaps for another person.
  window.addEventListener('pagehide', () => {
    details.open = false
  })
}

// Counts down the time until a passphrase can be tried again.
for (const wait of document.querySelectorAll('[data-waits]')) {
  const forms = JSON.parse(wait.dataset.forms)
  const until = performance.now() + Number(wait.dataset.waits) * 1000
  const timer = setInterval(() => {
    const n = Math.ceil((until - performance.now()) / 1000)
    wait.textContent = n > 0 ? sayNumber(forms, n) : ''
    if (n <= 0) clearInterval(timer)
  }, 1000)
}

// Makes the file in the browser, exactly as the text was sent, without another request.
for (const form of document.querySelectorAll('form[data-saves]')) {
  const shown = document.getElementById(form.dataset.saves)
  form.hidden = false
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    const { exact } = shown.dataset
    const text = exact === undefined ? shown.textContent : decodeURIComponent(exact)
    save(new Blob([text], { type: 'text/plain;charset=utf-8' }), form.dataset.name)
  })
}

for (const link of document.querySelectorAll('a[data-downloads]')) {
  const size = Number(link.dataset.downloads)
  if (size > MAX_IN_MEMORY || size === 0) continue
  link.addEventListener('click', (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return
    event.preventDefault()
    if (link.dataset.running === undefined) void download(link, size)
  })
}

async function download(link, size) {
  link.dataset.running = ''
  const row = link.parentElement
  row.querySelector('.download')?.remove()
  const box = document.createElement('div')
  box.className = 'download'
  const bar = document.createElement('progress')
  bar.max = size
  bar.setAttribute('aria-label', link.textContent)
  const told = document.createElement('output')
  const cancel = document.createElement('button')
  cancel.type = 'button'
  cancel.className = 'quiet'
  cancel.textContent = link.dataset.cancel
  box.append(bar, told, cancel)
  row.append(box)
  const stop = new AbortController()
  cancel.addEventListener('click', () => stop.abort())
  try {
    const blob = await fetchWhole(link.href, { signal: stop.signal, size, tell })
    save(blob, link.download)
    told.textContent = link.dataset.done
    told.className = 'done'
    bar.remove()
  } catch {
    if (stop.signal.aborted) box.remove()
    else told.textContent = link.dataset.broken
  } finally {
    cancel.remove()
    delete link.dataset.running
  }

  function tell(received) {
    bar.value = received
    const percent = Math.floor((received / size) * 100)
    told.textContent = link.dataset.rate.replace('{percent}', percent)
  }
}

async function fetchWhole(address, { signal, size, tell }) {
  const response = await fetch(address, { signal, cache: 'no-store' })
  if (!response.ok) throw new Error(String(response.status))
  const chunks = []
  let received = 0
  for (
    let reader = response.body.getReader(), next = await reader.read();
    !next.done;
    next = await reader.read()
  ) {
    chunks.push(next.value)
    received += next.value.length
    tell(received)
  }
  if (received !== size) throw new Error('cut off')
  return new Blob(chunks)
}

function save(blob, filename) {
  const address = URL.createObjectURL(blob)
  const link = document.createElement('a')
  link.href = address
  link.download = filename
  link.click()
  setTimeout(() => URL.revokeObjectURL(address), 60_000)
}
