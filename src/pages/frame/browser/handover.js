// Runs in the browser, where the message of a secret link is written: takes it into an e-mail, shares it, or previews it.

for (const link of document.querySelectorAll('a[data-mails]')) {
  const message = document.getElementById(link.dataset.mails)
  const write = () => {
    const body = message.value.toWellFormed().replace(/\r?\n/g, '\r\n')
    link.href = `mailto:?subject=${encodeURIComponent(link.dataset.subject)}&body=${encodeURIComponent(body)}`
  }
  message.addEventListener('input', write)
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
    const text = message.value.trim()
    preview.textContent = text.replace(/\{(link|expires|views)\}/g, (_, name) => preview.dataset[name])
  })
}
