// Runs in the browser, where a push is created: showing and counting what is typed, and files on their way.

const form = document.querySelector('form.create')
const payload = document.getElementById('payload')

// Who comes back to this entry of the history and sends the form again gets to the push that it has made.

const key = form.elements['push[idempotency_key]']
if (typeof history.state?.key === 'string') key.value = history.state.key
keepKey()

function keepKey() {
  history.replaceState({ ...history.state, key: key.value }, '')
}

// Show, hide and count.

const mask = document.querySelector('[data-masks]')
mask.hidden = false
mask.addEventListener('click', () => setMasked(!payload.classList.contains('masked')))

function setMasked(masked) {
  payload.classList.toggle('masked', masked)
  mask.textContent = masked ? mask.dataset.show : mask.dataset.hide
}

const counter = document.querySelector('[data-counts]')
function count() {
  const characters = [...payload.value].length
  const lines = payload.value.split('\n').length
  const texts = [counter.dataset.characters.replace('{n}', characters)]
  if (lines > 1) texts.push(counter.dataset.lines.replace('{n}', lines))
  counter.textContent = characters === 0 ? '' : texts.join(' · ')
}
payload.addEventListener('input', count)
count()

// Files: chosen, dropped or pasted.

const chooser = document.getElementById('files')
if (chooser !== null) prepareFiles()

function prepareFiles() {
  const list = document.querySelector('[data-chosen]')
  const area = document.querySelector('[data-drop]')
  const maxBytes = Number(form.dataset.maxFileBytes)
  const maxFiles = Number(form.dataset.maxFiles)
  area.hidden = false
  chooser.addEventListener('change', show)
  // Without files the page may say that one is missing.
  if (chooser.files.length > 0) show()

  for (const name of ['dragenter', 'dragover']) {
    form.addEventListener(name, (event) => {
      if (!event.dataTransfer.types.includes('Files')) return
      event.preventDefault()
      area.classList.add('over')
    })
  }
  form.addEventListener('dragleave', () => area.classList.remove('over'))
  form.addEventListener('drop', (event) => {
    if (event.dataTransfer.files.length === 0) return
    event.preventDefault()
    area.classList.remove('over')
    add(event.dataTransfer.files)
  })
  document.addEventListener('paste', (event) => {
    if (event.clipboardData.files.length === 0) return
    event.preventDefault()
    add(event.clipboardData.files)
  })

  function add(files) {
    document.getElementById('kind-file').checked = true
    setFiles([...chooser.files, ...files])
  }

  function setFiles(files) {
    const transfer = new DataTransfer()
    for (const file of files) transfer.items.add(file)
    chooser.files = transfer.files
    show()
  }

  function show() {
    const files = [...chooser.files]
    list.replaceChildren(...files.map((file) => rowOf(file)))
    const problem = files.some((file) => file.size > maxBytes) ? list.dataset.tooLarge : ''
    const hint = document.getElementById('files-hint').textContent
    const text = problem || (files.length > maxFiles ? hint : '')
    document.getElementById('files-problem').textContent = text
    chooser.setCustomValidity(text)
  }

  function rowOf(file) {
    const row = document.createElement('li')
    const name = document.createElement('bdi')
    name.textContent = file.name
    const size = document.createElement('span')
    size.className = 'hint'
    size.textContent = bytes(file.size)
    const remove = document.createElement('button')
    remove.type = 'button'
    remove.className = 'quiet'
    remove.textContent = '×'
    remove.setAttribute('aria-label', `${list.dataset.remove}: ${file.name}`)
    remove.addEventListener('click', () => {
      setFiles([...chooser.files].filter((other) => other !== file))
      chooser.focus()
    })
    row.append(name, size, remove)
    return row
  }
}

