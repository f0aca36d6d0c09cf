// Runs where a secret link is handed over: puts the message into an e-mail, shares or previews it, and
// reports when the link is opened.

import { fillMessage } from '../../../domain/message-template.ts'
import { mailHref } from '../../share/message.ts'
import { takePassphrase } from './kept-passphrase.js'
import { completeLinks } from './sealed/complete.js'
import { keepKey, takeKey } from './sealed/kept-key.js'

for (const link of document.querySelectorAll('a[data-mails]')) {
  const message = document.getElementById(link.dataset.mails)
  message.addEventListener('input', () => {
    link.href = mailHref({ subject: link.dataset.subject, body: message.value.toWellFormed() })
  })
}

// Browsers share only from secure pages, and some not at all.
for (const button of document.querySelectorAll('button[data-shares]')) {
  if (navigator.share === undefined) continue
  const message = document.getElementById(button.dataset.shares)
  button.hidden = false
  button.addEventListener('click', async () => {
    try {
      await navigator.share({ text: message.value })
    } catch {
      // Cancelled: the link is still on the page.
    }
  })
}

// On the page of an account's message template: previews it with all fields filled in.
for (const preview of document.querySelectorAll('[data-previews]')) {
  const message = document.getElementById(preview.dataset.previews)
  message.addEventListener('input', () => {
    preview.textContent = fillMessage(message.value.trim(), preview.dataset)
  })
}

// On the same page: inserts a placeholder at the caret.
for (const places of document.querySelectorAll('[data-inserts]')) {
  const message = document.getElementById(places.dataset.inserts)
  places.hidden = false
  places.addEventListener('click', ({ target }) => {
    const place = target.closest('button')
    if (place === null) return
    message.setRangeText(place.textContent, message.selectionStart, message.selectionEnd, 'end')
    message.dispatchEvent(new Event('input'))
    message.focus()
  })
}

// If this tab has just created the push: offers to copy its passphrase, until the page is left.
const passphrase = takePassphrase()
const kept = document.querySelector('[data-kept]')
if (passphrase !== '' && kept !== null) {
  kept.querySelector('input').value = passphrase
  kept.hidden = false
}

// The server does not know the key of an end-to-end push, so this page adds it to the link.
const keyless = document.querySelector('[data-lacks-key]')
const linkKey = keyless && takeKey()
if (linkKey) {
  document.querySelector('[data-without-key]').remove()
  keyless.hidden = false
  void completeLinks(linkKey, keyless.dataset.qr)
  document
    .querySelector('form.language')
    ?.addEventListener('submit', () => keepKey(linkKey, location.pathname))
}

// Polls whether the link was opened while the page is visible: every few seconds at first, later every
// minute.
const opened = document.querySelector('[data-asks-again]')
const begun = Date.now()

async function askAgain() {
  const { asksAgain, asksAs } = opened.dataset
  // The header marks polling, because it must not extend the session.
  const asking = asksAs ? { headers: { 'oncebox-look': '1' } } : { credentials: 'omit' }
  const answer = await fetch(asksAgain, asking)
  // The push was purged, the server was set up anew, or the session has ended: stop polling.
  if (answer.status === 404 || answer.redirected) return false
  if (!answer.ok) return true
  const page = new DOMParser().parseFromString(await answer.text(), 'text/html')
  const fresh = page.querySelector('[data-asks-again]')
  if (fresh === null) document.querySelector('main').replaceWith(page.querySelector('main'))
  else if (fresh.textContent !== opened.textContent) opened.replaceChildren(...fresh.childNodes)
  const count = asksAs && page.querySelector('.top .count')
  for (const old of count ? document.querySelectorAll('.top .count') : [])
    old.replaceWith(count.cloneNode(true))
  document.title = page.title
  return fresh !== null
}

async function keepAsking() {
  // The server may be unreachable for a moment.
  const goesOn = document.hidden || (await askAgain().catch(() => true))
  if (goesOn) setTimeout(keepAsking, Math.min(60_000, 4000 + (Date.now() - begun) / 30))
}

if (opened !== null) setTimeout(keepAsking, 4000)
