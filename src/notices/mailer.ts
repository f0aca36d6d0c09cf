// Sends mails through the configured server, as plain text and to one recipient each. Requires and verifies
// TLS. Loads the mail library with the first mail.

import { readFile } from 'node:fs/promises'
import { isIP } from 'node:net'
import { isMailAddress, type MailAddress, type MailServer } from '../domain/mail-address.ts'
import type { DeliveryError } from '../domain/outbox.ts'
import { inTime } from './in-time.ts'
import type { MailText } from './mail-texts.ts'

export type Mail = MailText & {
  to: string
  /** An id of letters and digits, the same at each retry, which identifies duplicates. */
  id: string
}

type MailerOptions = {
  server: MailServer
  from: MailAddress
  /** The host of this server as URLs write it. */
  hostName: string
}

export type Mailer = ReturnType<typeof createMailer>

/**
 * Timeout of a mail. Shorter than the lease of a message, after which another node takes it, and than the
 * deadline of a health check.
 */
const PATIENCE_MS = 15_000
const ANSWER_MS = 10_000

export function createMailer({ server, from, hostName }: MailerOptions) {
  const name = mailNameOf(hostName)

  async function open() {
    const { createTransport } = await import('nodemailer')
    const { host, port, isTls, login, ca } = server
    const transport = createTransport({
      ...{ host, port, secure: isTls, requireTLS: !isTls, name },
      ...{ connectionTimeout: ANSWER_MS, greetingTimeout: ANSWER_MS, socketTimeout: ANSWER_MS },
      ...{ dnsTimeout: ANSWER_MS, disableFileAccess: true, disableUrlAccess: true },
      ...(login === null ? {} : { auth: login }),
      tls: {
        ...{ rejectUnauthorized: true, minVersion: 'TLSv1.2' },
        ...(isIP(host) === 0 ? { servername: host } : {}),
        ...(ca === null ? {} : { ca: await readFile(ca) }),
      },
    })
    // Send lines unchanged (RFC 6152): quoted-printable would break a long link, and base64 would hide it.
    transport.use('stream', ({ data, message }, done) => {
      message.getTransferEncoding = () => '8bit'
      data.envelope = { ...message.getEnvelope(), use8BitMime: true }
      done()
    })
    return transport
  }

  /**
   * Connects, verifies TLS and logs in, but sends nothing. Resolves to the reason of a failure; null on
   * success.
   */
  const test = () => attempt(async () => (await open()).verify())

  /**
   * Resolves to null when the mail server has accepted the mail. `stopped` and the timeout end the
   * connection.
   */
  async function send({ to, id, ...written }: Mail, stopped?: AbortSignal): Promise<DeliveryError | null> {
    if (!isMailAddress(to)) return 'not_allowed'
    return attempt(async (signal) => {
      const transport = await open()
      await transport.sendMail({
        signal,
        from,
        to: { name: '', address: to },
        subject: written.subject.replace(/\p{Cc}+/gu, ' '),
        text: written.text,
        messageId: `<${id}@${name}>`,
        // Auto-Submitted suppresses out-of-office replies (RFC 3834).
        headers: { 'Auto-Submitted': 'auto-generated', 'Content-Language': written.language },
        xMailer: false,
      })
    }, stopped)
  }

  return { send, test, name: `${server.host}:${server.port}` }
}

/** Returns the name for EHLO. An address needs brackets (RFC 5321, 4.1.3), where URLs bracket only IPv6. */
function mailNameOf(hostName: string): string {
  return isIP(hostName) === 0 ? hostName.replace(/^\[/, '[IPv6:') : `[${hostName}]`
}

function attempt(work: (signal: AbortSignal) => Promise<unknown>, stopped?: AbortSignal) {
  const trying = (signal: AbortSignal) => work(signal).then(() => null, reasonOf)
  return inTime(trying, { within: PATIENCE_MS, stopped })
}

/**
 * Returns the reason by the error codes of the library and of TLS, or by the reply of the server (RFC 5321,
 * 4.2.1).
 */
function reasonOf(cause: unknown): DeliveryError {
  const said = (name: string) => (cause instanceof Error ? String(Reflect.get(cause, name) ?? '') : '')
  const known = REASONS[said('code')]
  if (known !== undefined) return known
  if (/CERT|TLS|SSL/.test(said('originalCode'))) return 'tls_failed'
  const answered = Number(said('responseCode'))
  if (answered >= 400) return answered >= 500 ? 'refused' : 'receiver_failed'
  return /^E(SOCKET|CONNECTION)$/.test(said('code')) ? 'unreachable' : 'bad_answer'
}

/** `ENOENT`: the file with the authority of the mail server is missing. */
const REASONS: Partial<Record<string, DeliveryError>> = {
  ...{ ETLS: 'tls_failed', ENOENT: 'tls_failed', EACCES: 'tls_failed' },
  ...{ EAUTH: 'login_refused', EDNS: 'name_not_found', ETIMEDOUT: 'timed_out' },
}
