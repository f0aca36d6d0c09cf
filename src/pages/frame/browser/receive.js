// Runs on the pages of a secret link: hides the secret again after a while, saves it, shows the progress of
// downloads, and loads what opens a secret that is encrypted end to end.

import { sayNumber } from './language.js'
import { piecesOf, save } from './saving.js'

const SHOWN_MS = 60_000
/** Larger files are left to the browser, which streams them to disk. */
const MAX_IN_MEMORY = 512 * 1024 * 1024

enliven(document)
document.addEventListener('replaced', ({ target }) => enliven(target))

/** Activates a part of the page. */
function enliven(part) {
  for (const details of part.querySelectorAll('details[data-hides]')) hideLater(details)
  for (const wait of part.querySelectorAll('[data-waits]')) countDown(wait)
  for (const form of part.querySelectorAll('form[data-saves]')) saveHere(form)
  for (const link of part.querySelectorAll('a[data-downloads]')) showProgress(link)
  for (const place of part.querySelectorAll('[data-unseals]')) void unseal(place)
  for (const refusal of part.querySelectorAll('[data-refuses-key]')) refuseKey(refusal)
}

/** What opens secrets is large, so only their pages load it. */
async function unseal(place) {
  try {
    const { start } = await import(place.dataset.unseals)
    await start(place)
  } catch {
    const told = document.querySelector('[data-loading]')
    if (told !== null) told.textContent = told.dataset.broken
  }
}

/** A link with a key is of an encrypted secret: if the server says otherwise, do not open it. */
function refuseKey(refusal) {
  if (location.hash.length < 2 || document.querySelector(':target') !== null) return
  refusal.role = 'alert'
  refusal.hidden = false
  refusal.parentElement.querySelector('form button[type=submit]').disabled = true
}

function hideLater(details) {
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

/** Counts down the time until a passphrase can be tried again. */
function countDown(wait) {
  const forms = JSON.parse(wait.dataset.forms)
  const until = performance.now() + Number(wait.dataset.waits) * 1000
  const timer = setInterval(() => {
    const n = Math.ceil((until - performance.now()) / 1000)
    wait.textContent = n > 0 ? sayNumber(forms, n) : ''
    if (n <= 0) clearInterval(timer)
  }, 1000)
}

/** Makes the file in the browser, exactly as the text was sent, without another request. */
function saveHere(form) {
  const shown = document.getElementById(form.dataset.saves)
  form.hidden = false
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    const { exact } = shown.dataset
    const text = exact === undefined ? shown.textContent : decodeURIComponent(exact)
    save(new Blob([text], { type: 'text/plain;charset=utf-8' }), form.dataset.name)
  })
}

function showProgress(link) {
  const size = Number(link.dataset.downloads)
  if (size > MAX_IN_MEMORY || size === 0) return
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
  const count = (bytes) => {
    received = bytes
    tell(bytes)
  }
  for await (const chunk of piecesOf(response.body, count)) chunks.push(chunk)
  if (received !== size) throw new Error('cut off')
  return new Blob(chunks)
}
