// Multipart bodies built by hand, so that every header of a part is exactly as a client would send it.

export type Part = {
  name: string
  content: string | Uint8Array
  /** Text after the name, such as `filename="a.txt"`. */
  disposition?: string
  /** Whole header lines. */
  headers?: string[]
}

export type Bytes = Uint8Array<ArrayBuffer>

export const BOUNDARY = 'oncebox-boundary'

export function multipart(parts: Part[], { end = `--${BOUNDARY}--\r\n` } = {}): Bytes {
  const chunks = parts.flatMap(({ name, content, disposition, headers = [] }) => {
    const more = disposition === undefined ? '' : `; ${disposition}`
    const lines = [`Content-Disposition: form-data; name="${name}"${more}`, ...headers]
    return [`--${BOUNDARY}\r\n${lines.join('\r\n')}\r\n\r\n`, content, '\r\n']
  })
  return Buffer.concat([...chunks, end].map((chunk) => Buffer.from(chunk as Uint8Array)))
}
