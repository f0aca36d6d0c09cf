// Uploads files with progress and a cancel button. A failure loses nothing that was typed or chosen.

import { chooser } from './files.js'
import { form, kindOf, sayBytes, sayUnit, state, submit } from './form.js'

/** The window of the average speed, short enough that the time left follows the network. */
const WINDOW_MS = 5000

const progress = document.querySelector('[data-progress]')
const [bar] = progress.getElementsByTagName('progress')
const told = progress.querySelector('output')
const problem = progress.querySelector('.problem')
const cancel = progress.querySelector('[data-cancel]')
const again = progress.querySelector('[data-retry]')

form.addEventListener('submit', (event) => {
  if (state.isSending) event.preventDefault()
  const hasFiles = kindOf() === 'file' && chooser !== null && chooser.files.length > 0
  if (state.isSending || !(hasFiles || state.isSealed)) return
  event.preventDefault()
  void send(hasFiles)
})
window.addEventListener('pageshow', () => setSending(false))

function setSending(isSending) {
  state.isSending = isSending
  submit.setAttribute('aria-disabled', String(isSending))
}

async function send(hasFiles) {
  const request = new XMLHttpRequest()
  let isSent = false
  let isCancelled = false
  setSending(true)
  progress.hidden = !hasFiles
  cancel.hidden = false
  again.hidden = true
  problem.textContent = ''
  told.textContent = ''
  bar.value = 0
  cancel.onclick = () => {
    isCancelled = true
    request.abort()
  }
  progress.scrollIntoView({ block: 'nearest' })

  const speedAt = createSpeed()
  request.upload.addEventListener('progress', ({ loaded, total }) => {
    isSent = loaded === total
    bar.max = total
    bar.value = loaded
    told.textContent = isSent ? told.dataset.finishing : describe({ loaded, total, speed: speedAt(loaded) })
  })
  request.upload.addEventListener('load', () => {
    isSent = true
  })
  request.addEventListener('load', () => {
    const { status, responseURL, responseText } = request
    if (status === 200) {
      // The redirect led to the page of the new push.
      state.isLeaving = true
      form.dispatchEvent(new CustomEvent('sent', { detail: new URL(responseURL).pathname }))
      location.assign(responseURL)
    } else if (status === 410) {
      // The request has closed; reloading shows the page that says so.
      state.isLeaving = true
      location.reload()
    } else if (showRefusal(responseText)) stop('')
    else if (status < 500) stop(problem.dataset.refused.replace('{status}', status))
    else askAgain(problem.dataset.broken)
  })
  request.addEventListener('abort', () => {
    if (isSent) askAgain(problem.dataset.cancelledLate)
    else stop(problem.dataset.cancelled)
  })
  request.addEventListener('error', () => askAgain(problem.dataset.broken))
  const body = await bodyToSend().catch(() => null)
  if (isCancelled) return stop(problem.dataset.cancelled)
  if (body === null) return stop(problem.dataset.unsealed)
  request.open('POST', form.action)
  request.send(body)
}

async function bodyToSend() {
  if (!state.isSealed) return new FormData(form)
  return state.seal((share) => {
    bar.max = 1
    bar.value = share
    told.textContent = told.dataset.sealing.replace('{percent}', Math.floor(share * 100))
  })
}

function describe({ loaded, total, speed }) {
  const { rate, left } = told.dataset
  const percent = Math.floor((loaded / total) * 100)
  const soFar = rate.replace('{percent}', percent).replace('{rate}', sayBytes(speed))
  return `${soFar} · ${left.replace('{left}', sayTime((total - loaded) / speed))}`
}

function sayTime(seconds) {
  const [value, unit] =
    seconds < 90 ? [seconds, 'second'] : seconds < 5400 ? [seconds / 60, 'minute'] : [seconds / 3600, 'hour']
  return sayUnit(Math.max(1, Math.round(value)), unit, { unitDisplay: 'long' })
}

/** Returns a function from the bytes sent so far to the speed in bytes per second. */
function createSpeed() {
  const marks = [{ at: performance.now(), loaded: 0 }]
  return (loaded) => {
    const now = performance.now()
    marks.push({ at: now, loaded })
    while (marks.length > 2 && now - marks[0].at > WINDOW_MS) marks.shift()
    const [first] = marks
    return Math.max(1, (loaded - first.loaded) / Math.max(0.001, (now - first.at) / 1000))
  }
}

function stop(text) {
  setSending(false)
  cancel.hidden = true
  told.textContent = ''
  bar.value = 0
  problem.textContent = text
  // Without a text, the notice of the page explains the failure and has the focus.
  progress.hidden = text === ''
  if (text !== '') submit.focus()
}

/** The outcome is unknown. Offers a retry with the same idempotency key. */
function askAgain(text) {
  stop(text)
  again.hidden = false
  again.focus()
}

/** Moves the notice and the problems of the answered page into this one. Returns false if there is none. */
function showRefusal(html) {
  const answered = new DOMParser().parseFromString(html, 'text/html')
  const notice = answered.querySelector('.notice.bad')
  if (notice === null) return false
  // This page still has its files.
  notice.querySelector('[data-forgotten]')?.remove()
  document.querySelector('main .notice.bad')?.remove()
  // Copy the icons of the notice, which this page did not contain.
  const drawings = document.querySelector('symbol')?.parentNode
  for (const symbol of answered.querySelectorAll('symbol'))
    if (document.getElementById(symbol.id) === null) drawings?.append(document.adoptNode(symbol))
  document.querySelector('form.create').before(document.adoptNode(notice))
  for (const text of answered.querySelectorAll('.problem[id]')) showText(text)
  form.dispatchEvent(new CustomEvent('refused', { detail: answered }))
  notice.focus()
  return true
}

function showText({ id, textContent }) {
  const here = document.getElementById(id)
  if (here === null) return
  here.textContent = textContent
  const folded = here.closest('details')
  if (textContent !== '' && folded !== null) folded.open = true
}
