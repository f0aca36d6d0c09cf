// Runs in the browser, on every page: copying, moments in the reader's own zone, and forms that are sent once.

import { locale } from './language.js'

const COPIED_MS = 2500

for (const element of document.querySelectorAll('[data-without-script]')) element.hidden = true

const moments = new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeStyle: 'short' })
const clocks = new Intl.DateTimeFormat(locale, { timeStyle: 'short' })
function tellTimes(part) {
  for (const element of part.querySelectorAll('time')) {
    const moment = new Date(element.dateTime)
    const isToday = moment.toDateString() === new Date().toDateString()
    const exact = ('clock' in element.dataset && isToday ? clocks : moments).format(moment)
    if (element.dataset.relative === undefined) element.textContent = exact
    else element.title = exact
  }
}

for (const select of document.querySelectorAll('select[data-submits]')) {
  select.addEventListener('change', () => select.form.requestSubmit())
}

// One for all buttons: some stand within the text that they copy.
const told = document.createElement('p')
told.className = 'told visually-hidden'
told.setAttribute('role', 'status')
document.querySelector('main').append(told)

function enableCopying(button) {
  // An icon alone has no text to change.
  const shown = button.querySelector('span')
  const label = shown?.textContent
  let timer
  button.hidden = false
  button.addEventListener('click', async () => {
    const done = await copy(button.dataset.text ?? textOf(document.getElementById(button.dataset.copies)))
    const word = done ? button.dataset.done : button.dataset.failed
    if (shown !== null) shown.textContent = word
    told.textContent = word
    // Nor can it show what went wrong.
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

/** Also for a part that another script has put in the place of an older one. */
function enliven(part) {
  tellTimes(part)
  for (const button of part.querySelectorAll('[data-copies]')) enableCopying(button)
}
enliven(document)
document.addEventListener('replaced', ({ target }) => enliven(target))

// The eye of a password. It is a password again when it is sent, so that the browser offers to keep it.
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

// A menu closes when the press or the focus goes elsewhere, and by Escape.
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

/** HTML cannot hold every text: such a one is there a second time, escaped. A field has what was typed into it. */
function textOf(element) {
  const { exact } = element.dataset
  return exact === undefined ? (element.value ?? element.textContent) : decodeURIComponent(exact)
}

/** Over plain HTTP browsers have no clipboard API; the old command still works there. */
async function copy(text) {
  if (navigator.clipboard !== undefined) {
    try {
      await navigator.clipboard.writeText(text)
      return true
    } catch {
      // Not permitted: the old way may be.
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

// A second press would be answered in place of the first one, and what that one opened would be lost.
for (const form of document.querySelectorAll('form[data-once]')) {
  const button = form.querySelector('button[type=submit]')
  form.addEventListener('submit', (event) => {
    if (button.getAttribute('aria-disabled') === 'true') event.preventDefault()
    button.setAttribute('aria-disabled', 'true')
  })
  window.addEventListener('pageshow', () => button.removeAttribute('aria-disabled'))
}