function bytes(size) {
  const units = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte']
  const power = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, size)) / 3))
  // The short form of a byte is "7 byte" in English.
  const unitDisplay = power === 0 ? 'long' : 'short'
  const options = { style: 'unit', unit: units[power], unitDisplay, maximumFractionDigits: 1 }
  return new Intl.NumberFormat(document.documentElement.lang, options).format(size / 1000 ** power)
}

// Sending: with files, so that how far it is can be seen and it can be stopped.

const progress = document.querySelector('[data-progress]')
let sending = false

form.addEventListener('submit', (event) => {
  const isFile = document.getElementById('kind-file')?.checked ?? false
  if (!isFile && chooser !== null) chooser.disabled = true
  if (sending) event.preventDefault()
  if (sending || !isFile || chooser === null || chooser.files.length === 0) return
  event.preventDefault()
  send()
})
window.addEventListener('pageshow', () => {
  sending = false
  if (chooser !== null) chooser.disabled = false
})

function send() {
  const [bar] = progress.getElementsByTagName('progress')
  const told = progress.querySelector('output')
  const problem = progress.querySelector('.problem')
  const cancel = progress.querySelector('[data-cancel]')
  const submit = form.querySelector('button[type=submit]')
  const again = progress.querySelector('[data-retry]')
  const request = new XMLHttpRequest()
  const started = performance.now()
  let isSent = false
  sending = true
  progress.hidden = false
  cancel.hidden = false
  again.hidden = true
  problem.textContent = ''
  told.textContent = ''
  bar.value = 0
  submit.disabled = true
  cancel.onclick = () => request.abort()

  request.upload.addEventListener('progress', ({ loaded, total }) => {
    isSent = loaded === total
    const rate = loaded / Math.max(0.001, (performance.now() - started) / 1000)
    bar.max = total
    bar.value = loaded
    told.textContent =
      loaded === total
        ? told.dataset.finishing
        : told.dataset.rate
            .replace('{percent}', Math.floor((loaded / total) * 100))
            .replace('{rate}', bytes(rate))
  })
  request.upload.addEventListener('load', () => {
    isSent = true
  })
  request.addEventListener('load', () => {
    const { status, responseURL, responseText } = request
    // The page about the push, to which the answer led.
    if (status === 200) location.assign(responseURL)
    else if (showRefusal(responseText)) stop('')
    else if (status < 500) stop(problem.dataset.refused.replace('{status}', status))
    else askAgain(problem.dataset.broken)
  })
  request.addEventListener('abort', () => {
    if (isSent) askAgain(problem.dataset.cancelledLate)
    else stop(problem.dataset.cancelled)
  })
  request.addEventListener('error', () => askAgain(problem.dataset.broken))
  request.open('POST', form.action)
  request.send(new FormData(form))

  function stop(text) {
    sending = false
    submit.disabled = false
    cancel.hidden = true
    told.textContent = ''
    bar.value = 0
    problem.textContent = text
    // Without a text the page says what was wrong, and has the focus there.
    if (text === '') progress.hidden = true
    else submit.focus()
  }

  /** What came of it is not known: the same key finds out. */
  function askAgain(text) {
    stop(text)
    again.hidden = false
    again.focus()
  }
}

/** Takes what was wrong from the page that the server answered, beside each field; false when there is none. */
function showRefusal(html) {
  const answered = new DOMParser().parseFromString(html, 'text/html')
  const notice = answered.querySelector('.notice.bad')
  if (notice === null) return false
  // This page has not been left, and still has its files.
  notice.querySelector('[data-forgotten]')?.remove()
  document.querySelector('main > .notice.bad')?.remove()
  document.querySelector('main > h1').after(document.adoptNode(notice))
  for (const problem of answered.querySelectorAll('.problem[id]')) {
    const here = document.getElementById(problem.id)
    if (here !== null) here.textContent = problem.textContent
  }
  const answeredKey = answered.querySelector('[name="push[idempotency_key]"]')
  if (answeredKey !== null) key.value = answeredKey.value
  keepKey()
  notice.focus()
  return true
}
