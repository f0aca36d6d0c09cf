// One request to a place that the operator lists, by hand over a socket: a library would follow redirects, use the proxy of the
// environment, keep connections, or resolve the name a second time.

import { lookup } from 'node:dns/promises'
import { connect, isIP, type Socket } from 'node:net'
import { networkInterfaces } from 'node:os'
import { connect as connectTls } from 'node:tls'
import type { DeliveryError } from '../domain/outbox.ts'
import { SECOND } from '../domain/time.ts'
import { isListed, type WebPlace, webPlaceOf } from '../domain/web-place.ts'
import { isAllowedAddress } from './judged-address.ts'

export type OutboundRequest = {
  method: 'POST' | 'PUT'
  url: string
  /** Names and values of printable ASCII. */
  headers: Readonly<Record<string, string>>
  body: string
}

export type OutboundOptions = {
  /** --webhook-hosts. */
  listed: readonly string[]
  /** All addresses of this machine, those of its containers' networks too. */
  listAddresses?: () => readonly string[]
  /** Resolves a name, once a request. */
  lookUp?: (name: string) => Promise<readonly string[]>
  /** Milliseconds for everything together. */
  within?: number
}

const WITHIN = 10 * SECOND
const MOST_ANSWER = 1024
/** A name may have more addresses than would be tried in time. */
const MOST_ADDRESSES = 4

const listAll = () =>
  Object.values(networkInterfaces()).flatMap((own) => (own ?? []).map(({ address }) => address))
const lookUpAll = async (name: string) => (await lookup(name, { all: true })).map(({ address }) => address)

/** Null when the receiver answered with 2xx. Never rejects. */
export async function requestOutside(
  request: OutboundRequest,
  options: OutboundOptions,
  stopped: AbortSignal,
): Promise<DeliveryError | null> {
  const { listed, within = WITHIN } = options
  const place = webPlaceOf(request.url)
  if (place === null || !isListed(place, listed)) return 'not_allowed'
  const ended = AbortSignal.any([stopped, AbortSignal.timeout(within)])
  const found = await findAddresses(place, options, ended)
  if (typeof found === 'string') return found
  const reached = await reach(found.slice(0, MOST_ADDRESSES), place, ended)
  return typeof reached === 'string' ? reached : ask(reached, request, ended)
}

/** Those addresses of a listed place to which a message may be sent. Resolves its name, if it has one. */
async function findAddresses(
  place: WebPlace,
  { lookUp = lookUpAll, ...judging }: OutboundOptions,
  ended: AbortSignal,
): Promise<string[] | DeliveryError> {
  const name = place.hostname.replace(/^\[(.*)\]$/, '$1')
  const resolving = isIP(name) ? Promise.resolve([name]) : lookUp(name).catch(() => [])
  const found = await Promise.race([resolving, untilEnd(ended)])
  if (found === null) return 'timed_out'
  if (found.length === 0) return 'name_not_found'
  const allowed = found.filter(judgeBy(place, judging))
  return allowed.length === 0 ? 'address_not_allowed' : allowed
}

/** Allows nothing when the system does not tell the addresses of this machine, such as without AF_NETLINK. */
function judgeBy(
  place: WebPlace,
  { listed, listAddresses = listAll }: Pick<OutboundOptions, 'listed' | 'listAddresses'>,
) {
  try {
    const own = listAddresses()
    return (address: string) => isAllowedAddress(address, place, { listed, own })
  } catch {
    return () => false
  }
}

function untilEnd(ended: AbortSignal): Promise<null> {
  return new Promise((resolve) => {
    if (ended.aborted) resolve(null)
    ended.addEventListener('abort', () => resolve(null), { once: true })
  })
}

/** The first address that takes the connection. Only what fails before TLS lets it try the next one. */
async function reach(
  addresses: readonly string[],
  place: WebPlace,
  ended: AbortSignal,
): Promise<Socket | DeliveryError> {
  for (const address of addresses) {
    const options = { host: address, port: place.port, family: isIP(address), autoSelectFamily: false }
    const socket = await opened(connect(options), 'connect', ended)
    if (socket === null) continue
    return place.isTls ? await secured(socket, place, ended) : socket
  }
  return ended.aborted ? 'timed_out' : 'unreachable'
}

/** The certificate must be valid for the name of the URL, and trusted by this machine. */
async function secured(socket: Socket, { hostname }: WebPlace, ended: AbortSignal) {
  const name = hostname.replace(/^\[(.*)\]$/, '$1')
  const asked = isIP(name) ? { host: name } : { host: name, servername: name }
  const tls = connectTls({ socket, rejectUnauthorized: true, ALPNProtocols: ['http/1.1'], ...asked })
  const ready = await opened(tls, 'secureConnect', ended)
  if (ready !== null && tls.authorized) return tls
  socket.destroy()
  return ended.aborted ? 'timed_out' : 'tls_failed'
}

/** Null when it fails or takes too long. The end of the time closes the socket, then or later. */
function opened<S extends Socket>(
  socket: S,
  event: 'connect' | 'secureConnect',
  ended: AbortSignal,
): Promise<S | null> {
  return new Promise((resolve) => {
    const fail = () => {
      socket.destroy()
      resolve(null)
    }
    // Stays, because a socket without a listener ends the process with its errors.
    socket.on('error', fail)
    socket.once('close', fail)
    socket.once(event, () => resolve(socket))
    if (ended.aborted) fail()
    else ended.addEventListener('abort', fail, { once: true })
  })
}

function ask(socket: Socket, request: OutboundRequest, ended: AbortSignal): Promise<DeliveryError | null> {
  return new Promise((resolve) => {
    let answer = ''
    const settle = (outcome: DeliveryError | null) => {
      resolve(outcome)
      socket.destroy()
    }
    const fail = () => settle(ended.aborted ? 'timed_out' : 'bad_answer')
    socket.on('data', (bytes: Buffer) => {
      answer += bytes.toString('latin1')
      const status = statusIn(answer.slice(0, MOST_ANSWER))
      if (status !== null) settle(judge(status))
      else if (answer.length >= MOST_ANSWER) settle('bad_answer')
    })
    for (const event of ['end', 'close', 'error']) socket.once(event, fail)
    if (ended.aborted) fail()
    socket.write(textOf(request))
  })
}

function textOf({ method, url, headers, body }: OutboundRequest): string {
  const { pathname, search, host } = new URL(url)
  const fields = {
    ...{ Host: host, 'User-Agent': 'Oncebox', Connection: 'close' },
    ...{ 'Content-Type': 'application/json', 'Content-Length': `${Buffer.byteLength(body)}` },
    ...headers,
  }
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value.replace(/[^ -~]/g, '')}`)
  return [`${method} ${pathname}${search} HTTP/1.1`, ...lines, '', body].join('\r\n')
}

/** Null until the line is complete; NaN for what is no HTTP. Passes over 1xx, which another answer follows. */
function statusIn(answer: string): number | null {
  const end = answer.indexOf('\n')
  if (end === -1) return null
  const status = Number(/^HTTP\/1\.[01] (\d{3})[ \r\n]/.exec(answer)?.[1] ?? Number.NaN)
  if (!(status >= 100 && status < 200)) return status
  const next = /\r?\n\r?\n/.exec(answer)
  return next === null ? null : statusIn(answer.slice(next.index + next[0].length))
}

function judge(status: number): DeliveryError | null {
  if (status >= 200 && status < 300) return null
  if (status >= 300 && status < 400) return 'redirected'
  if (status >= 400 && status < 500) return 'refused'
  return status >= 500 && status < 600 ? 'receiver_failed' : 'bad_answer'
}
