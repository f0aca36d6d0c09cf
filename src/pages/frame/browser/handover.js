// Runs in the browser, where a secret link is handed over: takes the message into an e-mail, shares or previews it, and tells when the link is opened.

import { fillMessage } from '../../../domain/message-template.ts'
import { mailHref } from '../../share/message.ts'
import { takePassphrase } from './kept-passphrase.js'

for (const link of document.querySelectorAll('a[data-mails]')) {
  const message = document.getElementById(link.dataset.mails)
  message.addEventListener('input', () => {
    link.href = mailHref({ subject: link.dataset.subject, body: message.value.toWellFormed() })
  })
}

// Browsers share from secure pages only, and not all can.
for (const button of document.querySelectorAll('button[data-shares]')) {
  if (navigator.share === undefined) continue
  const message = document.getElementById(button.dataset.shares)
  button.hidden = false
  button.addEventListener('click', async () => {
    try {
      await navigator.share({ text: message.value })
    } catch {
      // Closed without sharing: the link is still here.
    }
  })
}

// The page of an account's own message: what it looks like with everything put in.
for (const preview of document.querySelectorAll('[data-previews]')) {
  const message = document.getElementById(preview.dataset.previews)
  message.addEventListener('input', () => {
    preview.textContent = fillMessage(message.value.trim(), preview.dataset)
  })
}

// The push that this tab has just created: its passphrase can be copied as well, until the page is left.
const passphrase = takePassphrase()
const kept = document.querySelector('[data-kept]')
if (passphrase !== '' && kept !== null) {
  kept.querySelector('input').value = passphrase
  kept.hidden = false
}

// Asks whether the link was opened while the page is looked at: every few seconds at first, later every minute.
const opened = document.querySelector('[data-asks-again]')
const begun = Date.now()

async function askAgain() {
  const answer = await fetch(opened.dataset.asksAgain, { credentials: 'omit' })
  // Purged, or of a server that was set up anew: there is nothing more to ask.
  if (answer.status === 404) return false
  if (!answer.ok) return true
  const page = new DOMParser().parseFromString(await answer.text(), 'text/html')
  const fresh = page.getElementById('opened')
  if (fresh === null) document.querySelector('main').replaceWith(page.querySelector('main'))
  else if (fresh.textContent !== opened.textContent) opened.replaceChildren(...fresh.childNodes)
  document.title = page.title
  return fresh !== null
}

async function keepAsking() {
  // The server may be away for a moment.
  const goesOn = document.hidden || (await askAgain().catch(() => true))
  if (goesOn) setTimeout(keepAsking, Math.min(60_000, 4000 + (Date.now() - begun) / 30))
}

if (opened !== null) setTimeout(keepAsking, 4000)
