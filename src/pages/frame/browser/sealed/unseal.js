// Opens a secret in the browser: with the key behind `#`, or with an identity file. Nothing is asked of the
// server before a test text was opened, and nothing of its answer is shown unless the whole of it opens.

import './escape-html.js'
import { Opened } from '../../../receive/opened.tsx'
import { drawingsFor } from '../../icons.tsx'
import { save } from '../saving.js'
import { createFiles } from './files.js'
import { guestIn } from './guest.js'

/** They stay when the server asks again, for instance for another passphrase. */
let identities = []

/** Begins on the form of a link, or on a secret that is already shown, still encrypted. */
export async function start(place) {
  const age = await import(place.dataset.age)
  await age.testKey()
  if (place.localName === 'template') await prepare(place, age)
  else {
    offerIdentity(place, { age, guest: guestIn(place), use: () => openHere(place, age) })
    place.querySelector('[data-asks="identity"]').hidden = false
  }
}

/** Puts the form in its place. Its button works once there is a key that may be the right one. */
async function prepare(template, age) {
  const part = template.content.firstElementChild
  const form = part.querySelector('form')
  const button = form.querySelector('button[type=submit]')
  const guest = guestIn(template)
  const { keyCheck = '' } = template.dataset
  button.disabled = true
  template.previousElementSibling.remove()
  template.replaceWith(part)
  part.dispatchEvent(new Event('replaced', { bubbles: true }))

  const asks = (name, isAsked) => {
    part.querySelector(`[data-asks="${name}"]`).hidden = !isAsked
  }
  const use = async (found) => {
    for (const identity of found) await age.testKey(identity)
    identities = found
    button.disabled = false
    asks('link', false)
    tell(part, '')
  }
  /** Says why a key is of no use. */
  const problemOf = async (linkKey) => {
    const identity = age.identityOfLinkKey(linkKey)
    if (identity === null) return 'sealed_key_missing'
    if (keyCheck !== '' && !(await age.isKeyOf(identity, keyCheck))) return 'sealed_key_foreign'
    await use([identity])
    return null
  }

  form.addEventListener('submit', (event) => {
    event.preventDefault()
    if (!button.disabled) void press({ form, button, part, guest, age })
  })
  offerIdentity(part, { age, guest, use })
  const field = part.querySelector('#whole-link')
  forgetLater(field)
  field.addEventListener('input', async () => {
    const [address, linkKey = address] = field.value.trim().split('#')
    const problem = isOtherLink(address) ? 'sealed_other_link' : await problemOf(linkKey)
    if (problem === null) history.replaceState(history.state, '', `#${linkKey}`)
    else tell(part, guest.say(problem))
  })

  if (identities.length > 0) return use(identities)
  const marked = location.hash.slice(1)
  const isOfLink = keyCheck !== '' || marked !== ''
  const problem = isOfLink ? await problemOf(marked) : null
  asks('link', problem !== null)
  asks('identity', !isOfLink)
  if (problem !== null) tell(part, guest.say(problem))
}

/** Whether an address is of another secret than this page. */
function isOtherLink(address) {
  const token = location.pathname.split('/p/')[1]?.split('/')[0]
  return address.includes('/') && !address.includes(`/p/${token}`)
}

function tell(part, text) {
  const told = part.querySelector('[data-told]')
  told.textContent = text
  told.hidden = text === ''
}

/** Uses the identities of a file, which is read here and sent to nobody. */
function offerIdentity(part, { age, guest, use }) {
  const chooser = part.querySelector('#identity')
  forgetLater(chooser)
  chooser.addEventListener('change', async () => {
    const found = chooser.files.length === 0 ? [] : await age.identitiesIn(chooser.files[0])
    if (found.length === 0) return tell(part, guest.say('sealed_no_identity'))
    identities = found
    await use(found)
  })
}

function forgetLater(field) {
  window.addEventListener('pagehide', () => {
    field.value = ''
  })
}

async function press({ form, button, part, guest, age }) {
  button.disabled = true
  tell(part, guest.say('sealed_opening'))
  let page
  let isOpen = false
  try {
    const body = new URLSearchParams(new FormData(form))
    const response = await fetch(form.action, { method: 'POST', body, redirect: 'error', cache: 'no-store' })
    page = new DOMParser().parseFromString(await response.text(), 'text/html')
    isOpen = response.ok
  } catch {
    button.disabled = false
    return tell(part, guest.say('receive_outage_doubt'))
  }
  const sealed = page.querySelector('[data-sealed]')
  const contents = [...page.querySelectorAll('.secret, .downloads')]
  const isBesides = contents.some((content) => !sealed?.contains(content))
  // A refusal holds no content.
  if (!isOpen && !isBesides) return replaceMain(page)
  try {
    if (sealed === null || isBesides) throw new Error('the answer is not encrypted')
    await open(sealed, { age, guest })
    replaceMain(page)
  } catch {
    tell(part, guest.say('sealed_refused'))
    if (sealed !== null) offerSealed(part, sealed)
  }
}

async function openHere(section, age) {
  const guest = guestIn(section)
  tell(section, guest.say('sealed_opening'))
  try {
    await open(section, { age, guest })
    section.dispatchEvent(new Event('replaced', { bubbles: true }))
  } catch {
    tell(section, guest.say('sealed_refused'))
  }
}

/** Replaces what is encrypted by what it holds. Throws, and changes nothing, unless the whole of it opens. */
async function open(section, { age, guest }) {
  const armoured = armouredIn(section)
  const text = armoured === null ? null : await age.openText(armoured, identities)
  const files = createFiles({
    age,
    guest,
    identities,
    rows: [...section.querySelectorAll('.downloads > li')],
  })
  const rows = await files.open()
  const isAnswer = 'answer' in section.dataset
  const opened = Opened({ guest, text, rows, isUnnumbered: files.areUnnumbered(), isAnswer }).text
  section.replaceChildren(document.createRange().createContextualFragment(opened + drawingsFor(opened)))
  files.enliven(section)
}

/** Returns the exact text that the server sent; null if there is none. */
function armouredIn(section) {
  const shown = section.querySelector('#payload')
  if (shown === null) return null
  const { exact } = shown.dataset
  return exact === undefined ? shown.textContent : decodeURIComponent(exact)
}

/** Shows the answered page in place of this one, whose address and key stay. */
function replaceMain(page) {
  const main = document.querySelector('main')
  // A parsed page takes the parts for browsers without scripts for its own.
  for (const part of page.querySelectorAll('noscript')) part.remove()
  const drawings = document.querySelector('symbol')?.parentNode
  for (const symbol of page.querySelectorAll('symbol'))
    if (document.getElementById(symbol.id) === null) drawings?.append(document.adoptNode(symbol))
  main.replaceChildren(...page.querySelector('main').childNodes, main.querySelector('.told'))
  document.title = page.title
  main.dispatchEvent(new Event('replaced', { bubbles: true }))
  const heading = main.querySelector('h1')
  heading.tabIndex = -1
  const focused = main.querySelector('[autofocus]') ?? heading
  focused.focus()
}

/** Offers what the server sent, still encrypted: the view is spent, and a program may open it. */
function offerSealed(part, section) {
  const box = part.querySelector('[data-saves-sealed]')
  box.hidden = false
  const armoured = armouredIn(section)
  const button = box.querySelector('button')
  button.hidden = armoured === null
  button.addEventListener('click', () => save(new Blob([armoured]), 'secret.age'))
  for (const { href, download } of section.querySelectorAll('a[data-downloads]')) {
    const link = Object.assign(document.createElement('a'), { href, download, textContent: download })
    box.append(link, ' ')
  }
}
