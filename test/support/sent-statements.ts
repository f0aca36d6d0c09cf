// Reads which statements a client of PostgreSQL runs, from the bytes that it sends without TLS.

/** `at`: where in the chunk the message that runs the statement begins; negative for an earlier chunk. */
export type SentStatement = { at: number; text: string }

const HEADER_BYTES = 5
/** The codes of SSLRequest and GSSENCRequest. */
const ENCRYPTION = [80877103, 80877104]

/**
 * Creates a function that takes the chunks of one connection in their order, and returns the statements whose
 * messages each chunk completes.
 */
export function createStatementReader(): (chunk: Buffer) => SentStatement[] {
  const prepared = new Map<string, string>()
  let kept: Buffer = Buffer.alloc(0)
  let hasStarted = false

  return (chunk) => {
    const before = kept.length
    const bytes = Buffer.concat([kept, chunk])
    const found: SentStatement[] = []
    let at = 0
    for (;;) {
      // The first message has no type. Neither has the one after a request for encryption, which libpq sends
      // first.
      const header = hasStarted ? HEADER_BYTES : HEADER_BYTES - 1
      if (bytes.length < at + header) break
      const end = at + header + bytes.readInt32BE(at + header - 4) - 4
      if (bytes.length < end) break
      if (hasStarted) {
        const text = statementOf(String.fromCharCode(bytes[at] ?? 0), bytes.subarray(at + header, end))
        if (text !== null) found.push({ at: at - before, text })
      }
      hasStarted ||= !ENCRYPTION.includes(bytes.readInt32BE(at + header))
      at = end
    }
    kept = bytes.subarray(at)
    return found
  }

  /** Returns the statement that a message runs; null for other messages. */
  function statementOf(type: string, body: Buffer): string | null {
    const [first = '', second = ''] = body.toString('latin1').split('\0', 2)
    if (type === 'P') prepared.set(first, second)
    if (type === 'Q') return first
    // A Bind names the portal, then the statement.
    return type === 'B' ? (prepared.get(second) ?? '') : null
  }
}

/**
 * Takes the statements of one connection in their order. Returns those of the transaction that each one makes
 * durable, or null.
 */
export type CommitReader = (text: string) => readonly string[] | null

export function createCommitReader(): CommitReader {
  let transaction: string[] | null = null
  return (text) => {
    if (text === 'BEGIN') transaction = []
    const statements: string[] = transaction ?? []
    statements.push(text)
    const isEnd = text === 'COMMIT' || text === 'ROLLBACK'
    const isInside = transaction !== null
    if (isEnd) transaction = null
    // Outside a transaction each statement commits itself. Those that only read write no row of an operation.
    return text === 'COMMIT' || (!isInside && WRITES.test(text)) ? statements : null
  }
}

const WRITES = /INTO operations/
