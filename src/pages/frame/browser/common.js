// Runs on every page: copy buttons, times in the reader's time zone, and forms that are sent once.

import { locale, moments } from './language.js'

const COPIED_MS = 2500

for (const element of document.querySelectorAll('[data-without-script]')) element.hidden = true

const clocks = new Intl.DateTimeFormat(locale, { timeStyle: 'short' })
function tellTimes(part) {
  for (const element of part.querySelectorAll('time')) {
    const moment = new Date(element.dateTime)
    const isToday = moment.toDateString() === new Date().toDateString()
    const exact = ('clock' in element.dataset && isToday ? clocks : moments).format(moment)
    // The full stop of "2:05 p.m." also ends the sentence.
    const isLast = element.nextSibling?.nodeValue?.startsWith('.') === true
    if (element.dataset.relative === undefined)
      element.textContent = isLast ? exact.replace(/\.$/, '') : exact
    else element.title = exact
  }
}

for (const select of document.querySelectorAll('select[data-submits]')) {
  select.addEventListener('change', () => select.form.requestSubmit())
}

// What stands behind `#` may be a key: it stays in the address, and is sent to nobody.
for (const form of document.querySelectorAll('form.language')) {
  form.addEventListener('submit', (event) => {
    if (location.hash === '') return
    event.preventDefault()
    const address = new URL(form.action)
    address.search = new URLSearchParams(new FormData(form))
    address.hash = location.hash
    location.assign(address)
  })
}

// What few people use on a page is loaded with it, and works without.
for (const place of document.querySelectorAll('[data-loads]')) {
  import(place.dataset.loads).then(
    ({ start }) => start(place),
    () => undefined,
  )
}

// One live region for all buttons, because some stand inside the text that they copy.
const told = document.createElement('p')
told.className = 'told visually-hidden'
told.setAttribute('role', 'status')
document.querySelector('main').append(told)

function enableCopying(button) {
  // A button with only an icon has no text to change.
  const shown = button.querySelector('span')
  const label = shown?.textContent
  let timer
  button.hidden = false
  button.addEventListener('click', async () => {
    const done = await copy(button.dataset.text ?? textOf(document.getElementById(button.dataset.copies)))
    const word = done ? button.dataset.done : button.dataset.failed
    if (shown !== null) shown.textContent = word
    told.textContent = word
    // Such a button cannot show the failure either, so show the live region.
    told.classList.toggle('visually-hidden', done || shown !== null)
    button.classList.toggle('done', done)
    clearTimeout(timer)
    timer = setTimeout(() => {
      if (shown !== null) shown.textContent = label
      told.textContent = ''
      told.classList.add('visually-hidden')
      button.classList.remove('done')
    }, COPIED_MS)
  })
}

/** Activates a part of the page. Other scripts call it for parts that they replace. */
function enliven(part) {
  tellTimes(part)
  for (const button of part.querySelectorAll('[data-copies]')) enableCopying(button)
}
enliven(document)
document.addEventListener('replaced', ({ target }) => enliven(target))

// Shows a password. The field becomes a password field again on submit, so that the browser offers to store
// it.
for (const eye of document.querySelectorAll('[data-reveals]')) {
  const field = document.getElementById(eye.dataset.reveals)
  const [box] = eye.getElementsByTagName('input')
  eye.hidden = false
  const show = () => {
    field.type = box.checked ? 'text' : 'password'
  }
  box.addEventListener('change', show)
  field.form.addEventListener('submit', () => {
    box.checked = false
    show()
  })
}

// Closes a menu on Escape, and when a click or the focus goes elsewhere.
const openMenus = () => document.querySelectorAll('details.menu[open]')
for (const name of ['pointerdown', 'focusin']) {
  document.addEventListener(name, ({ target }) => {
    for (const menu of openMenus()) if (!menu.contains(target)) menu.open = false
  })
}
document.addEventListener('keydown', ({ key }) => {
  const [open] = key === 'Escape' ? openMenus() : []
  if (open === undefined) return
  open.open = false
  open.querySelector('summary').focus()
})

/**
 * Returns the text to copy. A field has what was typed; a text that HTML cannot hold is stored escaped in an
 * attribute.
 */
function textOf(element) {
  const { exact } = element.dataset
  return exact === undefined ? (element.value ?? element.textContent) : decodeURIComponent(exact)
}

/** Over plain HTTP browsers offer no clipboard API; the deprecated command still works. */
async function copy(text) {
  if (navigator.clipboard !== undefined) {
    try {
      await navigator.clipboard.writeText(text)
      return true
    } catch {
      // Not permitted. Fall back to the deprecated command.
    }
  }
  const area = document.createElement('textarea')
  area.value = text
  area.className = 'visually-hidden'
  area.readOnly = true
  document.body.append(area)
  const before = document.activeElement
  area.select()
  const done = document.execCommand('copy')
  area.remove()
  if (before instanceof HTMLElement) before.focus()
  return done
}

// Ignores a second press: the browser would show its answer in place of the first, and what the first one
// opened would be lost.
for (const form of document.querySelectorAll('form[data-once]')) {
  const button = form.querySelector('button[type=submit]')
  form.addEventListener('submit', (event) => {
    if (button.getAttribute('aria-disabled') === 'true') event.preventDefault()
    button.setAttribute('aria-disabled', 'true')
  })
  window.addEventListener('pageshow', () => button.removeAttribute('aria-disabled'))
}
