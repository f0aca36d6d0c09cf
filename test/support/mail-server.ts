// A mail server on loopback with TLS, which records mails, and can refuse one, or drop the connection before
// its reply.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SMTPServer } from 'smtp-server'
import { testCertificate, testKey } from './certificate.ts'

export type Received = {
  from: string
  to: string[]
  /** Header lines, unfolded. */
  headers: string[]
  /** The decoded text. */
  text: string
  raw: string
}

export type MailServerOptions = {
  /** Implicit TLS; otherwise STARTTLS. */
  isTls?: boolean
  /** Offers no TLS at all. */
  isPlain?: boolean
  login?: { user: string; pass: string }
  /** Returns the code that refuses a recipient; null accepts it. */
  refuses?: (address: string) => number | null
  /** Decides about a complete mail: it is accepted, or the connection drops without a reply. */
  onMail?: (received: Received) => 'take' | 'die' | Promise<'take' | 'die'>
  certificate?: { key: string; cert: string }
}

export type MailServer = Awaited<ReturnType<typeof startMailServer>>

export async function startMailServer(options: MailServerOptions = {}) {
  const { isTls = true, isPlain = false, login, certificate } = options
  const mails: Received[] = []
  const folder = mkdtempSync(join(tmpdir(), 'oncebox-mail-'))
  const ca = join(folder, 'ca.pem')
  writeFileSync(ca, testCertificate)
  const connections: unknown[] = []
  const server = new SMTPServer({
    secure: isTls && !isPlain,
    key: certificate?.key ?? testKey,
    cert: certificate?.cert ?? testCertificate,
    authOptional: login === undefined,
    hideSTARTTLS: isPlain,
    disabledCommands: [...(isPlain ? ['STARTTLS'] : []), ...(login === undefined ? ['AUTH'] : [])],
    onConnect: (session, callback) => {
      connections.push(session)
      callback()
    },
    onAuth: ({ username, password }, _, callback) => {
      const isRight = username === login?.user && password === login?.pass
      callback(isRight ? null : new Error('no such login'), { user: username })
    },
    onRcptTo: ({ address }, _, callback) => {
      const code = options.refuses?.(address) ?? null
      callback(code === null ? null : Object.assign(new Error('refused here'), { responseCode: code }))
    },
    onData: async (stream, { envelope }, callback) => {
      const pieces: Buffer[] = []
      for await (const piece of stream) pieces.push(piece)
      const { mailFrom, rcptTo } = envelope
      const received = {
        from: mailFrom === false ? '' : mailFrom.address,
        to: rcptTo.map(({ address }) => address),
        ...partsOf(Buffer.concat(pieces).toString()),
      }
      if ((await options.onMail?.(received)) === 'die') {
        for (const connection of server.connections) connection._socket.destroy()
        return
      }
      mails.push(received)
      callback(null, 'taken')
    },
  })
  server.on('error', () => undefined)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.server.address() as { port: number }
  const scheme = isTls && !isPlain ? 'smtps' : 'smtp'
  const user =
    login === undefined ? '' : `${encodeURIComponent(login.user)}:${encodeURIComponent(login.pass)}@`

  return {
    mails,
    /** All connections so far. */
    connections,
    port,
    ca,
    url: `${scheme}://${user}127.0.0.1:${port}?ca=${ca}`,
    /** The URL without the authority that verifies the certificate. */
    urlOfStranger: `${scheme}://${user}127.0.0.1:${port}`,
    stop: async () => {
      await new Promise<void>((resolve) => server.close(resolve))
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function partsOf(raw: string): Pick<Received, 'headers' | 'text' | 'raw'> {
  const end = raw.indexOf('\r\n\r\n')
  const headers = raw
    .slice(0, end)
    .replace(/\r\n[ \t]+/g, ' ')
    .split('\r\n')
  return {
    headers,
    text: decode(raw.slice(end + 4), headers)
      .replaceAll('\r\n', '\n')
      .trim(),
    raw,
  }
}

/** Decodes the transfer encoding (RFC 2045, 6). */
function decode(body: string, headers: readonly string[]): string {
  const encoding = headers.find((line) => /^content-transfer-encoding:/i.test(line))?.toLowerCase() ?? ''
  if (encoding.endsWith('base64')) return Buffer.from(body, 'base64').toString()
  if (!encoding.endsWith('quoted-printable')) return body
  const bytes = body.replace(/=\r\n/g, '').replace(/=([\dA-F]{2})/g, (_, hex) => `%${hex}`)
  return decodeURIComponent(bytes.replace(/%(?![\dA-F]{2})/g, '%25'))
}

/** Returns the value of a header, with encoded words decoded (RFC 2047). */
export function headerOf({ headers }: Received, name: string): string {
  const line = headers.find((one) => one.toLowerCase().startsWith(`${name.toLowerCase()}:`)) ?? ''
  const value = line.slice(name.length + 1).trim()
  return value.replace(/\?= =\?/g, '?==?').replace(/=\?UTF-8\?([QB])\?([^?]*)\?=/gi, (_, kind, text) =>
    kind.toUpperCase() === 'B'
      ? Buffer.from(text, 'base64').toString()
      : decodeURIComponent(
          text
            .replaceAll('_', ' ')
            .replaceAll('%', '%25')
            .replace(/=([\dA-F]{2})/g, '%$1'),
        ),
  )
}
