// Searches while typing, and polls the list while the page is visible and idle.

const TYPING_MS = 250
/** Marks polling, because it must not extend the session. */
const LOOK = { 'oncebox-look': '1' }
const PARTS = ['.tabs', '#found', '.top .count', 'body > svg']

const field = document.getElementById('q')
const begun = Date.now()
let typing = 0
let wanted = null
let isAsking = false

const isUsed = () =>
  typing !== 0 ||
  !getSelection().isCollapsed ||
  document.querySelector('.list :checked, #found details[open], #found :active, header details[open]') !==
    null

/**
 * Sends one request at a time and drops all waiting ones but the last, so a long list is not searched faster
 * than the server can.
 */
async function ask(question) {
  wanted = question
  if (isAsking) return
  isAsking = true
  while (wanted !== null) {
    const asked = wanted
    wanted = null
    // The server may be unreachable for a moment.
    const page = await fetchPage(asked).catch(() => null)
    if (page !== null && wanted === null && !(asked.isLook && isUsed())) show(page, asked)
  }
  isAsking = false
}

async function fetchPage({ url, isLook }) {
  const answer = await fetch(url, { headers: isLook ? LOOK : {} })
  // The session has ended.
  if (answer.redirected) location.assign(answer.url)
  return answer.ok && !answer.redirected
    ? new DOMParser().parseFromString(await answer.text(), 'text/html')
    : null
}

function show(page, { url, isLook }) {
  // The first push arrived or the last one went: with or without a search field, the page has another layout.
  if ((field === null) !== (page.getElementById('q') === null)) return location.reload()
  const focused = nameOf(document.activeElement)
  for (const part of PARTS) {
    const fresh = page.querySelectorAll(part)
    document.querySelectorAll(part).forEach((old, at) => void old.replaceWith(fresh[at]))
  }
  const found = document.getElementById('found')
  found.dispatchEvent(new Event('replaced', { bubbles: true }))
  if (isLook) return focusAgain(focused)
  history.replaceState(null, '', url)
  document.querySelector('.told').textContent = found.querySelector('.matching')?.firstChild.textContent ?? ''
}

/** Returns a key that identifies a control in the old page and in the new one. */
function nameOf(control) {
  return [
    control.closest('li')?.querySelector('a').href,
    control.localName,
    control.name,
    control.href,
  ].join()
}

function focusAgain(name) {
  if (document.activeElement !== document.body) return
  const controls = document.querySelectorAll('.tabs a, #found :is(a, button, input, summary)')
  ;[...controls].find((one) => nameOf(one) === name)?.focus({ preventScroll: true })
}

field?.addEventListener('input', () => {
  clearTimeout(typing)
  typing = setTimeout(() => {
    typing = 0
    const url = new URL(field.form.action)
    for (const [name, value] of new FormData(field.form)) if (value !== '') url.searchParams.set(name, value)
    void ask({ url: url.href, isLook: false })
  }, TYPING_MS)
})

document.addEventListener('keydown', (event) => {
  const { key, target, ctrlKey, metaKey, altKey } = event
  if (key !== '/' || ctrlKey || metaKey || altKey || field === null) return
  if (target.matches('input:not([type=checkbox]), select, textarea')) return
  event.preventDefault()
  field.select()
})

async function look() {
  if (!document.hidden && !isAsking && !isUsed()) await ask({ url: location.href, isLook: true })
}

/**
 * Polls less often the longer the page is open and the longer the server takes: a search decrypts thousands
 * of names.
 */
async function keepLooking() {
  const start = performance.now()
  await look()
  const rest = Math.min(60_000, 8000 + (Date.now() - begun) / 30)
  setTimeout(keepLooking, Math.max(rest, 100 * (performance.now() - start)))
}

setTimeout(keepLooking, 8000)
document.addEventListener('visibilitychange', look)
