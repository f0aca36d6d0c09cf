// Puts what stands behind `#` into a link that the server knows without it: the link itself, its message, and
// its QR code.

/** `qr`: the URL of the script that draws codes. */
export async function completeLinks(fragment, qr) {
  const link = document.getElementById('link')
  const before = link.textContent.trim()
  const whole = `${before.split('#')[0]}#${fragment}`
  link.querySelector('code').textContent = whole
  const message = document.getElementById('message')
  if (message !== null) {
    message.value = message.value.replace(before, () => whole)
    message.dispatchEvent(new Event('input', { bubbles: true }))
  }
  for (const opened of document.querySelectorAll('a[data-opens-link]')) opened.hash = fragment
  const { modulesOf, pictureOf } = await import(qr)
  const modules = modulesOf(whole)
  for (const code of document.querySelectorAll('svg.qr')) {
    code.replaceChildren(...pictureOf(modules).childNodes)
    code.setAttribute('viewBox', `0 0 ${modules.length} ${modules.length}`)
  }
}
