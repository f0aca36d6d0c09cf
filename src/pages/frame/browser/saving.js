// Saves a file that this page has in memory.

export function save(blob, filename) {
  const address = URL.createObjectURL(blob)
  const link = document.createElement('a')
  link.href = address
  link.download = filename
  link.click()
  setTimeout(() => URL.revokeObjectURL(address), 60_000)
}

/** Yields what arrives: some browsers cannot iterate a stream. */
export async function* piecesOf(stream, tell) {
  const reader = stream.getReader()
  let received = 0
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    received += next.value.length
    tell(received)
    yield next.value
  }
}
