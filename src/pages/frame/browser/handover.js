// Runs where a secret link is handed over: puts the message into an e-mail, shares or previews it, and
// reports when the link is opened.

import { fillMessage } from '../../../domain/message-template.ts'
import { mailHref } from '../../share/message.ts'
import { takePassphrase } from './kept-passphrase.js'

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

// If this tab has just created the push: offers to copy its passphrase, until the page is left.
const passphrase = takePassphrase()
const kept = document.querySelector('[data-kept]')
if (passphrase !== '' && kept !== null) {
  kept.querySelector('input').value = passphrase
  kept.hidden = false
}

// Polls whether the link was opened while the page is visible: every few seconds at first, later every
// minute.
const opened = document.querySelector('[data-asks-again]')
const begun = Date.now()
/** Marks polling, because it must not extend the session. */
const LOOK = { 'oncebox-look': '1' }

async function askAgain() {
  const { asksAgain, asksAs } = opened.dataset
  const isMember = asksAs === 'member'
  const answer = await fetch(asksAgain, isMember ? { headers: LOOK } : { credentials: 'omit' })
  // The session has ended.
  if (answer.redirected) return void location.assign(answer.url)
  // The push was purged, or the server was set up anew: stop polling.
  if (answer.status === 404) return false
  if (!answer.ok) return true
  const page = new DOMParser().parseFromString(await answer.text(), 'text/html')
  const fresh = page.getElementById('opened')
  if (fresh === null) document.querySelector('main').replaceWith(page.querySelector('main'))
  else if (fresh.textContent !== opened.textContent) replaceIn(opened, fresh)
  const counts = isMember ? page.querySelectorAll('.top .count') : []
  for (const [at, old] of document.querySelectorAll('.top .count').entries())
    old.replaceWith(counts[at] ?? old)
  document.title = page.title
  return fresh !== null
}

function replaceIn(old, fresh) {
  old.replaceChildren(...fresh.childNodes)
  old.dispatchEvent(new Event('replaced', { bubbles: true }))
}

async function keepAsking() {
  // The server may be unreachable for a moment.
  const goesOn = document.hidden || (await askAgain().catch(() => true))
  if (goesOn) setTimeout(keepAsking, Math.min(60_000, 4000 + (Date.now() - begun) / 30))
}

if (opened !== null) setTimeout(keepAsking, 4000)
